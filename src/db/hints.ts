import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/**
 * Tells other processes that something new was committed. A hint may be late, repeated or lost, so whoever waits for
 * one also polls.
 */
export interface Hints {
  /** How long whoever waits for a hint may wait until the next poll. */
  readonly pollMs: number;
  /** Sends a hint to every listener; those in this process get it at once. */
  send(): void;
  /** Calls the listener on each hint, until the returned function is called. */
  listen(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Hints within one process, where none can be lost: polls only make up for a fault between a commit and its hint. */
export function localHints(): Hints {
  const listeners = new Set<() => void>();
  return {
    pollMs: 60_000,
    send() {
      for (const listener of listeners) listener();
    },
    listen(listener) {
      const entry = () => listener();
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
    async close() {
      listeners.clear();
    },
  };
}

const channel = 'signet_hint';
const reconnectAfterMs = 1_000;

/**
 * Hints between all processes on one PostgreSQL, over a separate connection. It is opened for the first listener, and
 * again when it breaks.
 *
 * @param onError Gets the error of a broken connection.
 */
export function notifyingHints(url: string, onError: (error: Error) => void): Hints {
  const local = localHints();
  const closing = new AbortController();
  let connecting: Promise<void> | undefined;
  let connection: pg.Client | undefined;
  let isSending = false;
  let isWanted = false;

  async function connect(): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'signet hints',
      keepAlive: true,
    });
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    client.on('error', onError);
    try {
      await client.connect();
      // Listeners in this process already know.
      const self = (client as pg.Client & { readonly processID: number }).processID;
      client.on('notification', ({ processId }) => {
        if (processId !== self) local.send();
      });
      await client.query(`LISTEN ${channel}`);
      if (closing.signal.aborted) return;
      connection = client;
      // Something may have been committed while nobody listened.
      local.send();
      await ended;
    } finally {
      connection = undefined;
      await client.end().catch(onError);
    }
  }

  async function stayConnected(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await connect();
      } catch (error) {
        onError(error as Error);
      }
      await delay(reconnectAfterMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  // One at a time: one NOTIFY covers all commits since the last. It runs in its own transaction, because inside
  // another it takes a lock that every writer of the database waits for.
  async function notify(): Promise<void> {
    if (isSending) return;
    isSending = true;
    try {
      while (isWanted && connection) {
        isWanted = false;
        await connection.query(`NOTIFY ${channel}`);
      }
    } catch (error) {
      if (!closing.signal.aborted) onError(error as Error);
    } finally {
      isSending = false;
    }
  }

  return {
    pollMs: 1_000,
    send() {
      local.send();
      isWanted = true;
      void notify();
    },
    listen(listener) {
      connecting ??= stayConnected();
      return local.listen(listener);
    },
    async close() {
      closing.abort();
      await connection?.end();
      await connecting;
      await local.close();
    },
  };
}
