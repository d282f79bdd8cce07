import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ClientMetadata } from 'oidc-provider';
import { Overloaded } from '../../admission/overloaded.ts';
import { maxBodyBytes } from '../../body-limits.ts';
import { isUnreachable } from '../../db/unreachable.ts';
import { failures, retryAfterSeconds } from '../../failures.ts';
import { failureWait, noteFailure } from '../../protection/addresses.ts';
import type { Services } from '../../services.ts';
import { corsAllowedOrigins } from '../provider/storage/clients.ts';
import {
  InvalidClient,
  InvalidDpopProof,
  InvalidRequest,
  MethodNotAllowed,
  OAuthError,
  RequestTooLarge,
  ServerError,
  TemporarilyUnavailable,
  TooBusy,
  TooManyFailures,
} from './oauth-errors.ts';

/** Makes a scope's routes read form bodies, as bytes; the body is null for any other media type. */
export function acceptForms(scope: FastifyInstance): void {
  // The handler judges the media type, so that its refusal is JSON as the RFC requires.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: maxBodyBytes.token },
    (request, body, done) => done(null, isForm(request.headers['content-type']) ? body : null),
  );
}

const isForm = (contentType: string | undefined) =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '');

/** Marks an answer as private to the client (RFC 6749 §5.1). */
export const keepPrivate = (reply: FastifyReply): FastifyReply =>
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');

/** Lets a client's script read an answer, if its origin is one that the client allows. */
export function allowOrigin(
  { headers: { origin } }: FastifyRequest,
  reply: FastifyReply,
  client: ClientMetadata,
): void {
  if (origin === undefined || !(client[corsAllowedOrigins] as string[]).includes(origin)) return;
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'DPoP-Nonce, WWW-Authenticate',
    vary: 'Origin',
  });
}

/** The OAuth error that answers a thrown error. */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof Overloaded) return new TooBusy();
  // Fastify's own refusals of a body.
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (code.startsWith('FST_') && statusCode < 500) {
    return statusCode === 413
      ? new RequestTooLarge()
      : new InvalidRequest('the body could not be read');
  }
  return isUnreachable(error) ? new TemporarilyUnavailable(error) : new ServerError(error);
}

/** Answers all other methods at a path that takes POST, and OPTIONS of scripts, which oidc-provider answers. */
export function refuseOtherMethods(scope: FastifyInstance, services: Services, url: string): void {
  scope.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE'],
    url,
    config: { turn: 'none' },
    handler: (request, reply) =>
      sendRefusal(
        services,
        new MethodNotAllowed(),
        request,
        reply.header('allow', 'POST, OPTIONS'),
      ),
  });
}

/** Refuses an address with too many failures, before anything is read or queried. */
export function refuseFailing(scope: FastifyInstance, services: Services): void {
  scope.addHook('onRequest', (request, _reply, done) => {
    const wait = failureWait(services, request.ip);
    done(wait === undefined ? undefined : new TooManyFailures(wait));
  });
}

/**
 * Answers with a refusal (RFC 6749 §5.2) and logs it; nothing else here formats an error. A client that did not
 * authenticate counts as a failure of its address. One that did is not guessing: the expired tokens of its users must
 * not lock out others behind the same address.
 */
export async function sendRefusal(
  services: Services,
  refusal: OAuthError,
  request: FastifyRequest,
  reply: FastifyReply,
  detail: Record<string, unknown> = {},
): Promise<FastifyReply> {
  if (refusal instanceof InvalidClient) await noteFailure(services, request.ip);
  if (refusal instanceof ServerError) {
    request.log.error({ err: refusal.cause, ...detail }, 'a request failed');
  } else if (refusal instanceof TemporarilyUnavailable) {
    request.log.warn({ err: refusal.cause, ...detail }, 'the database cannot be reached');
    reply.header('retry-after', retryAfterSeconds);
  } else if (refusal instanceof TooBusy) {
    reply.headers(failures.OVERLOADED.headers ?? {});
  } else {
    const { code: error, message: description } = refusal;
    request.log.debug({ ...detail, error, description }, 'a request was refused');
  }
  if (refusal instanceof InvalidClient) {
    reply.header('www-authenticate', 'Basic realm="Signet", charset="UTF-8"');
  }
  if (refusal instanceof InvalidDpopProof && refusal.nonce !== undefined)
    reply.header('dpop-nonce', refusal.nonce);
  if (refusal instanceof TooManyFailures) reply.header('retry-after', refusal.retryAfterSeconds);
  return keepPrivate(reply)
    .code(refusal.status)
    .send({ error: refusal.code, error_description: refusal.message });
}
