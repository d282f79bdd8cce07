import { setTimeout as delay } from 'node:timers/promises';
import type { Delivery, PrismaClient } from '../generated/prisma/client.ts';

const pollMs = 500;
const batchSize = 200;

/** A place among the changes of deliveries: who wrote, then which delivery. */
interface Place {
  readonly xid: string;
  readonly id: string;
}

/**
 * The deliveries of one webhook as they change from now on, whichever node changes them: each as it is when it is
 * read, so that a reader who is slow gets the last state and no backlog. It reads as the event log is read, below
 * the line where nothing more can appear.
 */
export class DeliveryChanges implements AsyncGenerator<Delivery, void, void> {
  readonly #prisma: PrismaClient;
  readonly #webhookId: string;
  readonly #ended = new AbortController();
  #place: Place;
  #read: Delivery[] = [];

  private constructor(prisma: PrismaClient, webhookId: string, place: Place) {
    this.#prisma = prisma;
    this.#webhookId = webhookId;
    this.#place = place;
  }

  /** Begins to follow a webhook's deliveries. */
  static async follow(prisma: PrismaClient, webhookId: string): Promise<DeliveryChanges> {
    const [row] = await prisma.$queryRaw<{ xid: string }[]>`
      SELECT "signet_settled_xid"()::text AS "xid"`;
    return new DeliveryChanges(prisma, webhookId, { xid: row?.xid ?? '0', id: '' });
  }

  async next(): Promise<IteratorResult<Delivery, void>> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const delivery = this.#read.shift();
      if (delivery) return { done: false, value: delivery };
      await this.#readMore();
      if (this.#read.length > 0) continue;
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    }
    return { done: true, value: undefined };
  }

  async #readMore(): Promise<void> {
    const places = await this.#prisma.$queryRaw<Place[]>`
      SELECT "changedIn"::text AS "xid", "id" FROM "Delivery"
       WHERE "webhookId" = ${this.#webhookId}
         AND ("changedIn", "id") > (${this.#place.xid}::xid8, ${this.#place.id})
         AND "changedIn" < (SELECT "signet_settled_xid"())
       ORDER BY "changedIn", "id" LIMIT ${batchSize}`;
    const last = places.at(-1);
    if (!last) return;
    this.#place = last;
    const rows = await this.#prisma.delivery.findMany({
      where: { id: { in: places.map(({ id }) => id) } },
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    this.#read = places.flatMap(({ id }) => byId.get(id) ?? []);
  }

  async return(): Promise<IteratorResult<Delivery, void>> {
    this.#ended.abort();
    this.#read = [];
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<Delivery, void>> {
    await this.return();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
