import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server as NetServer,
  type Socket,
} from 'node:net';

import { StartError } from '../errors.ts';
import { retryAfterSeconds } from '../failures.ts';

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

const plainText = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };

const answer = (response: ServerResponse, status: number, body: string, headers = {}) =>
  response.writeHead(status, { ...plainText, ...headers }).end(body);

/** Answers requests while there is nothing that could: that the process lives, and else that it starts. */
export const answerWhileStarting: RequestListener = (request, response) =>
  request.url === '/healthz'
    ? answer(response, 200, 'ok\n')
    : answer(response, 503, 'starting\n', { 'retry-after': String(retryAfterSeconds) });

/** The address of a listener, on this machine. */
export const addressOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

// More connections than Node lets wait by default: many come at once when clients reconnect.
const backlog = 4_096;

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Listens on the address of the service.
 *
 * @param options.reusePort Whether this process listens there several times.
 * @returns The port.
 * @throws {StartError} when the address cannot be listened on.
 */
export async function listenOn(
  server: NetServer,
  { host, port }: Address,
  { reusePort = false } = {},
): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, backlog, reusePort }, resolve);
    });
  } catch (cause) {
    throw new StartError(
      `HOST and PORT ${host}:${port} cannot be listened on: ${(cause as Error).message}`,
      { cause },
    );
  }
  return (server.address() as AddressInfo).port;
}

/**
 * How many sockets this process listens with. Node accepts one connection of each in a round of its loop: with one
 * socket, a probe's connection would wait behind all others for as many rounds.
 */
const sockets = 16;

/** Whether sockets can share a port here, and connections are spread over them. */
async function canShare(host: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const probe = createNetServer();
  try {
    await listenOn(probe, { host, port: 0 }, { reusePort: true });
    return true;
  } catch {
    // Where the kernel is not Linux' own; and whatever else is wrong, the service's own port tells.
    return false;
  } finally {
    probe.close();
  }
}

/**
 * Listens with several sockets, so that many new connections are taken soon though the loop is busy.
 *
 * @returns The port, and what stops the other sockets than the server's own.
 */
async function listenWidely(server: Server, { host, port: wanted }: Address) {
  const reusePort = await canShare(host);
  // Sockets that share a port do not notice another service of the same user there.
  if (reusePort && wanted !== 0) {
    const probe = createNetServer();
    await listenOn(probe, { host, port: wanted });
    await new Promise((resolve) => probe.close(resolve));
  }
  const port = await listenOn(server, { host, port: wanted }, { reusePort });
  const others: NetServer[] = [];
  while (reusePort && others.length < sockets - 1) {
    const other = createNetServer({ allowHalfOpen: true, noDelay: true, keepAlive: true });
    other.on('connection', (socket) => server.emit('connection', socket));
    await listenOn(other, { host, port }, { reusePort });
    others.push(other);
  }
  const stop = () => {
    for (const other of others) other.close();
  };
  return { port, stop };
}

/** Connections that another process accepts. */
export interface Accepted {
  readonly port: number;
  /** Calls back with each connection from now on. */
  onConnection(take: (socket: Socket) => void): void;
}

/**
 * Listens at once. So a port in use ends the start before anything is written, and probes can tell a starting process
 * from a dead one.
 *
 * @param accepted Takes these connections instead of listening.
 * @throws {StartError} when the address cannot be listened on.
 */
export async function listen(
  address: Address,
  timeouts: Partial<Timeouts> = {},
  accepted?: Accepted,
): Promise<Listener> {
  const { receive, receiveCheck, stall } = { ...timeoutsByDefault, ...timeouts };
  let handler = answerWhileStarting;
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
  const connections = new Set<Socket>();
  let drained = () => {};
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => {
      connections.delete(socket);
      if (connections.size === 0) drained();
    });
  });
  const { port, stop } = accepted
    ? takeFrom(accepted, server)
    : await listenWidely(server, address);
  // A connection becomes idle when its running request ends. A connection that a browser opened in advance, and never
  // used, does not count as idle for Node.
  function closeIdle() {
    server.closeIdleConnections();
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  }
  let closed: Promise<void> | undefined;
  return {
    server,
    port,
    answerWith(next) {
      handler = next;
    },
    close() {
      closed ??= new Promise((resolve) => {
        isClosing = true;
        const idle = setInterval(closeIdle, closeIdleMs);
        const all = setTimeout(() => server.closeAllConnections(), closeAllMs);
        drained = () => {
          clearInterval(idle);
          clearTimeout(all);
          resolve();
        };
        server.close();
        stop();
        if (connections.size === 0) drained();
      });
      return closed;
    },
  };
}

/** Lets a server that has no address of its own take connections. */
function takeFrom({ port, onConnection }: Accepted, server: Server) {
  // It begins to watch for slow requests when it listens.
  server.emit('listening');
  onConnection((socket) => {
    // As those that it accepts: a client may close its half once it has sent its request.
    socket.allowHalfOpen = true;
    server.emit('connection', socket);
  });
  return { port, stop: () => undefined };
}
