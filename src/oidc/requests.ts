import { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { KoaContextWithOIDC } from 'oidc-provider';

const requests = new WeakMap<IncomingMessage, FastifyRequest>();

/** The request that oidc-provider is answering, as this service received it. */
export function requestOf(ctx: Pick<KoaContextWithOIDC, 'req'>): FastifyRequest {
  const request = requests.get(ctx.req);
  if (!request) throw new Error('oidc-provider answers only what was handed to it.');
  return request;
}

/**
 * Prepares a request for oidc-provider, which is mounted under `/oidc`.
 *
 * @param basePath The path of the public URL, which comes before `/oidc` for those outside.
 * @param rawBody The body where it was read already; otherwise it is still to be read.
 */
export function prepareRequest(
  request: FastifyRequest,
  basePath: string,
  rawBody: string | undefined,
): IncomingMessage {
  const { raw } = request;
  const url = raw.url ?? '';
  const prepared = rawBody === undefined ? raw : withBody(raw, rawBody);
  requests.set(prepared, request);
  // What a mount point is told by in Node's frameworks: `url` from there on, `originalUrl` from the root.
  return Object.assign(prepared, {
    originalUrl: `${basePath}${url}`,
    url: url.slice('/oidc'.length),
  });
}

// oidc-provider reads a stream. It would take a body from `req.body` too, and say on the console each time that it
// should not have to.
function withBody(raw: IncomingMessage, rawBody: string): IncomingMessage {
  const copy = new IncomingMessage(raw.socket);
  const { 'transfer-encoding': _chunked, ...headers } = raw.headers;
  copy.method = raw.method;
  copy.httpVersion = raw.httpVersion;
  copy.httpVersionMajor = raw.httpVersionMajor;
  copy.httpVersionMinor = raw.httpVersionMinor;
  copy.headers = { ...headers, 'content-length': String(Buffer.byteLength(rawBody)) };
  copy.complete = true;
  copy.push(rawBody);
  copy.push(null);
  return copy;
}
