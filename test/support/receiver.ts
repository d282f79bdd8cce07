import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished, vi } from 'vitest';

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
  /** How it answers from now on; at first with 204. */
  answerWith(answer: Answer | number): void;
  /** Waits until so many messages have arrived in all. */
  arrived(count: number): Promise<readonly Received[]>;
  /** Waits until the messages that arrived satisfy a condition. */
  until(condition: (received: readonly Received[]) => boolean): Promise<readonly Received[]>;
}

const status =
  (code: number): Answer =>
  (response) =>
    void response.writeHead(code).end();

/** Starts an endpoint, which ends with the test. */
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
  // A bad certificate, or an answer that was cut off, is for the other side to report.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
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
 * Verifies a message as a receiver built on `standardwebhooks` does; it throws where that would refuse it.
 *
 * @param now When it is looked at: by the machine's clock unless the service's was moved.
 */
export function verify(
  secret: string,
  { headers, body }: Pick<Received, 'headers' | 'body'>,
  now = new Date(),
): unknown {
  // The package knows no clock but the machine's.
  vi.useFakeTimers({ toFake: ['Date'], now });
  try {
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  } finally {
    vi.useRealTimers();
  }
}
