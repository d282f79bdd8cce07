import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  print,
  visit,
} from 'graphql';
import { Counter, Gauge } from 'prom-client';
import type { Caller } from '../auth/caller.ts';
import type { Services } from '../auth/context.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { newTraceId } from '../ids.ts';
import type { EventName } from './catalogue.ts';
import {
  assertRetained,
  comparePositions,
  type EventPosition,
  type LoggedEvent,
  readEvents,
  takeSnapshot,
} from './log.ts';
import type { Tail } from './tail.ts';

/** Where the results of one subscription go. */
export interface ResultSink {
  /** Sends results, each as JSON. */
  push(results: readonly string[]): void;
  /** What was sent and has not left this process yet. */
  readonly backlogBytes: number;
  /** Resolves once what was sent so far has left, or never will. */
  flushed(): Promise<void>;
  /** Ends it because its reader fell behind: to come again with the last cursor it saw. */
  drop(): void;
  /** Ends it with an error. */
  fail(error: unknown): void;
}

/** A subscription to the log: a document on the field `events`, and who sent it. */
export interface EventOperation {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName: string | null | undefined;
  readonly variableValues: Readonly<Record<string, unknown>> | null | undefined;
  readonly caller: Caller;
  /** Absent: every type. */
  readonly types: readonly EventName[] | undefined;
  /** Absent: from now on. */
  readonly after: EventPosition | undefined;
}

/** Serves subscriptions to the log from the process' one tail. */
export interface EventFeed {
  /**
   * Begins a subscription: what lies behind its cursor first, then what comes, each event once and in order.
   *
   * @returns Ends it.
   */
  open(operation: EventOperation, sink: ResultSink): () => void;
}

/** Bytes that may wait for one reader; who lets more wait is dropped. */
const maxBacklogBytes = 1024 * 1024;
/** Events that may wait to be executed for one group of subscribers. */
const maxQueuedEvents = 10_000;
const pageSize = 100;
/** Events that are executed together. */
const sliceSize = 50;
/** Bytes that are sent to each reader without a look at its socket in between. */
const maxBatchBytes = 256 * 1024;

/** A result, and the place of its event. */
interface Placed {
  readonly position: EventPosition;
  readonly result: string;
}

/**
 * Makes the feed.
 *
 * @param format Masks and serializes what an execution came to; the same as for queries.
 */
export function createFeed(
  services: Services,
  tail: Tail,
  format: (result: ExecutionResult, traceId: string) => string,
): EventFeed {
  const { database, log, metrics } = services;
  const groups = new Map<string, Group>();
  let subscribers = 0;

  new Gauge({
    name: 'signet_subscribers',
    help: 'Subscriptions to the event log that are open in this process.',
    registers: [metrics],
    collect() {
      this.set(subscribers);
    },
  });
  new Gauge({
    name: 'signet_subscriber_groups',
    help: 'Sets of subscribers that share one execution.',
    registers: [metrics],
    collect() {
      this.set(groups.size);
    },
  });
  const dropped = new Counter({
    name: 'signet_dropped_subscribers_total',
    help: 'Subscriptions that were ended because their reader fell behind.',
    registers: [metrics],
  });

  // One context for the events that are executed together: what they load is loaded together, and never stale.
  async function resultsOf(
    operation: EventOperation,
    events: readonly LoggedEvent[],
  ): Promise<string[]> {
    const { schema, document, operationName, variableValues, caller } = operation;
    const traceId = newTraceId();
    const contextValue: GraphQLContext = { ...services, caller, actor: caller.actor, traceId };
    const results = await Promise.all(
      events.map((rootValue) =>
        execute({ schema, document, operationName, variableValues, rootValue, contextValue }),
      ),
    );
    return results.map((result) => format(result, traceId));
  }

  /** Subscribers that get the same results: one execution an event, and one serialized result, for all of them. */
  class Group {
    readonly #operation: EventOperation;
    readonly #members = new Set<Member>();
    readonly #leave: () => void;
    #queue: LoggedEvent[] = [];
    #isRunning = false;
    readonly key: string;

    constructor(key: string, operation: EventOperation) {
      this.key = key;
      this.#operation = operation;
      const types = operation.types && new Set(operation.types);
      this.#leave = tail.subscribe((events) => {
        for (const event of events) if (!types || types.has(event.type)) this.#queue.push(event);
        if (this.#queue.length > maxQueuedEvents) this.#dropAll();
        else void this.#run();
      });
    }

    add(member: Member): void {
      this.#members.add(member);
    }

    remove(member: Member): void {
      this.#members.delete(member);
      if (this.#members.size > 0) return;
      this.#leave();
      this.#queue = [];
      if (groups.get(this.key) === this) groups.delete(this.key);
    }

    async #run(): Promise<void> {
      if (this.#isRunning) return;
      this.#isRunning = true;
      try {
        while (this.#queue.length > 0) {
          const events = this.#queue.splice(0, sliceSize);
          const results = await resultsOf(this.#operation, events);
          const placed = results.flatMap((result, index) => {
            const event = events[index];
            return event ? [{ position: event.position, result }] : [];
          });
          for (const batch of batches(placed)) {
            for (const member of this.#members) member.live(batch);
            await nextTurn();
          }
        }
      } catch (error) {
        for (const member of this.#members) member.fail(error);
      } finally {
        this.#isRunning = false;
      }
    }

    #dropAll(): void {
      for (const member of this.#members) member.drop();
    }
  }

  class Member {
    readonly #operation: EventOperation;
    readonly #sink: ResultSink;
    #group: Group | undefined;
    /** What came while it caught up; undefined once it has. */
    #waiting: Placed[] | undefined = [];
    #waitingBytes = 0;
    /** What it has got already, or is not to get; undefined once nothing of that can come any more. */
    #isKnown: ((position: EventPosition) => boolean) | undefined;
    #isOpen = true;

    constructor(operation: EventOperation, sink: ResultSink) {
      this.#operation = operation;
      this.#sink = sink;
      subscribers += 1;
      this.#start().catch((error: unknown) => this.fail(error));
    }

    async #start(): Promise<void> {
      const { after } = this.#operation;
      if (after) await this.#catchUp(after);
      else await this.#beginNow();
      if (!this.#isOpen) return;
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const batch of batches(waiting)) this.live(batch);
    }

    async #catchUp(after: EventPosition): Promise<void> {
      // Long ago: page by page, as fast as the reader takes it.
      let cursor = await this.#readPages(after);
      if (!this.#isOpen) return;
      // Joined, it misses nothing any more: what it has still to read is what settled during the last page.
      this.#join();
      cursor = await this.#readPages(cursor);
      this.#isKnown = (position) => {
        const isKnown = comparePositions(position, cursor) <= 0;
        if (!isKnown) this.#isKnown = undefined;
        return isKnown;
      };
    }

    async #readPages(after: EventPosition): Promise<EventPosition> {
      const { types } = this.#operation;
      for (let cursor = after; ; ) {
        const events = await readEvents(database.prisma, {
          filter: { types },
          after: cursor,
          take: pageSize,
        });
        await assertRetained(database.prisma, cursor);
        const results = await resultsOf(this.#operation, events);
        if (!this.#isOpen) return cursor;
        this.#sink.push(results);
        cursor = events.at(-1)?.position ?? cursor;
        if (events.length < pageSize) return cursor;
        await this.#sink.flushed();
      }
    }

    async #beginNow(): Promise<void> {
      this.#join();
      // The tail may still have to hand out what was committed before this subscription came.
      const snapshot = await takeSnapshot(database.prisma);
      this.#isKnown = (position) => {
        if (snapshot.isBefore(position)) this.#isKnown = undefined;
        return snapshot.includes(position);
      };
    }

    #join(): void {
      const key = groupKey(this.#operation);
      let group = groups.get(key);
      if (!group) {
        group = new Group(key, this.#operation);
        groups.set(key, group);
      }
      group.add(this);
      this.#group = group;
    }

    live(batch: readonly Placed[]): void {
      if (!this.#isOpen) return;
      if (this.#waiting) {
        this.#waiting.push(...batch);
        for (const { result } of batch) this.#waitingBytes += result.length;
        if (this.#waitingBytes > maxBacklogBytes) this.drop();
        return;
      }
      const results: string[] = [];
      for (const { position, result } of batch) {
        if (!this.#isKnown?.(position)) results.push(result);
      }
      if (results.length === 0) return;
      if (this.#sink.backlogBytes > maxBacklogBytes) this.drop();
      else this.#sink.push(results);
    }

    drop(): void {
      if (!this.#isOpen) return;
      this.close();
      dropped.inc();
      this.#sink.drop();
    }

    fail(error: unknown): void {
      if (!this.#isOpen) return;
      this.close();
      this.#sink.fail(error);
    }

    close(): void {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      this.#waiting = [];
      subscribers -= 1;
      this.#group?.remove(this);
    }
  }

  return {
    open(operation, sink) {
      const member = new Member(operation, sink);
      log.debug({ actor: operation.caller.actor.id }, 'a subscription to the event log began');
      return () => member.close();
    },
  };
}

function* batches(placed: readonly Placed[]): Generator<readonly Placed[]> {
  let batch: Placed[] = [];
  let bytes = 0;
  for (const entry of placed) {
    batch.push(entry);
    bytes += entry.result.length;
    if (bytes < maxBatchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

const documentKeys = new WeakMap<DocumentNode, { text: string; variables: string[] }>();

// Where a subscriber began does not change what it gets, and each has a cursor of its own after a reconnect.
function documentKey(document: DocumentNode) {
  const known = documentKeys.get(document);
  if (known) return known;
  const stripped = {
    ...document,
    definitions: document.definitions.map((definition) =>
      definition.kind === Kind.OPERATION_DEFINITION ? withoutCursor(definition) : definition,
    ),
  };
  const variables = new Set<string>();
  visit(stripped, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void variables.add(name.value),
  });
  const used = visit(stripped, {
    VariableDefinition: ({ variable }) => (variables.has(variable.name.value) ? undefined : null),
  });
  const key = { text: print(used), variables: [...variables].sort() };
  documentKeys.set(document, key);
  return key;
}

const withoutCursor = (operation: OperationDefinitionNode): OperationDefinitionNode => ({
  ...operation,
  selectionSet: {
    ...operation.selectionSet,
    selections: operation.selectionSet.selections.map((selection) =>
      selection.kind === Kind.FIELD
        ? {
            ...selection,
            arguments: selection.arguments?.filter(({ name }) => name.value !== 'after'),
          }
        : selection,
    ),
  },
});

// The rights and not the person: a field of an event must not depend on more than the scopes of who reads it.
function groupKey({ document, operationName, variableValues, caller }: EventOperation): string {
  const { text, variables } = documentKey(document);
  return JSON.stringify([
    text,
    operationName ?? null,
    // Absent, a variable has its default; null is a value of its own.
    variables.map((name) =>
      variableValues && name in variableValues ? [variableValues[name]] : [],
    ),
    [...caller.scopes].sort(),
  ]);
}
