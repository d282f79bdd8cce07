import type { FastifyReply } from 'fastify';
import { type FailureCode, failures } from '../failures.ts';

/** A failure of a REST request, for its problem document (RFC 9457 §3). */
export interface Problem {
  readonly code: FailureCode;
  readonly detail: string;
  /** Further members: `issues`, `path`, `id`, `requiredScope`, `requestId`. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Answers with a problem document. */
export function sendProblem(reply: FastifyReply, { code, detail, members }: Problem): FastifyReply {
  const { status, title, headers = {} } = failures[code];
  const type = `urn:signet:problem:${code.toLowerCase().replaceAll('_', '-')}`;
  return (
    reply
      .code(status)
      .headers(headers)
      .header('cache-control', 'no-store')
      .header('content-type', 'application/problem+json')
      // Sent as bytes: Fastify adds a charset to text, which JSON does not have (RFC 8259 §11).
      .send(Buffer.from(JSON.stringify({ type, title, status, detail, code, ...members })))
  );
}
