import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import { StartError } from '../errors.ts';

/** A port that is listened on before the service can answer. */
export interface Listener {
  readonly server: Server;
  readonly port: number;
  /** Sets the handler of requests; before that, everything but `/healthz` is answered with 503. */
  answerWith(handler: RequestListener): void;
  /** Takes no new connections, lets running requests end for some seconds, then closes the rest. */
  close(): Promise<void>;
}

const closeIdleMs = 50;
/**
 * Longer than any request takes. A client that is still connected then sends its request or reads its answer too
 * slowly.
 */
const closeAllMs = 20_000;
/** The limits for slow clients, in milliseconds. */
export interface Timeouts {
  /** To send a request, headers and body. */
  readonly receive: number;
  /** The interval of checks; `receive` may be exceeded by that much. */
  readonly receiveCheck: number;
  /** Without traffic on a connection, unless an answer is being made. */
  readonly stall: number;
}

/** The default timeouts. */
export const timeoutsByDefault: Timeouts = { receive: 30_000, receiveCheck: 5_000, stall: 30_000 };
/**
 * Longer than the minute for which load balancers keep an idle connection. Otherwise they would send requests into
 * connections that were just closed.
 */
const keepAliveMs = 72_000;

/** The paths of WebSockets. */
const webSocketPaths = new Set(['/graphql', '/console/graphql']);

const isOffered = ({ url, headers: { upgrade } }: IncomingMessage) =>
  /(^|[\s,])websocket($|[\s,/])/i.test(upgrade ?? '') &&
  webSocketPaths.has(url?.replace(/\?.*$/s, '') ?? '');

/**
 * Ends a connection without traffic in either direction, unless an answer is being made on it. Streams without events
 * and upgraded connections stay open; an answer that the client does not read does not count as being made.
 */
function endStalled(server: Server, stallMs: number): void {
  const busy = new WeakMap<Socket, ServerResponse>();
  server.setTimeout(stallMs);
  server.on('request', ({ socket }, response) => {
    busy.set(socket, response);
    response.once('close', () => {
      if (busy.get(socket) === response) busy.delete(socket);
    });
  });
  server.on('timeout', (socket) => {
    if (socket.writableLength > 0 || !busy.has(socket)) socket.destroy();
  });
}

const answer = (response: ServerResponse, status: number, body: string) =>
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end(body);

/**
 * Listens at once. So a port in use ends the start before anything is written, and probes can tell a starting process
 * from a dead one.
 *
 * @throws {StartError} when the address cannot be listened on.
 */
export async function listen(
  { host, port }: { host: string; port: number },
  timeouts: Partial<Timeouts> = {},
): Promise<Listener> {
  const { receive, receiveCheck, stall } = { ...timeoutsByDefault, ...timeouts };
  let handler: RequestListener = (request, response) =>
    request.url === '/healthz'
      ? answer(response, 200, 'ok\n')
      : answer(response, 503, 'starting\n');
  let isClosing = false;
  const server: Server = createServer(
    {
      keepAlive: true,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: receive,
      requestTimeout: receive,
      connectionsCheckingInterval: receiveCheck,
      // Any other offer, such as h2c, is one that a server may ignore (RFC 9110 §7.8).
      shouldUpgradeCallback: (request) => server.listenerCount('upgrade') > 0 && isOffered(request),
    },
    (request, response) => {
      if (isClosing) response.shouldKeepAlive = false;
      handler(request, response);
    },
  );
  endStalled(server, stall);
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, resolve);
    });
  } catch (cause) {
    throw new StartError(
      `HOST and PORT ${host}:${port} cannot be listened on: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  // A connection becomes idle when its running request ends. A connection that a browser opened in advance, and never
  // used, does not count as idle for Node.
  function closeIdle() {
    server.closeIdleConnections();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  }
  let closed: Promise<void> | undefined;
  return {
    server,
    port: (server.address() as AddressInfo).port,
    answerWith(next) {
      handler = next;
    },
    close() {
      closed ??= new Promise((resolve, reject) => {
        isClosing = true;
        const idle = setInterval(closeIdle, closeIdleMs);
        const all = setTimeout(() => server.closeAllConnections(), closeAllMs);
        server.close((error) => {
          clearInterval(idle);
          clearTimeout(all);
          if (error) reject(error);
          else resolve();
        });
      });
      return closed;
    },
  };
}
