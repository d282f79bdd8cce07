import { type Client, createClient } from 'graphql-ws';
import { sessionEnded } from '../session/ended.ts';
import { createStore } from '../store.ts';
import { endpoint } from './send.ts';

/** Close code of a session that has ended. */
const sessionOver = 4403;
const pongWithinMs = 5_000;
const acknowledgedWithinMs = 10_000;

/** How the live connection is. */
export type Connection = 'connecting' | 'live' | 'lost';

/** How the live connection is now. */
export const connection = createStore<Connection>('connecting');

let waitingForPong: ReturnType<typeof setTimeout> | undefined;
let waitIsOver = () => {};

let client: Client | undefined;

/** The one connection of this tab for everything live. It stays open: its end tells that the session has ended. */
export const socket = (): Client => {
  client ??= connect();
  return client;
};

const connect = () =>
  createClient({
    url: endpoint,
    lazy: false,
    onNonLazyError() {},
    keepAlive: 10_000,
    connectionAckWaitTimeout: acknowledgedWithinMs,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: (problem) => !isClosedWith(problem, sessionOver),
    // A second after the first break, half a minute at most, and at once when the network comes back.
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
        clearTimeout(waitingForPong);
        connection.set('lost');
        if (isClosedWith(event, sessionOver)) sessionEnded();
      },
      ping: (received) => {
        if (received) return;
        waitingForPong = setTimeout(() => {
          // Not closed: where nothing arrives, the other side's part in that is waited for as well.
          client?.terminate();
        }, pongWithinMs);
      },
      pong: (received) => {
        if (received) clearTimeout(waitingForPong);
      },
    },
  });

addEventListener('online', () => waitIsOver());
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') waitIsOver();
});

const isClosedWith = (event: unknown, code: number): boolean =>
  typeof event === 'object' && event !== null && 'code' in event && event.code === code;
