import type { FastifyReply } from 'fastify';

const kinds = {
  BAD_USER_INPUT: { status: 400, title: 'The request is malformed' },
  QUERY_TOO_COMPLEX: { status: 400, title: 'The request asks for too much' },
  UNAUTHENTICATED: { status: 401, title: 'An access token is required' },
  FORBIDDEN: { status: 403, title: 'The access token lacks a scope' },
  NOT_ALLOWED: { status: 403, title: 'A rule forbids it' },
  NOT_FOUND: { status: 404, title: 'Nothing was found' },
  UNKNOWN_ROUTE: { status: 404, title: 'There is no such route' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The route does not take this method' },
  CONFLICT: { status: 409, title: 'Another record has this value' },
  PAYLOAD_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body is not JSON' },
  INVALID_INPUT: { status: 422, title: 'The input breaks rules of its fields' },
  RATE_LIMITED: { status: 429, title: 'Too many requests' },
  INTERNAL_SERVER_ERROR: { status: 500, title: 'Something failed inside' },
} as const;

/** The `code` of a problem document. */
export type ProblemCode = keyof typeof kinds;

/** A failure of a REST request, as its problem document tells it (RFC 9457 §3). */
export interface Problem {
  readonly code: ProblemCode;
  readonly detail: string;
  /** Further members: `issues`, `path`, `id`, `requiredScope`, `requestId`. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Every code with its status. */
export const problemStatuses = Object.fromEntries(
  Object.entries(kinds).map(([code, { status }]) => [code, status]),
) as Readonly<Record<ProblemCode, number>>;

/** Whether a code is one that problem documents have. */
export const isProblemCode = (code: unknown): code is ProblemCode =>
  typeof code === 'string' && Object.hasOwn(kinds, code);

/** Answers with a problem document. */
export function sendProblem(reply: FastifyReply, { code, detail, members }: Problem): FastifyReply {
  const { status, title } = kinds[code];
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  const type = `urn:signet:problem:${code.toLowerCase().replaceAll('_', '-')}`;
  return (
    reply
      .code(status)
      .header('cache-control', 'no-store')
      .header('content-type', 'application/problem+json')
      // As bytes: to text Fastify would add a charset, which JSON has no use for (RFC 8259 §11).
      .send(Buffer.from(JSON.stringify({ type, title, status, detail, code, ...members })))
  );
}
