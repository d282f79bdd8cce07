import type { Database } from '../../db/database.ts';
import { runSql } from '../../db/sql.ts';
import { quietTransaction, sqlOf } from '../../db/transaction.ts';
import type { UnderWay } from '../../dispatch/work.ts';
import { findEventTexts, type LoggedText } from '../../events/log.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import type { TestEvent } from './event.ts';

/** A delivery that belongs to this node until its lease runs out. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  /** The webhook's revision at the claim. */
  readonly revision: number;
  readonly attemptCount: number;
  readonly isTest: boolean;
  /** The result of the webhook's query, from the first attempt. */
  readonly queryResult: string | null;
  /** Null if the event was purged. */
  readonly event: ClaimedEvent | null;
}

/** An event as a delivery needs it. */
export type ClaimedEvent = LoggedText;

type ClaimedRow = Omit<ClaimedDelivery, 'event'> & {
  readonly eventId: string;
  readonly testEvent: string | null;
};

/** How long a claim lasts without a renewal, and so how long the deliveries of a dead node wait. */
export const leaseMs = 15_000;

// Each webhook may have this many deliveries under way on a node, even when others fill it.
const freePlaces = 2;

/** The SQL condition that a node has claimed the delivery `d`. */
export const isLeased = (now: Date) => Prisma.sql`
  EXISTS (SELECT 1 FROM "DeliveryLease" l
           WHERE l."webhookId" = d."webhookId" AND l."until" > ${now} AND d."id" = ANY(l."deliveryIds"))`;

/** The SQL condition that the delivery `d` is due or being posted. */
export const isDue = (now: Date) =>
  Prisma.sql`d."status" = 'PENDING' AND d."nextAttemptAt" <= ${now}`;

/**
 * Claims due deliveries. Over all nodes, a webhook never has more than its `maxInFlight` under way.
 *
 * @param options.node The claiming node, by a name that no other process ever has.
 * @param options.underWay The deliveries that this node already has, by webhook: their ids, and how many were posted
 * but may not be recorded yet.
 * @param options.webhookIds Claims only for these webhooks; absent: for all.
 * @param options.room The most deliveries to claim. Webhooks take turns: the first of each comes before the second of
 * any. Webhooks with fewer than two under way get up to two beyond this limit.
 * @returns The claimed deliveries, and the webhooks with due deliveries that another transaction had locked.
 */
export async function claimDeliveries(
  database: Database,
  options: {
    readonly node: string;
    readonly now: Date;
    readonly underWay: Readonly<Record<string, UnderWay>>;
    readonly webhookIds: readonly string[] | undefined;
    readonly room: number;
  },
): Promise<{ claimed: ClaimedDelivery[]; missed: string[] }> {
  const { node, now, underWay, webhookIds, room } = options;
  const until = new Date(now.getTime() + leaseMs);
  const those = webhookIds ? Prisma.sql`w."id" = ANY(${[...webhookIds]})` : Prisma.sql`TRUE`;
  const due = Prisma.sql`d."webhookId" = w."id" AND ${isDue(now)}`;
  // This order has an index, and with it PostgreSQL always uses that index to find the first row. Without an order, or
  // for EXISTS, it may read the whole table.
  const inLine = Prisma.sql`ORDER BY d."nextAttemptAt", d."id"`;
  // A first statement locks the webhooks. The second then sees every claim that other nodes committed on them and
  // counts correctly. A setting carries the list between the two, which saves a round trip. No commit waits for the
  // disk: a claim lost in a crash of the database is the same as an expired one. The second statement reads at most
  // `limit` deliveries of a webhook: those under way stand first in line.
  const lock = Prisma.sql`
      WITH "wanted" AS MATERIALIZED (
        SELECT w."id" FROM "Webhook" w
         WHERE ${those}
           AND (w."enabled" AND (SELECT TRUE FROM "Delivery" d WHERE ${due} ${inLine} LIMIT 1)
                OR (SELECT TRUE FROM "Delivery" d WHERE ${due} AND d."testEvent" IS NOT NULL LIMIT 1))
      ), "locked" AS MATERIALIZED (
        SELECT w."id" FROM "Webhook" w WHERE w."id" IN (SELECT "id" FROM "wanted") FOR NO KEY UPDATE SKIP LOCKED
      )
      SELECT set_config('signet.claiming', (SELECT coalesce(string_agg("id", ','), '') FROM "locked"), true),
             set_config('synchronous_commit', 'off', true),
             ARRAY(SELECT "id" FROM "wanted" EXCEPT SELECT "id" FROM "locked") AS "missed"`;
  const claim = Prisma.sql`
      WITH "claiming" AS (
        SELECT w."id", w."enabled", w."revision", w."maxInFlight" + o."ended" AS "limit", o."own", o."ended",
               ARRAY(SELECT unnest(l."deliveryIds") FROM "DeliveryLease" l
                      WHERE l."webhookId" = w."id" AND l."node" <> ${node} AND l."until" > ${now}) AS "others"
          FROM (SELECT w.*, ${JSON.stringify(underWay)}::jsonb->w."id" AS "underWay" FROM "Webhook" w
                 WHERE w."id" = ANY(string_to_array(current_setting('signet.claiming'), ','))) w
         CROSS JOIN LATERAL (
           SELECT ARRAY(SELECT jsonb_array_elements_text(w."underWay"->'ids')) AS "own",
                  coalesce((w."underWay"->'ended')::int, 0) AS "ended") o
      ), "due" AS (
        SELECT * FROM (
          SELECT d.*, w."revision", row_number() OVER (ORDER BY d."turn") AS "place"
            FROM "claiming" w CROSS JOIN LATERAL (
              SELECT d.*, cardinality(w."own") - w."ended" + row_number() OVER (${inLine}) AS "turn" FROM (
                SELECT d."id", d."webhookId", d."eventId", d."attemptCount", d."testEvent", d."queryResult",
                       d."nextAttemptAt"
                  FROM "Delivery" d
                 WHERE ${due} AND (w."enabled" OR d."testEvent" IS NOT NULL)
                 ${inLine}
                 LIMIT w."limit") d
               WHERE d."id" NOT IN (SELECT unnest(w."own" || w."others"))
               ${inLine}
               LIMIT greatest(0, w."limit" - cardinality(w."own" || w."others"))) d) d
         WHERE d."place" <= ${room} OR d."turn" <= ${freePlaces}
      ), "leased" AS (
        INSERT INTO "DeliveryLease" ("webhookId", "node", "deliveryIds", "until")
        SELECT w."id", ${node}, w."own" || array_agg(d."id"), ${until}
          FROM "claiming" w JOIN "due" d ON d."webhookId" = w."id" GROUP BY w."id", w."own" ORDER BY w."id"
        ON CONFLICT ("webhookId", "node") DO UPDATE
           SET "deliveryIds" = EXCLUDED."deliveryIds", "until" = EXCLUDED."until"
      )
      SELECT d."id", d."webhookId", d."revision",
             d."attemptCount", d."testEvent" IS NOT NULL AS "isTest", d."queryResult", d."eventId",
             d."testEvent"::text AS "testEvent"
        FROM "due" d`;
  const [[locking], rows] = await quietTransaction(database, (tx) =>
    Promise.all([
      runSql<{ missed: string[] }>(sqlOf(tx), lock),
      runSql<ClaimedRow>(sqlOf(tx), claim),
    ]),
  );
  // In a statement of its own: PostgreSQL plans it for the few parts of the log that have them.
  const logged = new Map(
    (
      await findEventTexts(
        database,
        rows.filter(({ isTest }) => !isTest).map(({ eventId }) => eventId),
      )
    ).map((event) => [event.id, event]),
  );
  const claimed = rows.map(({ eventId, testEvent, ...delivery }) => ({
    ...delivery,
    event: testEvent === null ? (logged.get(eventId) ?? null) : eventOfTest(eventId, testEvent),
  }));
  return { claimed, missed: locking?.missed ?? [] };
}

/** The event of a test, which is stored with the delivery. */
function eventOfTest(id: string, stored: string): ClaimedEvent {
  const { occurredAt, actor, data, ...event } = JSON.parse(stored) as TestEvent;
  return {
    ...event,
    id,
    occurredAt: new Date(occurredAt),
    actor: actor && JSON.stringify(actor),
    data: JSON.stringify(data),
    xid: '0',
    position: 0n,
  };
}

/** The time at which a delivery is due first, claimed ones included; null if none waits. */
export async function nextDeliveryAt(prisma: PrismaClient): Promise<Date | null> {
  const [row] = await prisma.$queryRaw<{ at: Date | null }[]>`
    SELECT min(d."nextAttemptAt") AS "at"
      FROM "Webhook" w CROSS JOIN LATERAL (
        SELECT d."nextAttemptAt" FROM "Delivery" d
         WHERE d."webhookId" = w."id" AND d."status" = 'PENDING' AND (w."enabled" OR d."testEvent" IS NOT NULL)
         ORDER BY d."nextAttemptAt", d."id" LIMIT 1) d`;
  return row?.at ?? null;
}

/**
 * Renews the leases of a node.
 *
 * @param over Deliveries finished here; a concurrent claim may have listed them again.
 */
export async function renewLeases(
  prisma: PrismaClient,
  node: string,
  now: Date,
  over: readonly string[],
): Promise<void> {
  await prisma.$executeRaw`
    UPDATE "DeliveryLease" l
       SET "until" = ${new Date(now.getTime() + leaseMs)}, "deliveryIds" = ${without(Prisma.sql`SELECT unnest(${[...over]}::text[])`)}
      FROM ${inOrder(Prisma.sql`"node" = ${node} AND cardinality("deliveryIds") > 0`)} o
     WHERE l."webhookId" = o."webhookId" AND l."node" = o."node"`;
}

/** The deliveries of a lease `l`, except these. */
const without = (ids: Prisma.Sql) => Prisma.sql`
  ARRAY(SELECT h."id" FROM unnest(l."deliveryIds") AS h ("id") WHERE h."id" NOT IN (${ids}))`;

/** Locks leases in one order in all statements, because statements of the same node run at the same time. */
const inOrder = (condition: Prisma.Sql) => Prisma.sql`
  (SELECT "webhookId", "node" FROM "DeliveryLease" WHERE ${condition} ORDER BY "webhookId" FOR UPDATE)`;

/** An attempt of a claimed delivery, and the delivery's state after it. */
export interface RecordedAttempt {
  readonly id: string;
  readonly webhookId: string;
  /** The webhook's revision at the claim. */
  readonly revision: number;
  /** The count at the claim, without this attempt. */
  readonly attemptCount: number;
  /**
   * Whether the outcome counts as a success or failure of the endpoint. False for tests and for messages that could
   * not be built.
   */
  readonly countsForEndpoint: boolean;
  readonly status: 'PENDING' | 'SUCCEEDED' | 'FAILED';
  readonly nextAttemptAt: Date | null;
  readonly queryResult: string | null;
  readonly at: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly responseBody: string | null;
  readonly error: string | null;
}

/**
 * Records attempts in one statement. No commit waits for the disk: if a crash of the database loses an attempt, the
 * message is posted once more. An attempt is not recorded twice, nor when another node has claimed the delivery
 * meanwhile. The result of a query is not kept if the webhook has changed meanwhile: it may be somebody else's now.
 */
export async function recordAttempts(
  { sql, hints }: Pick<Database, 'sql' | 'hints'>,
  node: string,
  now: Date,
  attempts: readonly RecordedAttempt[],
): Promise<void> {
  if (attempts.length === 0) return;
  // The status is compared as text. Otherwise, with statistics from a time when little was pending, PostgreSQL would
  // read all pending deliveries.
  const record = Prisma.sql`
    WITH "attempt" AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) AS (
        "id" text, "webhookId" text, "revision" int, "attemptCount" int, "status" "DeliveryStatus", "nextAttemptAt" timestamptz(3),
        "queryResult" text, "at" timestamptz(3), "durationMs" int, "statusCode" int, "responseBody" text,
        "error" text)
    ), "left" AS (
      UPDATE "DeliveryLease" l SET "deliveryIds" = ${without(Prisma.sql`SELECT "id" FROM "attempt"`)}
        FROM ${inOrder(Prisma.sql`"node" = ${node} AND "webhookId" IN (SELECT "webhookId" FROM "attempt")`)} o
       WHERE l."webhookId" = o."webhookId" AND l."node" = o."node"
    ), "kept" AS (
      UPDATE "Delivery" d
         SET "status" = a."status", "attemptCount" = d."attemptCount" + 1,
             "nextAttemptAt" = a."nextAttemptAt", "updatedAt" = ${now}, "changedIn" = pg_current_xact_id(),
             "queryResult" = CASE WHEN EXISTS (
               SELECT 1 FROM "Webhook" w WHERE w."id" = a."webhookId" AND w."revision" = a."revision")
               THEN a."queryResult" END
        FROM "attempt" a
       WHERE d."id" = a."id" AND d."attemptCount" = a."attemptCount" AND d."status"::text = 'PENDING'
         AND NOT EXISTS (
           SELECT 1 FROM "DeliveryLease" l
            WHERE l."webhookId" = a."webhookId" AND l."node" <> ${node} AND l."until" > ${now}
              AND a."id" = ANY(l."deliveryIds"))
      RETURNING a.*
    )
    INSERT INTO "DeliveryAttempt" ("deliveryId", "at", "durationMs", "statusCode", "responseBody", "error")
    SELECT "id", "at", "durationMs", "statusCode", "responseBody", "error"
      FROM "kept", set_config('synchronous_commit', 'off', true) ORDER BY "at"`;
  await runSql(sql, record);
  hints.send('deliveries');
}

/** Puts back all deliveries that a node has claimed. */
export async function releaseDeliveries(prisma: PrismaClient, node: string): Promise<void> {
  await prisma.deliveryLease.deleteMany({ where: { node } });
}
