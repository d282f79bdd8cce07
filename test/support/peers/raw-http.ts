import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** An answer as sent, compressed or not. */
export interface RawAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends a request without decoding the answer. A body given as a list is sent in chunks, without a length. */
export function askRaw(
  url: string,
  headers: Record<string, string> = {},
  body?: readonly (string | Buffer)[],
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body ? 'POST' : 'GET', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.once('error', reject);
    for (const chunk of body ?? []) sent.write(chunk);
    sent.end();
  });
}

/** A connection to a service, and everything received on it. */
export interface RawConnection {
  readonly socket: Socket;
  received(): string;
  readonly closed: Promise<void>;
}

/** Opens a connection, sends some bytes, and reads the answer; it ends with the test. */
export function openRaw(url: string, bytes: string): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  return { socket, received: () => received, closed };
}
