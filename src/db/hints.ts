import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectStated, type OpenClient } from './postgresql.ts';

/** What a hint is about: the event log, the queues of deliveries and messages, or attempts of deliveries. */
export type HintTopic = (typeof topics)[number];

/**
 * Tells other processes that something new was committed. A hint may be late, repeated or lost, so whoever waits for
 * one also polls.
 */
export interface Hints {
  /** The longest time that a listener may wait between two polls. */
  readonly pollMs: number;
  /** Sends a hint to every listener of the topic; those in this process get it at once. */
  send(topic: HintTopic): void;
  /** Calls the listener on each hint about the topic, until the returned function is called. */
  listen(topic: HintTopic, listener: () => void): () => void;
  close(): Promise<void>;
}

/** Hints within one process. None can be lost, so polls only cover an error between a commit and its hint. */
export function localHints(): Hints {
  const listeners = {
    log: new Set<() => void>(),
    queues: new Set<() => void>(),
    deliveries: new Set<() => void>(),
  };
  return {
    pollMs: 60_000,
    send(topic) {
      for (const listener of listeners[topic]) listener();
    },
    listen(topic, listener) {
      const entry = () => listener();
      listeners[topic].add(entry);
      return () => void listeners[topic].delete(entry);
    },
    async close() {
      for (const topic of topics) listeners[topic].clear();
    },
  };
}

const topics = ['log', 'queues', 'deliveries'] as const;
const channelOf = (topic: HintTopic) => `signet_${topic}`;
const topicsByChannel = new Map<string, HintTopic>(
  topics.map((topic) => [channelOf(topic), topic]),
);
const reconnectAfterMs = 1_000;
/** The pause between two hints to other processes. Hints that come meanwhile become one. */
const restMs = 5;

/**
 * Hints between all processes on one PostgreSQL, over a separate connection. It is opened for the first listener, and
 * again when it breaks.
 *
 * @param onError Gets the error of a broken connection.
 */
export function notifyingHints(open: OpenClient, onError: (error: Error) => void): Hints {
  const local = localHints();
  const closing = new AbortController();
  let connecting: Promise<void> | undefined;
  let connection: pg.Client | undefined;
  let isSending = false;
  const wanted = new Set<HintTopic>();

  async function connect(): Promise<void> {
    const client = open('signet hints');
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    client.on('error', onError);
    try {
      await connectStated(client);
      // Listeners in this process already know.
      const self = (client as pg.Client & { readonly processID: number }).processID;
      client.on('notification', ({ processId, channel }) => {
        const topic = topicsByChannel.get(channel);
        if (topic && processId !== self) local.send(topic);
      });
      await client.query(topics.map((topic) => `LISTEN ${channelOf(topic)}`).join(';'));
      if (closing.signal.aborted) return;
      connection = client;
      // Something may have been committed while nobody listened.
      for (const topic of topics) local.send(topic);
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
      while (wanted.size > 0 && connection) {
        const statements = [...wanted].map((topic) => `NOTIFY ${channelOf(topic)}`);
        wanted.clear();
        await connection.query(statements.join(';'));
        await delay(restMs, undefined, { signal: closing.signal });
      }
    } catch (error) {
      if (!closing.signal.aborted) onError(error as Error);
    } finally {
      isSending = false;
    }
  }

  return {
    pollMs: 1_000,
    send(topic) {
      local.send(topic);
      wanted.add(topic);
      void notify();
    },
    listen(topic, listener) {
      connecting ??= stayConnected();
      return local.listen(topic, listener);
    },
    async close() {
      closing.abort();
      await connection?.end();
      await connecting;
      await local.close();
    },
  };
}
