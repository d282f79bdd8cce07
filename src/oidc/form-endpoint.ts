import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  InvalidClient,
  InvalidRequest,
  OAuthError,
  RequestTooLarge,
  ServerError,
} from './oauth-errors.ts';

/** The largest body that an endpoint reads. */
export const maxBodyBytes = 64 * 1024;

/** Has the routes of a scope read form bodies, whole and as bytes; the body is null where it is something else. */
export function acceptForms(scope: FastifyInstance): void {
  // Every media type is read and judged by the handler, whose refusal is JSON as the RFC has it.
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: maxBodyBytes },
    (request, body, done) => done(null, isForm(request.headers['content-type']) ? body : null),
  );
}

const isForm = (contentType: string | undefined) =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '');

/** Marks an answer as for the client alone (RFC 6749 §5.1). */
export const keepPrivate = (reply: FastifyReply): FastifyReply =>
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');

/** What to answer where this was thrown. */
export function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  // Fastify's own refusals of a body that it would not read.
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (code.startsWith('FST_') && statusCode < 500) {
    return statusCode === 413
      ? new RequestTooLarge()
      : new InvalidRequest('the body could not be read');
  }
  return new ServerError(error);
}

/** Answers with a refusal (RFC 6749 §5.2) and logs it: nothing else here formats an error. */
export function sendRefusal(
  refusal: OAuthError,
  request: FastifyRequest,
  reply: FastifyReply,
  detail: Record<string, unknown> = {},
): FastifyReply {
  if (refusal instanceof ServerError) {
    request.log.error({ err: refusal.cause, ...detail }, 'a request failed');
  } else {
    const { code: error, message: description } = refusal;
    request.log.debug({ ...detail, error, description }, 'a request was refused');
  }
  if (refusal instanceof InvalidClient) {
    reply.header('www-authenticate', 'Basic realm="Signet", charset="UTF-8"');
  }
  return keepPrivate(reply)
    .code(refusal.status)
    .send({ error: refusal.code, error_description: refusal.message });
}
