import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type FailureCode, failures, type RequestErrorCode } from '../failures.ts';
import { maskFault, publicExtensions } from '../graphql/public-error.ts';
import { bodyFaultOf } from './json-body.ts';

/** The methods that a route is asked with. */
export const routeMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** A failure of a REST request, for its problem document (RFC 9457 §3). */
export interface Problem {
  readonly code: FailureCode;
  readonly detail: string;
  /** Further members: `issues`, `path`, `id`, `requiredScope`, `requestId`. */
  readonly members?: Readonly<Record<string, unknown>>;
  /** Headers in place of those of the code. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The problem document of a failure. */
export function problemDocument({ code, detail, members }: Problem): object {
  const { status, title } = failures[code];
  const type = `urn:signet:problem:${code.toLowerCase().replaceAll('_', '-')}`;
  return { type, title, status, detail, code, ...members };
}

/** Answers with a problem document. */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { status, headers: ofCode = {} } = failures[problem.code];
  const { headers = ofCode } = problem;
  return (
    reply
      .code(status)
      .headers(problem.headers ?? headers)
      .header('cache-control', 'no-store')
      .header('content-type', 'application/problem+json')
      // Sent as bytes: Fastify adds a charset to text, which JSON does not have (RFC 8259 §11).
      .send(Buffer.from(JSON.stringify(problemDocument(problem))))
  );
}

/** Answers each method that a path does not take with 405 and those that it takes. */
export function refuseOtherMethods(
  scope: FastifyInstance,
  routes: readonly { readonly method: string; readonly path: string }[],
): void {
  for (const [path, taken] of Map.groupBy(routes, (route) => route.path)) {
    const allowed = taken.map(({ method }) => method);
    scope.route({
      method: routeMethods.filter((method) => !allowed.includes(method)),
      url: path,
      handler: async (_request, reply) => {
        const allow = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed;
        reply.header('allow', allow.join(', '));
        return sendProblem(reply, {
          code: 'METHOD_NOT_ALLOWED',
          detail: `This path takes ${allow.join(', ')}.`,
        });
      },
    });
  }
}

/**
 * The problem that an error of a route is. A fault is masked; the log has the details.
 *
 * @param contentTypes The media types of a body that the route takes.
 */
export function problemOf(
  error: unknown,
  { id, log }: FastifyRequest,
  contentTypes: readonly string[],
): Problem {
  const fault = bodyFaultOf(error, contentTypes);
  if (fault) return { code: fault.code, detail: fault.message };
  const masked = maskFault(error, id, log as Logger);
  // Every masked error has a code.
  const { code, ...members } = publicExtensions(masked);
  const { headers } = (masked.extensions['http'] ?? {}) as Pick<Problem, 'headers'>;
  return { code: code as RequestErrorCode, detail: masked.message, members, headers };
}
