import type { FastifyReply, FastifyRequest } from 'fastify';
import { decodeJwt } from 'jose';
import { credentialsOf } from '../../../auth/authorization.ts';
import { DpopFault, dpopChallenge, verifyProof } from '../../../auth/dpop/proof.ts';
import type { Services } from '../../../services.ts';
import { getProvider } from '../../provider/provider.ts';
import { findClientMetadata } from '../../provider/storage/clients.ts';
import { allowOrigin, keepPrivate } from '../form-endpoint.ts';

const forAnother =
  'the access token is for another API: user info takes that of a sign-in without a resource';

/** The client that a JWT names, which is an access token for an API; undefined if the token is no JWT. */
function ownerOfJwt(token: string): string | undefined {
  try {
    return String(decodeJwt(token)['client_id']);
  } catch {
    return undefined;
  }
}

async function allowClient(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  clientId = '',
): Promise<void> {
  const client = await findClientMetadata(services, clientId);
  if (client) allowOrigin(request, reply, client);
}

/**
 * Checks the proof of possession of a request for user info, and uses it up, before oidc-provider looks at it: one
 * counts once on all nodes, with this service's clock and nonces. A token for an API is refused with the reason, which
 * the library does not know.
 *
 * @returns The refusal that was sent; undefined if the library is to answer.
 */
export async function refuseProof(
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const { authorization = '', dpop: proof } = request.headers;
  const bearer = credentialsOf(authorization, 'Bearer');
  const token = bearer ?? credentialsOf(authorization, 'DPoP');
  const owner = token === undefined ? undefined : ownerOfJwt(token);
  if (owner !== undefined) {
    await allowClient(services, request, reply, owner);
    const scheme = bearer === undefined ? 'DPoP' : 'Bearer';
    return keepPrivate(reply)
      .code(401)
      .header(
        'www-authenticate',
        `${scheme} error="invalid_token", error_description="${forAnother}"`,
      )
      .send({ error: 'invalid_token', error_description: forAnother });
  }
  // Without a proof, the library refuses a bound token, and takes a bearer token.
  if (token === undefined || (bearer !== undefined && proof === undefined)) return undefined;
  const found = await getProvider(services).AccessToken.find(token);
  try {
    if (bearer !== undefined && found?.jkt !== undefined)
      throw new DpopFault('invalid_token', 'a token that is bound to a key is no bearer token');
    if (bearer !== undefined) return undefined;
    if (!found?.jkt) throw new DpopFault('invalid_token', 'the token is not known, or not bound');
    const url = `${services.issuer}/me`;
    const presented = { proof, method: request.method, url };
    const key = await verifyProof(services, presented, { accessToken: token });
    if (key !== found.jkt)
      throw new DpopFault('invalid_token', 'the proof is of another key than the token');
    return undefined;
  } catch (error) {
    if (!(error instanceof DpopFault)) throw error;
    await allowClient(services, request, reply, found?.clientId);
    if (error.nonce !== undefined) reply.header('dpop-nonce', error.nonce);
    return keepPrivate(reply)
      .code(401)
      .header('www-authenticate', dpopChallenge(error))
      .send({ error: error.code, error_description: error.message });
  }
}
