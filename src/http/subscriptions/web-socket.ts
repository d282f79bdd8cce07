import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  getOperationAST,
} from 'graphql';
import { CloseCode, handleProtocols, makeServer, type SubscribePayload } from 'graphql-ws';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import { TokenFault } from '../../auth/access-token.ts';
import { authenticate, type Caller } from '../../auth/caller.ts';
import { maxBodyBytes } from '../../body-limits.ts';
import { callerOf } from '../../console/session.ts';
import { isUnreachable } from '../../db/unreachable.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { maskFault, publicErrors, publicResult } from '../../graphql/public-error.ts';
import { requestError } from '../../graphql/request-error.ts';
import { newTraceId } from '../../ids.ts';
import type { Services } from '../../services.ts';
import { clientAddress } from '../client-address.ts';
import { sessionOf } from '../console/session.ts';
import type { GraphQLServer } from '../graphql.ts';
import { type Connections, type Place, refusalOf } from './connections.ts';
import { ResultStream } from './result-stream.ts';

/** The most operations that one connection may have open. */
const maxOperations = 100;
/** The most bytes that a client may send before it shows a token; frames included. */
const maxUnknownBytes = 16 * 1024;
/** The most bytes of results that a client may leave unread. */
const maxUnreadBytes = 4 * 1024 * 1024;
/** The time in which a connection must answer a ping. */
const keepAliveMs = 12_000;
/** The time in which a client must answer the close at a stop. */
const goingAwayMs = 5_000;

/** Close codes that the protocol does not define (RFC 6455 §7.4.1, and its registry at IANA). */
const closeCodes = {
  goingAway: 1001,
  internalError: 1011,
  tryAgainLater: 1013,
  messageTooBig: 1009,
} as const;

const consolePath = '/console/graphql';

interface Extra {
  readonly socket: WebSocket;
  /** The stream that the socket writes to. */
  readonly stream: Socket;
  /** Finds out who calls; undefined if nobody does. */
  readonly identify: (parameters: Record<string, unknown>) => Promise<Caller | undefined>;
  /** The client has shown a valid token. */
  settle(): void;
  caller?: Caller;
}

/** Sends the results of one operation at once. Their frames differ from those of other operations only in the id. */
class FrameStream extends ResultStream {
  readonly #socket: WebSocket;
  readonly #stream: Socket;
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
    // One system call for all: system calls are most of the cost of a delivery.
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
 * Mounts `/graphql` and `/console/graphql` over WebSocket, protocol `graphql-transport-ws`. A client shows its token in
 * `connectionParams`; at the console it is a page of this service with its session's cookie.
 *
 * @returns Refuses new connections from then on; {@link Connections} ends the open ones.
 * @see https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md
 */
export function mountGraphQLWebSocket(
  server: Server,
  services: Services,
  graphql: GraphQLServer,
  connections: Connections,
): () => void {
  const { log, config, baseUrl } = services;
  const addressOf = clientAddress(config.trustProxy);
  const ownOrigin = new URL(baseUrl).origin;
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (protocols) => handleProtocols(protocols),
    maxPayload: maxBodyBytes.management,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const protocol = makeServer<Record<string, unknown>, Extra>(
    protocolOptions(services, graphql, connections),
  );

  /** Finds the caller by the cookie at once: a page without a session is not to wait for the protocol. */
  function identifyInSession(request: IncomingMessage, socket: WebSocket): Extra['identify'] {
    const caller = sessionOf(services, request).then(
      (session) => session && callerOf(services, session),
    );
    caller.then(
      (found) => {
        if (!found) socket.close(CloseCode.Forbidden, 'Forbidden');
      },
      () => undefined,
    );
    return () => caller;
  }

  function opened(
    socket: WebSocket,
    stream: Socket,
    place: Place,
    identify: Extra['identify'],
  ): void {
    const noLongerUnknown = boundUnknown(socket, stream);
    const extra: Extra = {
      socket,
      stream,
      identify,
      settle() {
        noLongerUnknown();
        place.settle();
      },
    };
    const closed = protocol.opened(
      {
        protocol: socket.protocol,
        send: (data) =>
          new Promise((resolve, reject) => {
            if (socket.readyState !== socket.OPEN) resolve();
            else socket.send(data, (error) => (error ? reject(error) : resolve()));
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data) => {
            handle(String(data)).catch((error: unknown) => closeForFault(socket, error, log));
          }),
      },
      extra,
    );
    const stopPinging = keepAlive(socket);
    // For malformed frames and the like, ws closes the socket with the right code.
    socket.on('error', (error) => log.debug({ err: error }, 'a WebSocket broke'));
    socket.once('close', (code, reason) => {
      stopPinging();
      void closed(code, String(reason));
    });
  }

  function onUpgrade(request: IncomingMessage, duplex: Duplex, head: Buffer): void {
    // No other kind is possible here: the server speaks HTTP/1.1 over TCP.
    const stream = duplex as Socket;
    stream.on('error', () => stream.destroy());
    const isConsole = request.url?.startsWith(consolePath) ?? false;
    if (isConsole && request.headers.origin !== ownOrigin) {
      refuse(stream, '403 Forbidden');
      return;
    }
    let socket: WebSocket | undefined;
    const place = connections.enter({
      address: addressOf(request),
      isKnown: false,
      end: () => {
        if (socket) closeWithin(socket, goingAwayMs, closeCodes.goingAway, 'Going away');
      },
      displace: () => {
        if (socket) closeWithin(socket, 0, closeCodes.tryAgainLater, 'Too many connections');
        else stream.destroy();
      },
    });
    if (!place) {
      refuse(stream, '503 Service Unavailable');
      return;
    }
    stream.once('close', place.leave);
    sockets.handleUpgrade(request, stream, head, (accepted) => {
      socket = accepted;
      const identify = isConsole
        ? identifyInSession(request, accepted)
        : (parameters: Record<string, unknown>) => identifyByToken(services, parameters);
      opened(accepted, stream, place, identify);
    });
  }

  server.on('upgrade', onUpgrade);
  return () => {
    server.off('upgrade', onUpgrade);
    server.on('upgrade', (_request, stream) => refuse(stream, '503 Service Unavailable'));
  };
}

/** Closes a socket whose message could not be handled. */
function closeForFault(socket: WebSocket, error: unknown, log: Logger): void {
  // A peer that leaves during a write is no fault.
  if (socket.readyState !== socket.OPEN) return;
  // graphql-ws throws where the protocol requires a close.
  if (error instanceof Error && error.message.startsWith('Unexpected message of type')) {
    socket.close(CloseCode.BadRequest, error.message.slice(0, 100));
    return;
  }
  log.error({ err: error }, 'a WebSocket message could not be handled');
  socket.close(closeCodes.internalError, 'Internal error');
}

/** Closes a socket, and destroys it if the client does not close too. */
function closeWithin(socket: WebSocket, milliseconds: number, code: number, reason: string): void {
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), milliseconds).unref();
}

/** Closes the socket of an unknown client that sends too much, until the returned function is called. */
function boundUnknown(socket: WebSocket, stream: Socket): () => void {
  const before = stream.bytesRead;
  const look = () => {
    if (stream.bytesRead - before <= maxUnknownBytes) return;
    stream.off('data', look);
    socket.pause();
    closeWithin(socket, goingAwayMs, closeCodes.messageTooBig, 'Too much before connection_ack');
  };
  // Runs before the bytes are parsed as messages.
  stream.prependListener('data', look);
  return () => stream.off('data', look);
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

async function identifyByToken(
  services: Services,
  { authorization, Authorization: capitalized }: Record<string, unknown>,
): Promise<Caller | undefined> {
  const header = authorization ?? capitalized;
  if (typeof header !== 'string') return undefined;
  try {
    return await authenticate(services, header);
  } catch (error) {
    if (error instanceof TokenFault) return undefined;
    throw error;
  }
}

// graphql-ws passes the same object that onSubscribe returned.
type Operation = ExecutionArgs & {
  readonly contextValue: GraphQLContext;
  readonly run: ReturnType<GraphQLServer['yoga']['getEnveloped']>['execute'];
};

/** Tells graphql-ws how a connection shows its token, and how its operations run. */
function protocolOptions(
  services: Services,
  graphql: GraphQLServer,
  connections: Connections,
): Parameters<typeof makeServer<Record<string, unknown>, Extra>>[0] {
  const { log } = services;
  const { within } = graphql;

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
      return admit(services, connections, extra, connectionParams);
    },
    async onSubscribe({ extra, subscriptions }, id, payload) {
      const traceId = newTraceId();
      // Errors are returned: a thrown one would close the socket and all its operations.
      return within(traceId, async () => {
        try {
          const refusal = await findRefusal(connections, extra, Object.keys(subscriptions).length);
          return refusal ? [refusal] : await prepare(graphql, extra, { ...payload, id, traceId });
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

/**
 * Authenticates the client of a connection, and closes the connection when it is no longer admitted.
 *
 * @returns Whether the client is admitted.
 */
async function admit(
  { log }: Services,
  connections: Connections,
  extra: Extra,
  parameters: Record<string, unknown>,
): Promise<boolean> {
  const { socket } = extra;
  try {
    const caller = await extra.identify(parameters);
    if (!caller) return false;
    extra.caller = caller;
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    log.warn({ err: error }, 'the database cannot be reached');
    socket.close(closeCodes.tryAgainLater, 'The database cannot be reached');
    return false;
  }
  extra.settle();
  const unwatch = connections.watch(extra.caller, (fault) =>
    socket.close(CloseCode.Forbidden, `Forbidden: ${fault}`),
  );
  socket.once('close', unwatch);
  return true;
}

/** Why a connection may open no further operation now; undefined if it may. */
async function findRefusal(
  connections: Connections,
  { socket, caller }: Extra,
  open: number,
): Promise<GraphQLError | undefined> {
  if (open > maxOperations) {
    return requestError('RATE_LIMITED', `A connection may have ${maxOperations} operations open.`);
  }
  if (socket.bufferedAmount > maxUnreadBytes) {
    socket.close(closeCodes.tryAgainLater, 'Results are not read');
    return requestError('RATE_LIMITED', 'Results are not read.');
  }
  // The watch closes the socket within seconds; until then the caller gets nothing.
  const fault = caller && (await connections.faultOf(caller));
  if (!fault) return undefined;
  socket.close(CloseCode.Forbidden, `Forbidden: ${fault}`);
  return requestError('UNAUTHENTICATED', refusalOf(caller, fault));
}

/** Parses and validates an operation. */
async function prepare(
  { yoga }: GraphQLServer,
  extra: Extra,
  asked: SubscribePayload & { readonly id: string; readonly traceId: string },
): Promise<Operation | GraphQLError[]> {
  const { parse, validate, contextFactory, schema, execute, subscribe } = yoga.getEnveloped({
    sender: { caller: extra.caller ?? null },
    traceId: asked.traceId,
    transport: { stream: new FrameStream(extra, asked.id) },
  });
  const document = parse(asked.query);
  const errors = validate(schema, document) as GraphQLError[];
  if (errors.length > 0) return errors;
  const isSubscription =
    getOperationAST(document, asked.operationName)?.operation === 'subscription';
  return {
    schema,
    document,
    operationName: asked.operationName,
    variableValues: asked.variables,
    contextValue: await contextFactory(),
    run: isSubscription ? subscribe : execute,
  } as Operation;
}
