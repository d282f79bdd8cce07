import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { decodeProtectedHeader } from 'jose';
import type { ClientMetadata } from 'oidc-provider';
import { type AccessTokenClaims, TokenFault, verifyAccessToken } from '../../auth/access-token.ts';
import { readTokenFault } from '../../auth/token-state.ts';
import type { Services } from '../../services.ts';
import { corsAllowedOrigins } from '../provider/storage/clients.ts';
import { authenticateClient, authenticateConfidentialClient } from './authenticated-client.ts';
import type { Delegate } from './endpoint.ts';
import { type Form, parseForm } from './form.ts';
import {
  acceptForms,
  keepPrivate,
  refuseFailing,
  sendRefusal,
  toOAuthError,
} from './form-endpoint.ts';
import { InvalidRequest } from './oauth-errors.ts';

interface Endpoint {
  /** @throws {InvalidClient} and other refusals of client authentication. */
  readonly authenticate: (
    services: Services,
    request: FastifyRequest,
    form: Form,
  ) => Promise<ClientMetadata>;
  /** Answers for a JWT. */
  readonly answer: (
    request: FastifyRequest,
    reply: FastifyReply,
    form: Form,
    client: ClientMetadata,
  ) => Promise<FastifyReply>;
}

/**
 * Mounts introspection (RFC 7662) and revocation (RFC 7009) of access tokens that are JWTs.
 *
 * @param options.delegate Answers for every other token.
 */
export function mountTokenManagement(
  http: FastifyInstance,
  services: Services,
  { delegate }: { delegate: Delegate },
): void {
  const handle =
    ({ authenticate, answer }: Endpoint) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const { body } = request;
      if (!(body instanceof Buffer)) throw new InvalidRequest('the body must be form-encoded');
      const form = parseForm(body);
      // Before the library, which answers sooner for an unknown client than for a known one.
      const client = await authenticate(services, request, form);
      if (isJwt(form.find('token'))) return answer(request, reply, form, client);
      await delegate(request, reply, body.toString('utf8'));
      return reply;
    };

  void http.register(async (scope) => {
    acceptForms(scope);
    refuseFailing(scope, services);
    scope.setErrorHandler((error, request, reply) =>
      sendRefusal(services, toOAuthError(error), request, reply),
    );
    scope.post(
      '/oidc/token/introspection',
      handle({
        authenticate: authenticateConfidentialClient,
        answer: async (_request, reply, form) =>
          keepPrivate(reply).send(await introspect(services, form.get('token'))),
      }),
    );
    scope.post(
      '/oidc/token/revocation',
      handle({
        authenticate: authenticateClient,
        async answer({ headers: { origin } }, reply, form, client) {
          if (origin !== undefined && (client[corsAllowedOrigins] as string[]).includes(origin)) {
            reply.header('access-control-allow-origin', origin).header('vary', 'Origin');
          }
          await revoke(services, form.get('token'), client.client_id);
          return keepPrivate(reply).send();
        },
      }),
    );
  });
}

/** Whether the token looks like a JWT; oidc-provider does not look into those. */
function isJwt(token: string | undefined): boolean {
  try {
    return token !== undefined && decodeProtectedHeader(token) !== undefined;
  } catch {
    return false;
  }
}

/** The introspection response for an access token: inactive, or its claims (RFC 7662 §2.2). */
async function introspect(services: Services, token: string) {
  const claims = await findClaims(services, token);
  if (!claims || (await readTokenFault(services.database.tokens, claims))) return { active: false };
  const { scope, client_id, sub, aud, iss, exp, iat, jti, act, organization_id } = claims;
  return {
    active: true,
    token_type: 'Bearer',
    ...{ scope, client_id, sub, aud, iss, exp, iat, jti, act, organization_id },
  };
}

/** Revokes an access token of the client. Another client's token, or an invalid one, is left alone. */
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
