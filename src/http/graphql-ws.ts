import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  getOperationAST,
} from 'graphql';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { TokenFault } from '../auth/access-token.ts';
import { authenticate, type Caller, faultOfCaller } from '../auth/caller.ts';
import type { Services } from '../auth/context.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { requestError } from '../graphql/request-error.ts';
import { newTraceId } from '../ids.ts';
import {
  type GraphQLServer,
  maskFault,
  maxBodyBytes,
  publicErrors,
  publicResult,
} from './graphql.ts';
import { ResultStream } from './result-stream.ts';
import type { Connections } from './subscriptions.ts';

/** Operations that one connection may have open at a time. */
const maxOperations = 100;
/** A connection that does not answer a ping within this time is gone. */
const keepAliveMs = 12_000;
/** How long a client may take to answer the close at a stop. */
const goingAwayMs = 5_000;

/** Close codes beside those of the protocol (RFC 6455 §7.4.1, and its registry at IANA). */
const closeCodes = { goingAway: 1001, internalError: 1011, tryAgainLater: 1013 } as const;

interface Extra {
  readonly socket: WebSocket;
  /** What the socket writes to. */
  readonly stream: Duplex;
  caller?: Caller;
}

/** Sends the results of one operation at once, each in a frame of which only the id is its own. */
class FrameStream extends ResultStream {
  readonly #socket: WebSocket;
  readonly #stream: Duplex;
  readonly #head: string;
  #unsent = 0;
  #flushes: (() => void)[] = [];

  constructor({ socket, stream }: Extra, id: string) {
    super(() =>
      socket.close(closeCodes.tryAgainLater, 'Fell behind: come again with the last cursor'),
    );
    this.#socket = socket;
    this.#stream = stream;
    this.#head = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
  }

  override push(results: readonly string[]): void {
    this.#unsent += 1;
    // One system call for all of them: they are most of what a delivery costs.
    this.#stream.cork();
    const sent = () => {
      this.#unsent -= 1;
      if (this.#unsent === 0) for (const resolve of this.#flushes.splice(0)) resolve();
    };
    for (const [index, result] of results.entries()) {
      this.#socket.send(`${this.#head}${result}}`, index === results.length - 1 ? sent : undefined);
    }
    this.#stream.uncork();
  }

  override get backlogBytes(): number {
    return this.#socket.bufferedAmount;
  }

  override async flushed(): Promise<void> {
    if (this.#unsent === 0) return;
    await new Promise<void>((resolve) => this.#flushes.push(resolve));
  }
}

/**
 * Mounts `/graphql` over WebSocket, protocol `graphql-transport-ws`.
 *
 * @returns Lets nobody in any more; the connections themselves are ended by {@link Connections}.
 * @see https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
 */
export function registerGraphQLWebSocket(
  server: Server,
  services: Services,
  graphql: GraphQLServer,
  connections: Connections,
): () => void {
  const { log } = services;
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (protocols) => handleProtocols(protocols),
    maxPayload: maxBodyBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const protocol = makeServer<Record<string, unknown>, Extra>(
    hooks(services, graphql, connections),
  );

  function opened(socket: WebSocket, stream: Duplex): void {
    const extra: Extra = { socket, stream };
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) =>
          new Promise((resolve, reject) => {
            if (socket.readyState !== socket.OPEN) resolve();
            else socket.send(data, (error) => (error ? reject(error) : resolve()));
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage(handle) {
          socket.on('message', (data) => {
            handle(String(data)).catch((error: unknown) => {
              // A peer that goes away while it is written to is no fault.
              if (socket.readyState !== socket.OPEN) return;
              // graphql-ws throws where the protocol has it closed.
              if (
                error instanceof Error &&
                error.message.startsWith('Unexpected message of type')
              ) {
                socket.close(CloseCode.BadRequest, error.message.slice(0, 100));
                return;
              }
              log.error({ err: error }, 'a WebSocket message could not be handled');
              socket.close(closeCodes.internalError, 'Internal error');
            });
          });
        },
      },
      extra,
    );
    const stopPinging = keepAlive(socket);
    // Malformed frames and the like: ws closes the socket with the code for it.
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket broke'));
    socket.once('close', (code, reason) => {
      stopPinging();
      void closed(code, String(reason));
    });
  }

  function onUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on('error', () => stream.destroy());
    if (request.url?.replace(/\?.*$/s, '') !== '/graphql') {
      refuse(stream, '404 Not Found');
      return;
    }
    let socket: WebSocket | undefined;
    const leave = connections.enter(() => {
      socket?.close(closeCodes.goingAway, 'Going away');
      setTimeout(() => socket?.terminate(), goingAwayMs).unref();
    });
    if (!leave) {
      refuse(stream, '503 Service Unavailable');
      return;
    }
    stream.once('close', leave);
    sockets.handleUpgrade(request, stream, head, (accepted) => {
      socket = accepted;
      opened(accepted, stream);
    });
  }

  server.on('upgrade', onUpgrade);
  return () => {
    server.off('upgrade', onUpgrade);
    server.on('upgrade', (_request, stream) => refuse(stream, '503 Service Unavailable'));
  };
}

function refuse(stream: Duplex, status: string): void {
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function keepAlive(socket: WebSocket): () => void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) {
      socket.terminate();
      return;
    }
    isAlive = false;
    socket.ping();
  }, keepAliveMs);
  return () => clearInterval(timer);
}

function hooks(
  services: Services,
  { yoga, within }: GraphQLServer,
  connections: Connections,
): Parameters<typeof makeServer<Record<string, unknown>, Extra>>[0] {
  const { log } = services;
  type Enveloped = ReturnType<GraphQLServer['yoga']['getEnveloped']>;
  // graphql-ws hands back the very object that onSubscribe returned.
  type Operation = ExecutionArgs & {
    readonly contextValue: GraphQLContext;
    readonly run: Enveloped['execute'];
  };

  const run = (args: ExecutionArgs) => {
    const { run: execute, ...operation } = args as Operation;
    const { traceId } = operation.contextValue;
    return within(traceId, async () => {
      try {
        return (await execute(operation)) as ExecutionResult | AsyncGenerator<ExecutionResult>;
      } catch (error) {
        return { errors: [maskFault(error, traceId, log)] };
      }
    });
  };

  return {
    async onConnect({ connectionParams = {}, extra }) {
      const { authorization = connectionParams['Authorization'] } = connectionParams;
      if (typeof authorization !== 'string') return false;
      const { socket } = extra;
      try {
        extra.caller = await authenticate(services, authorization);
      } catch (error) {
        if (error instanceof TokenFault) return false;
        throw error;
      }
      const unwatch = connections.watch(extra.caller, (fault) =>
        socket.close(CloseCode.Forbidden, `Forbidden: ${fault}`),
      );
      socket.once('close', unwatch);
      return true;
    },

    async onSubscribe({ extra, subscriptions }, id, payload) {
      const { caller } = extra;
      const traceId = newTraceId();
      const stream = new FrameStream(extra, id);
      // Errors are returned: thrown, they would close the socket and take its other operations along.
      return within(traceId, async () => {
        try {
          if (Object.keys(subscriptions).length > maxOperations) {
            throw requestError(
              'RATE_LIMITED',
              `A connection may have ${maxOperations} operations open.`,
            );
          }
          // The watch closes the socket within seconds; nothing is done for the caller until then.
          const fault = caller && (await faultOfCaller(services, caller));
          if (fault) {
            extra.socket.close(CloseCode.Forbidden, `Forbidden: ${fault}`);
            return [requestError('UNAUTHENTICATED', `The access token is refused: ${fault}.`)];
          }
          const { parse, validate, contextFactory, schema, execute, subscribe } = yoga.getEnveloped(
            {
              caller,
              traceId,
              transport: { stream },
            },
          );
          const document = parse(payload.query);
          const errors = validate(schema, document) as GraphQLError[];
          if (errors.length > 0) return errors;
          const isSubscription =
            getOperationAST(document, payload.operationName)?.operation === 'subscription';
          return {
            schema,
            document,
            operationName: payload.operationName,
            variableValues: payload.variables,
            contextValue: await contextFactory(),
            run: isSubscription ? subscribe : execute,
          } as Operation;
        } catch (error) {
          return [maskFault(error, traceId, log)];
        }
      });
    },
    execute: run,
    subscribe: run,
    onNext: (_context, _id, _payload, { contextValue }, result) =>
      publicResult(result, (contextValue as GraphQLContext).traceId, log),
    onError: (_context, id, _payload, errors) =>
      publicErrors(
        // graphql-ws wraps what an iterator threw.
        errors.map((error) => error.cause ?? error),
        id,
        log,
      ),
  };
}
