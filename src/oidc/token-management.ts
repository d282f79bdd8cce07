import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { decodeProtectedHeader } from 'jose';
import { type AccessTokenClaims, TokenFault, verifyAccessToken } from '../auth/access-token.ts';
import { faultOfState, readTokenState } from '../auth/caller.ts';
import type { Services } from '../auth/context.ts';
import { authenticateClient, authenticateConfidentialClient } from './authenticated-client.ts';
import { corsAllowedOrigins } from './clients.ts';
import { type Form, parseForm } from './form.ts';
import {
  acceptForms,
  keepPrivate,
  maxBodyBytes,
  sendRefusal,
  toOAuthError,
} from './form-endpoint.ts';
import { InvalidRequest } from './oauth-errors.ts';
import type { Delegate } from './token-endpoint.ts';

type Answer = (request: FastifyRequest, reply: FastifyReply, form: Form) => Promise<FastifyReply>;

/**
 * Mounts introspection (RFC 7662) and revocation (RFC 7009) of access tokens that are JWTs.
 *
 * @param options.delegate Answers for every other token.
 */
export function registerTokenManagement(
  http: FastifyInstance,
  services: Services,
  { delegate }: { delegate: Delegate },
): void {
  const answer = (handle: Answer) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { body } = request;
    if (!(body instanceof Buffer)) throw new InvalidRequest('the body must be form-encoded');
    const form = parseForm(body);
    if (isJwt(form.find('token'))) return handle(request, reply, form);
    await delegate(request, reply, body.toString('utf8'));
    return reply;
  };

  void http.register(async (scope) => {
    acceptForms(scope);
    scope.setErrorHandler((error, request, reply) =>
      sendRefusal(toOAuthError(error), request, reply),
    );
    const options = { bodyLimit: maxBodyBytes };
    scope.post(
      '/oidc/token/introspection',
      options,
      answer(async (request, reply, form) => {
        await authenticateConfidentialClient(services, request, form);
        return keepPrivate(reply).send(await introspect(services, form.get('token')));
      }),
    );
    scope.post(
      '/oidc/token/revocation',
      options,
      answer(async (request, reply, form) => {
        const client = await authenticateClient(services, request, form);
        const { origin } = request.headers;
        if (origin !== undefined && (client[corsAllowedOrigins] as string[]).includes(origin)) {
          reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
        }
        await revoke(services, form.get('token'), client.client_id);
        return keepPrivate(reply).send();
      }),
    );
  });
}

/** Whether oidc-provider would take the token for a JWT, which it does not look into. */
function isJwt(token: string | undefined): boolean {
  try {
    return token !== undefined && decodeProtectedHeader(token) !== undefined;
  } catch {
    return false;
  }
}

/** What is to be known of an access token: that it is not active, or its claims (RFC 7662 §2.2). */
async function introspect(services: Services, token: string) {
  const claims = await findClaims(services, token);
  const fault =
    claims && faultOfState(claims, await readTokenState(services.database.tokens, claims));
  if (!claims || fault !== undefined) return { active: false };
  const { scope, client_id, sub, aud, iss, exp, iat, jti, act, organization_id } = claims;
  return {
    active: true,
    token_type: 'Bearer',
    ...{ scope, client_id, sub, aud, iss, exp, iat, jti, act, organization_id },
  };
}

/** Revokes an access token for those who ask. One that is not the client's own, or no token, is left as it is. */
async function revoke(services: Services, token: string, clientId: string): Promise<void> {
  const claims = await findClaims(services, token);
  if (claims?.client_id !== clientId) return;
  await services.database.prisma.revokedToken.createMany({
    data: { jti: claims.jti, expiresAt: new Date(claims.exp * 1000) },
    skipDuplicates: true,
  });
}

async function findClaims(
  services: Services,
  token: string,
): Promise<AccessTokenClaims | undefined> {
  try {
    return await verifyAccessToken(services, token);
  } catch (error) {
    if (error instanceof TokenFault) return undefined;
    throw error;
  }
}
