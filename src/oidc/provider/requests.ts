import { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { withOneSpace } from '../../auth/authorization.ts';
import { isWithoutSecret } from '../token/client-authentication.ts';

const requests = new WeakMap<IncomingMessage, FastifyRequest>();

/** The request of this service that oidc-provider is answering. */
export function requestOf(ctx: Pick<KoaContextWithOIDC, 'req'>): FastifyRequest {
  const request = requests.get(ctx.req);
  if (!request) throw new Error('oidc-provider answers only what was handed to it.');
  return request;
}

/** What a token is issued from: a code, a refresh token, or the code of a device. */
export const grantSourceOf = ({ oidc: { entities } }: KoaContextWithOIDC) =>
  entities.AuthorizationCode ?? entities.RefreshToken ?? entities.DeviceCode;

/**
 * Prepares a request for oidc-provider, which is mounted under `/oidc`.
 *
 * @param basePath The path of the public URL, before `/oidc`.
 * @param rawBody The body, if it was already read; otherwise it is still unread.
 */
export function prepareRequest(
  request: FastifyRequest,
  basePath: string,
  rawBody: string | undefined,
): IncomingMessage {
  const { raw } = request;
  const url = raw.url ?? '';
  const prepared = rawBody === undefined ? raw : withBody(raw, rawBody);
  const { authorization } = prepared.headers;
  if (authorization !== undefined) prepared.headers.authorization = withOneSpace(authorization);
  // The client was found to be public, and its id is in the body: the library takes an empty secret for a fault.
  if (rawBody !== undefined && isWithoutSecret(authorization ?? ''))
    delete prepared.headers.authorization;
  requests.set(prepared, request);
  // As Node's frameworks mount a handler: `url` begins at the mount point, `originalUrl` at the root.
  return Object.assign(prepared, {
    originalUrl: `${basePath}${url}`,
    url: url.slice('/oidc'.length),
  });
}

// oidc-provider reads a stream. It would also take `req.body`, but then warns once on the console.
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
