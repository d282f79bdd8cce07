import { type Client, type CloseCode, createClient } from 'graphql-ws';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Database } from '../../../src/db/database.ts';
import { encodePosition, logStart } from '../../../src/events/position.ts';
import { settled } from '../log.ts';

/** An event as a subscriber gets it. */
interface EventReceived {
  readonly id: string;
  readonly cursor: string;
  readonly name: string;
  readonly data: Record<string, unknown>;
  readonly [field: string]: unknown;
}

/** Errors of a subscription, as received. */
type ErrorsReceived = readonly {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}[];

/** The state of one subscription. */
export interface Subscriber {
  /** In the order of arrival. */
  readonly events: readonly EventReceived[];
  readonly errors: ErrorsReceived;
  readonly isComplete: boolean;
  /** The last cursor received, to continue from. */
  readonly cursor: string | undefined;
  /** Resolves when the condition holds; it is checked after every message. */
  until(condition: (subscriber: Subscriber) => boolean): Promise<void>;
  /** Resolves with all events, once this many have arrived. */
  received(count: number): Promise<readonly EventReceived[]>;
  /** Ends the subscription; the connection stays open for others. */
  unsubscribe(): void;
}

/** A connection, its client, and how it ended. */
export interface Connection {
  readonly client: Client;
  readonly closed: Promise<{ readonly code: CloseCode | number; readonly reason: string }>;
  close(): Promise<void>;
}

interface Endpoint {
  readonly url: string;
  readonly token?: string | undefined;
}

/** The default document of a subscriber. */
export const eventsDocument = `
  subscription Events($types: [EventType!], $after: String) {
    events(types: $types, after: $after) { id cursor name data }
  }`;

/** Opens a WebSocket as the graphql-ws client does, without its retries; it closes with the test. */
export function connect({ url, token }: Endpoint): Connection {
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  const client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    lazy: false,
    retryAttempts: 0,
    onNonLazyError: () => undefined,
    connectionParams: token === undefined ? {} : { authorization: `Bearer ${token}` },
    on: { closed: (event) => closed.resolve(event as { code: number; reason: string }) },
  });
  const close = async () => {
    await client.dispose();
  };
  onTestFinished(close);
  return { client, closed: closed.promise, close };
}

/**
 * A cursor before every later event.
 *
 * @param database If given, nothing older follows the cursor: it waits until earlier commits are settled.
 */
export async function logEnd(
  { url, token }: Endpoint,
  database?: Pick<Database, 'prisma'>,
): Promise<string> {
  if (database) await settled(database);
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query: '{ events(last: 1) { edges { cursor } } }' }),
  });
  const { data } = (await response.json()) as {
    data: { events: { edges: { cursor: string }[] } };
  };
  return data.events.edges.at(-1)?.cursor ?? encodePosition(logStart);
}

/**
 * Subscribes to the event log. Without `after` it starts at the moment when the service registers it, which a client
 * does not learn: pass {@link logEnd} if no event may be missed.
 */
export function subscribe(
  { client }: Pick<Connection, 'client'>,
  variables: {
    readonly types?: readonly string[] | null;
    readonly after?: string | undefined;
  } = {},
  query = eventsDocument,
): Subscriber {
  const events: EventReceived[] = [];
  let errors: ErrorsReceived = [];
  let isComplete = false;
  const waiting = new Set<() => void>();
  const changed = () => {
    for (const look of waiting) look();
  };
  const unsubscribe = client.subscribe<{ events: EventReceived }>(
    { query, variables },
    {
      next({ data, errors: failures }) {
        if (data?.events) events.push(data.events);
        if (failures) errors = [...errors, ...(failures as unknown as ErrorsReceived)];
        changed();
      },
      error(failure) {
        if (Array.isArray(failure)) errors = [...errors, ...(failure as ErrorsReceived)];
        changed();
      },
      complete() {
        isComplete = true;
        changed();
      },
    },
  );
  const subscriber: Subscriber = {
    events,
    get errors() {
      return errors;
    },
    get isComplete() {
      return isComplete;
    },
    get cursor() {
      return events.at(-1)?.cursor;
    },
    until: (condition) =>
      new Promise((resolve) => {
        const look = () => {
          if (!condition(subscriber)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async received(count) {
      await subscriber.until(() => events.length >= count);
      return events;
    },
    unsubscribe,
  };
  return subscriber;
}
