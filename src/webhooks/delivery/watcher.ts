import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../db/database.ts';
import { createLoop } from '../../dispatch/loop.ts';
import { settledLine } from '../../events/consumers.ts';
import type { Services } from '../../services.ts';

/** A position among the changes of deliveries: the transaction that wrote, then the delivery. */
export interface ChangePosition {
  /** A transaction id (xid8), in decimal. */
  readonly xid: string;
  readonly id: string;
}

/** The pause between two looks. What changes meanwhile is found in one. */
const restMs = 100;

interface Waiting {
  readonly webhookId: string;
  readonly after: ChangePosition;
  readonly resolve: (line?: string) => void;
}

/**
 * Waits for changes of deliveries; one for each process. One statement looks for all that wait: at a hint from any node,
 * and at the pace of polls, as hints can be lost. While nobody waits it asks the database nothing.
 */
class Watcher {
  readonly #database: Database;
  readonly #loop: ReturnType<typeof createLoop>;
  readonly #waiting = new Set<Waiting>();
  /** The settled line as it was found last. It can move back, but what was below it stays settled. */
  #line = '0';
  #stopListening = () => {};

  constructor(database: Database, log: Services['log']) {
    this.#database = database;
    this.#loop = createLoop(
      () => this.#look(),
      (error) => log.error({ err: error }, 'changes of deliveries could not be looked for'),
    );
  }

  /**
   * Resolves once a delivery of the webhook has changed after a position.
   *
   * @returns The settled line: changes by earlier transactions can be read. Undefined if the webhook is gone, or at the
   * signal.
   */
  async changeAfter(
    webhookId: string,
    after: ChangePosition,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const waiting = { webhookId, after, resolve };
    const end = () => resolve(undefined);
    signal.addEventListener('abort', end);
    if (this.#waiting.size === 0) this.#listen();
    this.#waiting.add(waiting);
    this.#loop.wake();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', end);
      this.#waiting.delete(waiting);
      if (this.#waiting.size === 0) this.#stopListening();
    }
  }

  #listen(): void {
    const { hints } = this.#database;
    const wake = () => this.#loop.wake();
    const stops = [hints.listen('queues', wake), hints.listen('deliveries', wake)];
    const poll = setInterval(wake, hints.pollMs);
    this.#stopListening = () => {
      clearInterval(poll);
      for (const stop of stops) stop();
    };
  }

  async #look(): Promise<void> {
    const waiting = [...this.#waiting];
    if (waiting.length === 0) return;
    const found = await this.#database.prisma.$queryRaw<
      { line: string; exists: boolean; isSettled: boolean | null }[]
    >`
      WITH "line" AS MATERIALIZED (SELECT greatest(${settledLine}, ${this.#line}::xid8) AS "xid")
      SELECT l."xid"::text AS "line",
             EXISTS (SELECT 1 FROM "Webhook" h WHERE h."id" = w."webhookId") AS "exists",
             (SELECT d."changedIn" FROM "Delivery" d
               WHERE d."webhookId" = w."webhookId" AND (d."changedIn", d."id") > (w."xid"::xid8, w."id")
               ORDER BY d."changedIn", d."id" LIMIT 1) < l."xid" AS "isSettled"
        FROM "line" l, unnest(${waiting.map(({ webhookId }) => webhookId)}::text[],
                              ${waiting.map(({ after }) => after.xid)}::text[],
                              ${waiting.map(({ after }) => after.id)}::text[])
                         WITH ORDINALITY AS w ("webhookId", "xid", "id", "place")
       ORDER BY w."place"`;
    found.forEach(({ line, exists, isSettled }, place) => {
      this.#line = line;
      if (isSettled) waiting[place]?.resolve(line);
      else if (!exists) waiting[place]?.resolve();
    });
    // The transaction that holds the line may end without a hint.
    if (found.some(({ isSettled }) => isSettled === false)) this.#loop.wake();
    await delay(restMs);
  }
}

const watchers = new WeakMap<Database, Watcher>();

/** The watcher of this process. */
export function watcherOf(database: Database, log: Services['log']): Watcher {
  const watcher = watchers.get(database) ?? new Watcher(database, log);
  watchers.set(database, watcher);
  return watcher;
}
