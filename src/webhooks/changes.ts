import { setTimeout as delay } from 'node:timers/promises';
import type { Delivery, PrismaClient, Webhook } from '../generated/prisma/client.ts';

const pollMs = 500;
const batchSize = 200;

/**
 * Rows as they change from now on, whichever node changes them: each as it is when it is read, so that a reader who
 * is slow gets the last state and no backlog.
 */
abstract class Changes<Row> implements AsyncGenerator<Row, void, void> {
  protected readonly prisma: PrismaClient;
  readonly #ended = new AbortController();
  #read: Row[] = [];

  protected constructor(prisma: PrismaClient) {
    this.prisma = prisma;
  }

  /** Reads what changed since the last time; undefined where nothing can change any more. */
  protected abstract readMore(): Promise<Row[] | undefined>;

  async next(): Promise<IteratorResult<Row, void>> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const row = this.#read.shift();
      if (row) return { done: false, value: row };
      const read = await this.readMore();
      if (!read) break;
      this.#read = read;
      if (read.length > 0) continue;
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Row, void>> {
    this.#ended.abort();
    this.#read = [];
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<Row, void>> {
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

/** A place among the changes of deliveries: who wrote, then which delivery. */
interface Place {
  readonly xid: string;
  readonly id: string;
}

/** The deliveries of one webhook, until it is deleted: read as the event log is read, below the line where nothing more can appear. */
export class DeliveryChanges extends Changes<Delivery> {
  readonly #webhookId: string;
  #place: Place;

  private constructor(prisma: PrismaClient, webhookId: string, place: Place) {
    super(prisma);
    this.#webhookId = webhookId;
    this.#place = place;
  }

  /** Begins to follow a webhook's deliveries. */
  static async follow(prisma: PrismaClient, webhookId: string): Promise<DeliveryChanges> {
    const [row] = await prisma.$queryRaw<{ xid: string }[]>`
      SELECT "signet_settled_xid"()::text AS "xid"`;
    return new DeliveryChanges(prisma, webhookId, { xid: row?.xid ?? '0', id: '' });
  }

  protected override async readMore(): Promise<Delivery[] | undefined> {
    const places = await this.prisma.$queryRaw<Place[]>`
      SELECT "changedIn"::text AS "xid", "id" FROM "Delivery"
       WHERE "webhookId" = ${this.#webhookId}
         AND ("changedIn", "id") > (${this.#place.xid}::xid8, ${this.#place.id})
         AND "changedIn" < (SELECT "signet_settled_xid"())
       ORDER BY "changedIn", "id" LIMIT ${batchSize}`;
    const last = places.at(-1);
    if (!last) return (await this.#exists()) ? [] : undefined;
    this.#place = last;
    const rows = await this.prisma.delivery.findMany({
      where: { id: { in: places.map(({ id }) => id) } },
    });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return places.flatMap(({ id }) => byId.get(id) ?? []);
  }

  async #exists(): Promise<boolean> {
    const where = { id: this.#webhookId };
    return (await this.prisma.webhook.findUnique({ where, select: { id: true } })) !== null;
  }
}

/** One webhook, until it is deleted. */
export class WebhookChanges extends Changes<Webhook> {
  #last: Webhook | null;

  private constructor(prisma: PrismaClient, webhook: Webhook | null) {
    super(prisma);
    this.#last = webhook;
  }

  /** Begins to follow a webhook; where there is none with that id, nothing comes. */
  static async follow(prisma: PrismaClient, id: string): Promise<WebhookChanges> {
    return new WebhookChanges(prisma, await prisma.webhook.findUnique({ where: { id } }));
  }

  protected override async readMore(): Promise<Webhook[] | undefined> {
    const last = this.#last;
    if (!last) return undefined;
    this.#last = await this.prisma.webhook.findUnique({ where: { id: last.id } });
    if (!this.#last) return undefined;
    const { revision, updatedAt } = this.#last;
    const isSame = revision === last.revision && updatedAt.getTime() === last.updatedAt.getTime();
    return isSame ? [] : [this.#last];
  }
}
