import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { newTraceId } from '../ids.ts';
import { readTraceparent } from './traceparent.ts';
import { beginRequest, isTracing, type RequestSpan } from './tracing.ts';

/** What is asked for again and again, and says nothing. */
const untold = new Set(['/healthz', '/readyz', '/metrics']);

const spans = new WeakMap<IncomingMessage, RequestSpan>();

/** The trace that a request belongs to: that of its `traceparent`, or a new one. Begins its span. */
export function beginTrace(request: IncomingMessage): string {
  const { headers, method = '', url = '', httpVersion } = request;
  const parent = readTraceparent(headers);
  const span = untold.has(url)
    ? undefined
    : beginRequest(method, parent, { 'network.protocol.version': httpVersion });
  if (!span) return parent?.traceId ?? newTraceId();
  spans.set(request, span);
  return span.traceId;
}

/**
 * Keeps the work of requests within their spans. The URL is not told, only the route: a URL may hold a code or a token.
 */
export function followRequests(http: FastifyInstance): void {
  if (!isTracing()) return;
  http.addHook('onRequest', ({ raw, routeOptions: { url } }, reply, next) => {
    const span = spans.get(raw);
    if (!span) return next();
    // Answers that other code sends do not come to the later hooks.
    reply.raw.once('close', () => span.end(url, reply.raw.statusCode));
    span.run(next);
  });
  // A body arrives in events of the socket, which do not belong to the request.
  http.addHook('preValidation', ({ raw }, _reply, next) => {
    const span = spans.get(raw);
    if (span) span.run(next);
    else next();
  });
}
