import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { CloseCode, handleProtocols, makeServer } from 'graphql-ws';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import { TokenFault } from '../../auth/access-token.ts';
import { authenticate, type Caller } from '../../auth/caller.ts';
import { maxBodyBytes } from '../../body-limits.ts';
import { clientOf } from '../../protection/addresses.ts';
import type { Services } from '../../services.ts';
import { readTraceparent } from '../../tracing/traceparent.ts';
import { userAgentIn } from '../../web/call.ts';
import { clientAddress } from '../client-address.ts';
import { callerOf, sessionOf } from '../console/session.ts';
import type { GraphQLServer } from '../graphql.ts';
import type { ConnectionSlot, Connections } from './connections.ts';
import { protocolOptions } from './protocol.ts';
import { boundUnknown, closeCodes, closeMs, closeWithin, type Extra, keepAlive } from './socket.ts';

const consolePath = '/console/graphql';

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

  /** Finds the caller by the cookie at once, so that a page without a session need not wait for the protocol. */
  function identifyInSession(request: IncomingMessage, socket: WebSocket): Extra['identify'] {
    const caller = sessionOf(services, request).then((session) => session && callerOf(session));
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
    slot: ConnectionSlot,
    { identify, call }: Pick<Extra, 'identify' | 'call'>,
  ): void {
    const noLongerUnknown = boundUnknown(socket, stream);
    const extra: Extra = {
      socket,
      stream,
      identify,
      call,
      settle() {
        noLongerUnknown();
        slot.settle();
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
    const ip = addressOf(request);
    const slot = connections.enter({
      address: clientOf(ip),
      isKnown: false,
      end: () => {
        if (socket) closeWithin(socket, closeMs, closeCodes.goingAway, 'Going away');
      },
      displace: () => {
        if (socket) closeWithin(socket, 0, closeCodes.tryAgainLater, 'Too many connections');
        else stream.destroy();
      },
    });
    if (!slot) {
      refuse(stream, '503 Service Unavailable');
      return;
    }
    stream.once('close', slot.leave);
    sockets.handleUpgrade(request, stream, head, (accepted) => {
      socket = accepted;
      const identify = isConsole
        ? identifyInSession(request, accepted)
        : (parameters: Record<string, unknown>) =>
            identifyByToken(services, [parameters, parameters['headers'], request.headers]);
      const { headers } = request;
      const call = {
        ip,
        userAgent: userAgentIn(headers),
        traceId: readTraceparent(headers)?.traceId,
      };
      opened(accepted, stream, slot, { identify, call });
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

function refuse(stream: Duplex, status: string): void {
  // A peer that is gone is no fault, and an error that nobody listens for ends the process.
  stream.on('error', () => stream.destroy());
  stream.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/**
 * Finds the caller by the first token of these, as clients place it.
 *
 * @param places What may hold `authorization` and `dpop`: `connectionParams`, their `headers`, the upgrade's headers.
 */
async function identifyByToken(
  services: Services,
  places: readonly unknown[],
): Promise<Caller | undefined> {
  const shown = places.map(shownIn).find((place) => place !== undefined);
  if (!shown) return undefined;
  try {
    const url = `${services.baseUrl}/graphql`;
    return await authenticate(services, { ...shown, method: 'GET', url });
  } catch (error) {
    if (error instanceof TokenFault) return undefined;
    throw error;
  }
}

/** The token that a place holds, with its proof of possession. */
function shownIn(place: unknown): { authorization: string; proof: unknown } | undefined {
  if (typeof place !== 'object' || place === null) return undefined;
  const values = new Map<string, unknown>(Object.entries(place));
  const authorization = values.get('authorization') ?? values.get('Authorization');
  if (typeof authorization !== 'string') return undefined;
  return { authorization, proof: values.get('dpop') ?? values.get('DPoP') };
}
