import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Caller } from '../../auth/caller.ts';
import type { Call } from '../../services.ts';

/** The most bytes that a client may send before it shows a token; frames included. */
const maxUnknownBytes = 16 * 1024;
/** The time in which a connection must answer a ping. */
const keepAliveMs = 12_000;
/** The time in which a client must answer a close. */
export const closeMs = 5_000;

/** Close codes that the protocol does not define (RFC 6455 §7.4.1, and its registry at IANA). */
export const closeCodes = {
  goingAway: 1001,
  internalError: 1011,
  tryAgainLater: 1013,
  messageTooBig: 1009,
} as const;

/** The state of one open connection. */
export interface Extra {
  readonly socket: WebSocket;
  /** The stream that the socket writes to. */
  readonly stream: Socket;
  /** Finds the caller; undefined if there is none. */
  readonly identify: (parameters: Record<string, unknown>) => Promise<Caller | undefined>;
  /** Where its operations come from. Without a trace id, each has one of its own. */
  readonly call: Omit<Call, 'traceId'> & { readonly traceId: string | undefined };
  /** Marks the client as authenticated. */
  settle(): void;
  caller?: Caller;
}

/** Closes a socket, and destroys it if the client does not close too. */
export function closeWithin(
  socket: WebSocket,
  milliseconds: number,
  code: number,
  reason: string,
): void {
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), milliseconds).unref();
}

/** Closes the socket of an unknown client that sends too much, until the returned function is called. */
export function boundUnknown(socket: WebSocket, stream: Socket): () => void {
  const before = stream.bytesRead;
  const look = () => {
    if (stream.bytesRead - before <= maxUnknownBytes) return;
    stream.off('data', look);
    socket.pause();
    closeWithin(socket, closeMs, closeCodes.messageTooBig, 'Too much before connection_ack');
  };
  // Runs before the bytes are parsed as messages.
  stream.prependListener('data', look);
  return () => stream.off('data', look);
}

/** Pings a socket, and destroys it when it does not answer, until the returned function is called. */
export function keepAlive(socket: WebSocket): () => void {
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
