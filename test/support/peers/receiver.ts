import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { vi } from 'vitest';
import { closeAtEnd } from '../cleanup.ts';

/** A message as it arrived. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: {
    readonly id: string;
    readonly type: string;
    readonly timestamp: string;
    readonly actor: Record<string, unknown> | null;
    readonly data: Record<string, unknown>;
  };
}

/** How a receiver answers a message. */
export type Answer = (response: ServerResponse, message: Received) => void;

/** An endpoint for webhooks on this machine. */
export interface Receiver {
  readonly url: string;
  /** Everything that arrived, in order. */
  readonly received: readonly Received[];
  /** Sets its answer to later messages; the first answer is 204. */
  answerWith(answer: Answer | number): void;
  /** Waits until this many messages have arrived in total. */
  arrived(count: number): Promise<readonly Received[]>;
  /** Waits until the messages that arrived satisfy a condition. */
  until(condition: (received: readonly Received[]) => boolean): Promise<readonly Received[]>;
}

const status =
  (code: number): Answer =>
  (response) =>
    void response.writeHead(code).end();

/** Starts an endpoint, which stops with the test, or with its file. */
export async function startReceiver(options: { tls?: ServerOptions } = {}): Promise<Receiver> {
  const { tls } = options;
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let answer = status(204);
  const server = tls ? createTlsServer(tls) : createServer();
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const message = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        json: JSON.parse(body) as Received['json'],
      };
      received.push(message);
      for (const check of waiting) check();
      answer(response, message);
    });
  });
  // The other side reports a bad certificate, or an answer that was cut off.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );

  const until: Receiver['until'] = (condition) =>
    new Promise((resolve) => {
      const check = () => {
        if (!condition(received)) return;
        waiting.delete(check);
        resolve(received);
      };
      waiting.add(check);
      check();
    });
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith(next) {
      answer = typeof next === 'number' ? status(next) : next;
    },
    arrived: (count) => until(({ length }) => length >= count),
    until,
  };
}

/**
 * Verifies a message as a receiver with `standardwebhooks` does; throws if that would refuse it.
 *
 * @param now The time of verification: the machine's, unless the service's clock was moved.
 */
export function verify(
  secret: string,
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  now = new Date(),
): unknown {
  // The package uses only the machine's clock.
  vi.useFakeTimers({ toFake: ['Date'], now });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}
