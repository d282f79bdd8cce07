import { type Client, createClient } from 'graphql-ws';
import { hasEnded, sessionEnded } from '../session/ended.ts';
import { createStore } from '../store.ts';
import { endpoint } from './send.ts';

/** Close code of a session that has ended. */
const sessionOver = 4403;
const pongWithinMs = 5_000;
const acknowledgedWithinMs = 10_000;

/** The state of the live connection. */
export type Connection = 'connecting' | 'live' | 'lost';

/** The current state of the live connection. */
export const connection = createStore<Connection>('connecting');

let waitingForPong: ReturnType<typeof setTimeout> | undefined;
let waitIsOver = () => {};

let client: Client | undefined;

/** The tab's one WebSocket. It stays open, because its close code reports the end of the session. */
export const socket = (): Client => {
  client ??= connect();
  return client;
};

const connect = () => {
  const connected = createClient({
    url: endpoint,
    lazy: false,
    onNonLazyError() {},
    keepAlive: 10_000,
    connectionAckWaitTimeout: acknowledgedWithinMs,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: (problem) => !isClosedWith(problem, sessionOver),
    // Retries after one second at first, half a minute at most, and at once when the network is back.
    retryWait: (retries) =>
      new Promise((resolve) => {
        const waitMs =
          Math.min(30_000, 500 * 2 ** Math.min(retries, 6)) * (0.75 + Math.random() / 2);
        const timer = setTimeout(resolve, waitMs);
        waitIsOver = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    on: {
      connected: () => connection.set('live'),
      closed: (event) => {
        if (connected !== client) return;
        clearTimeout(waitingForPong);
        connection.set('lost');
        if (isClosedWith(event, sessionOver)) sessionEnded();
      },
      ping: (received) => {
        if (received) return;
        waitingForPong = setTimeout(() => {
          // `terminate` and not `close`, which would wait for the other side on a dead connection.
          client?.terminate();
        }, pongWithinMs);
      },
      pong: (received) => {
        if (received) clearTimeout(waitingForPong);
      },
    },
  });
  return connected;
};

// The one before has given up, or would be closed: it belongs to the session that has ended.
hasEnded.subscribe(() => {
  if (hasEnded.get() || !client) return;
  void client.dispose();
  client = connect();
});

addEventListener('online', () => waitIsOver());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') waitIsOver();
});

const isClosedWith = (event: unknown, code: number): boolean =>
  typeof event === 'object' && event !== null && 'code' in event && event.code === code;
