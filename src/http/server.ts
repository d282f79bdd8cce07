import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import helmet from '@fastify/helmet';
import fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify';
import type { Logger } from 'pino';
import { StartError } from '../errors.ts';
import { newTraceId } from '../ids.ts';

/** A port that is being listened on, before there is anything to answer with. */
export interface Listener {
  readonly server: Server;
  readonly port: number;
  /** From now on this answers; until then it is 503 but for `/healthz`. */
  answerWith(handler: RequestListener): void;
  /** Takes no new connections, lets the requests in flight end for some seconds, closes the rest. */
  close(): Promise<void>;
}

const closeIdleMs = 50;
/** Longer than any request takes: who is connected then has not sent all of one, or does not read the answer. */
const closeAllMs = 20_000;

const answer = (response: ServerResponse, status: number, body: string) =>
  response
    .writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .end(body);

/**
 * Listens at once, so that a port in use ends the start before anything is written, and so that probes tell a
 * process that starts from one that is dead.
 *
 * @throws {StartError} when the address cannot be listened on.
 */
export async function listen({ host, port }: { host: string; port: number }): Promise<Listener> {
  let handler: RequestListener = (request, response) =>
    request.url === '/healthz'
      ? answer(response, 200, 'ok\n')
      : answer(response, 503, 'starting\n');
  // Longer than the minute for which load balancers keep an idle connection, lest they send into one just closed.
  let isClosing = false;
  const server = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
    if (isClosing) response.shouldKeepAlive = false;
    handler(request, response);
  });
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
  // A connection that has a request in flight at first is idle when that has ended. One that was opened in advance,
  // as browsers do, and never used does not count as idle.
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

/** The Fastify instance of the service: its routes come from the features, its server is the listener's. */
export function createHttp(
  { server, answerWith }: Listener,
  options: { log: Logger; trustProxy: boolean; isHttps: boolean },
): FastifyInstance {
  const http = fastify({
    loggerInstance: options.log as NonNullable<FastifyServerOptions['loggerInstance']>,
    // The log line of a request is our own: the library's would hold the URL.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'traceId' }),
    trustProxy: options.trustProxy,
    genReqId: () => newTraceId(),
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: false },
    serverFactory(handler) {
      answerWith(handler);
      return server;
    },
  });
  // Pages bring a content security policy of their own; the rest is data, which other origins may read.
  http.register(helmet, {
    contentSecurityPolicy: false,
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    strictTransportSecurity: options.isHttps,
  });
  return http;
}
