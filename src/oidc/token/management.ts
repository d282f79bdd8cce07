import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { decodeProtectedHeader } from 'jose';
import type { ClientMetadata } from 'oidc-provider';
import { type AccessTokenClaims, TokenFault, verifyAccessToken } from '../../auth/access-token.ts';
import { listsIndicator } from '../../auth/indicators.ts';
import { ownIndicators } from '../../auth/scopes.ts';
import { readTokenFault } from '../../auth/token-state.ts';
import { untold } from '../../db/told.ts';
import { transaction } from '../../db/transaction.ts';
import { kindOfId } from '../../ids.ts';
import { targetOf } from '../../permissions/target.ts';
import type { Call, Services } from '../../services.ts';
import { recordSessionsEnded } from '../../users/sign-out.ts';
import { callOf } from '../../web/call.ts';
import { isThirdParty } from '../provider/storage/clients.ts';
import {
  authenticateClient,
  authenticateConfidentialClient,
  bodyForLibrary,
  withKnownClient,
} from './authenticated-client.ts';
import type { Delegate } from './endpoint.ts';
import { type Form, parseForm } from './form.ts';
import {
  acceptForms,
  allowOrigin,
  keepPrivate,
  refuseFailing,
  refuseOtherMethods,
  sendRefusal,
  toOAuthError,
} from './form-endpoint.ts';
import { bindingTo } from './keys/token-proof.ts';
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
      parseForm(body);
      const named = await withKnownClient(services, request, body);
      const form = parseForm(Buffer.from(named));
      // Before the library, which answers sooner for an unknown client than for a known one.
      const client = await authenticate(services, request, form);
      if (isJwt(form.get('token'))) return answer(request, reply, form, client);
      await delegate(request, reply, bodyForLibrary(named, client.client_id));
      return reply;
    };

  void http.register(async (scope) => {
    acceptForms(scope);
    refuseFailing(scope, services);
    scope.setErrorHandler((error, request, reply) =>
      sendRefusal(services, toOAuthError(error), request, reply),
    );
    const config = { turn: 'token' } as const;
    for (const url of ['/oidc/token/introspection', '/oidc/token/revocation'])
      refuseOtherMethods(scope, services, url);
    scope.post(
      '/oidc/token/introspection',
      { config },
      handle({
        authenticate: authenticateConfidentialClient,
        answer: async (_request, reply, form, client) =>
          keepPrivate(reply).send(await introspect(services, form.get('token'), client)),
      }),
    );
    scope.post(
      '/oidc/token/revocation',
      { config },
      handle({
        authenticate: authenticateClient,
        async answer(request, reply, form, client) {
          allowOrigin(request, reply, client);
          await revoke({ ...services, ...callOf(request) }, form.get('token'), client.client_id);
          return keepPrivate(reply).send({});
        },
      }),
    );
  });
}

/** Whether the token looks like a JWT; oidc-provider does not look into those. */
function isJwt(token: string): boolean {
  try {
    return decodeProtectedHeader(token) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The introspection response for an access token: inactive, or its claims (RFC 7662 §2.2). A token that the client may
 * not know about is inactive too.
 */
async function introspect(services: Services, token: string, client: ClientMetadata) {
  const claims = await findClaims(services, token);
  if (
    !claims ||
    !(await mayIntrospect(services, client, claims)) ||
    (await readTokenFault(services.database.tokens, claims))
  ) {
    return { active: false };
  }
  const { scope, client_id, sub, aud, iss, exp, iat, jti, act, may_act, organization_id, cnf } =
    claims;
  return {
    active: true,
    token_type: bindingTo(cnf?.jkt).tokenType,
    ...{ scope, client_id, sub, aud, iss, exp, iat, jti, act, may_act, organization_id, cnf },
  };
}

/**
 * Whether a client may know about a token. One of the operator may know about all. A third party's may know about its
 * own tokens and those for an API that it is: an organization that it is a member of, or an audience that the operator
 * lists for it, none of Signet's own.
 */
async function mayIntrospect(
  { database }: Pick<Services, 'database'>,
  client: ClientMetadata,
  { client_id: owner, aud }: AccessTokenClaims,
): Promise<boolean> {
  const { client_id: id } = client;
  if (!isThirdParty(client) || owner === id) return true;
  if (ownIndicators.has(aud)) return false;
  const { isOrganization, organizationId = '' } = targetOf(aud, undefined);
  const { application } = database.prisma;
  if (isOrganization) {
    const isMember = { organizations: { some: { organizationId } } };
    return (await application.count({ where: { id, ...isMember } })) > 0;
  }
  const select = { exchangeSubjectAudiences: true } as const;
  const found = await application.findUnique({ where: { id }, select });
  return listsIndicator(found?.exchangeSubjectAudiences ?? [], aud);
}

/**
 * Revokes an access token of the client. Another client's token, or an invalid one, is left alone. Raises
 * `User.Session.Ended` without a session if the token was in force and a person had signed in for it: an exchanged token
 * belongs to no sign-in.
 */
async function revoke(services: Services & Call, token: string, clientId: string): Promise<void> {
  const claims = await findClaims(services, token);
  if (claims?.client_id !== clientId) return;
  const { sub: userId, act, jti, exp } = claims;
  const isOfSignIn = act === undefined && kindOfId(userId) === 'User';
  const isOver = (await readTokenFault(services.database.tokens, claims)) !== undefined;
  await transaction(services.database, async (tx) => {
    const { count } = await tx.revokedToken.createMany({
      data: { jti, expiresAt: new Date(exp * 1000) },
      skipDuplicates: true,
    });
    if (!isOfSignIn || isOver || count === 0) return untold(undefined);
    const actor = { type: 'USER', id: userId, clientId } as const;
    const ended = { userId, reason: 'SIGN_OUT', sessions: [], endsTokens: true } as const;
    return recordSessionsEnded(tx, { ...services, actor }, ended);
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
