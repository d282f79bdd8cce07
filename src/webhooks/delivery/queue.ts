import type { UnderWay } from '../../dispatch/work.ts';
import type { EventName } from '../../events/catalogue.ts';
import type { EventText } from '../../events/message.ts';
import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';

/** A delivery that this node has to itself until its lease runs out. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  /** The webhook's revision at the claim. */
  readonly revision: number;
  readonly attemptCount: number;
  readonly isTest: boolean;
  /** What the webhook's query gave at the first attempt. */
  readonly queryResult: string | null;
  /** Null where the event has left the log. */
  readonly event: ClaimedEvent | null;
}

/** An event as a delivery needs it; the JSON as text, which goes into the body as it is. */
export interface ClaimedEvent extends EventText {
  readonly traceId: string | null;
  readonly xid: string;
  readonly position: bigint;
}

type ClaimedRow = Omit<ClaimedDelivery, 'event'> &
  Omit<ClaimedEvent, 'id' | 'type'> & { eventId: string; type: EventName | null };

/** How long a node has what it claims, unless it renews: so long do deliveries wait whose node died. */
export const leaseMs = 15_000;

// What every webhook may have under way on a node, however much others have.
const freePlaces = 2;

/** The condition on a delivery `d` that a node has it. */
export const isLeased = (now: Date) => Prisma.sql`
  EXISTS (SELECT 1 FROM "DeliveryLease" l
           WHERE l."webhookId" = d."webhookId" AND l."until" > ${now} AND d."id" = ANY(l."deliveryIds"))`;

/** The condition on a delivery `d` that it is to be posted now, or is being posted. */
export const isDue = (now: Date) =>
  Prisma.sql`d."status" = 'PENDING' AND d."nextAttemptAt" <= ${now}`;

/**
 * Claims deliveries that are due: for each webhook as many as its `maxInFlight` leaves, over all nodes.
 *
 * @param options.node Which node claims them: a name that no other process has or had.
 * @param options.underWay What this node has of them already, by webhook: which, and how many of those are posted,
 * though that may not be recorded yet.
 * @param options.webhookIds Of these webhooks alone; absent, of all.
 * @param options.room How many at most, in turn: the first of each webhook before the second of any. Of a webhook
 * that has fewer than two under way some come all the same.
 * @returns What was claimed; and the webhooks with something due that another transaction had locked.
 */
export async function claimDeliveries(
  prisma: PrismaClient,
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
  // In this order there is an index. PostgreSQL knows nothing better than that index for the first one in line; for
  // any one, or for EXISTS, it may well read all the table.
  const inLine = Prisma.sql`ORDER BY d."nextAttemptAt", d."id"`;
  // The webhooks are locked in a statement of its own: the next one then sees every claim that other nodes have
  // committed on them, and counts right. The list goes over in a setting, so that it all is one round of statements.
  // No commit waits for the disk: a claim that a crash of the database forgets is as one that has run out.
  // Those under way are among the first in line, or leave so many places fewer: no more than the limit are read.
  const [[locking], rows] = await prisma.$transaction([
    prisma.$queryRaw<{ missed: string[] }[]>`
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
             ARRAY(SELECT "id" FROM "wanted" EXCEPT SELECT "id" FROM "locked") AS "missed"`,
    prisma.$queryRaw<ClaimedRow[]>`
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
             coalesce(e."type", d."testEvent"->>'type') AS "type",
             coalesce(e."occurredAt", (d."testEvent"->>'occurredAt')::timestamptz) AS "occurredAt",
             coalesce(e."actor", d."testEvent"->'actor')::text AS "actor",
             coalesce(e."data", d."testEvent"->'data')::text AS "data",
             coalesce(e."traceId", d."testEvent"->>'traceId') AS "traceId",
             coalesce(e."xid"::text, '0') AS "xid", coalesce(e."position", 0) AS "position"
        FROM "due" d LEFT JOIN "Event" e ON e."id" = d."eventId"`,
  ]);
  const claimed = rows.map(
    ({ eventId, type, occurredAt, actor, data, traceId, xid, position, ...delivery }) => ({
      ...delivery,
      event:
        type === null
          ? null
          : { id: eventId, type, occurredAt, actor, data, traceId, xid, position },
    }),
  );
  return { claimed, missed: locking?.missed ?? [] };
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
 * Goes on holding what a node has claimed.
 *
 * @param over What it has no more, in case that a claim that did not know so has written it down again.
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

/** What a lease `l` holds without those. */
const without = (ids: Prisma.Sql) => Prisma.sql`
  ARRAY(SELECT h."id" FROM unnest(l."deliveryIds") AS h ("id") WHERE h."id" NOT IN (${ids}))`;

/** Leases, locked in the one order in which all statements lock them: a node's own meet one another. */
const inOrder = (condition: Prisma.Sql) => Prisma.sql`
  (SELECT "webhookId", "node" FROM "DeliveryLease" WHERE ${condition} ORDER BY "webhookId" FOR UPDATE)`;

/** What became of a claimed delivery: one more attempt, and the delivery's state after it. */
export interface RecordedAttempt {
  readonly id: string;
  readonly webhookId: string;
  /** As it was claimed, without this one. */
  readonly attemptCount: number;
  /** Not a test, nor a message that could not be made. */
  readonly tellsOfEndpoint: boolean;
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
 * Records attempts, all in one statement; no commit waits for the disk, since a crash of the database that forgets
 * an attempt has the message posted once more. An attempt that took so long that another node has the delivery by now
 * is left to that node, and one that is recorded already is not recorded again.
 */
export async function recordAttempts(
  prisma: PrismaClient,
  node: string,
  now: Date,
  attempts: readonly RecordedAttempt[],
): Promise<void> {
  if (attempts.length === 0) return;
  // The status as text: statistics that were made when little was pending would have PostgreSQL read all that is.
  await prisma.$executeRaw`
    WITH "attempt" AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) AS (
        "id" text, "webhookId" text, "attemptCount" int, "status" "DeliveryStatus", "nextAttemptAt" timestamptz(3),
        "queryResult" text, "at" timestamptz(3), "durationMs" int, "statusCode" int, "responseBody" text,
        "error" text)
    ), "left" AS (
      UPDATE "DeliveryLease" l SET "deliveryIds" = ${without(Prisma.sql`SELECT "id" FROM "attempt"`)}
        FROM ${inOrder(Prisma.sql`"node" = ${node} AND "webhookId" IN (SELECT "webhookId" FROM "attempt")`)} o
       WHERE l."webhookId" = o."webhookId" AND l."node" = o."node"
    ), "kept" AS (
      UPDATE "Delivery" d
         SET "status" = a."status", "attemptCount" = d."attemptCount" + 1,
             "nextAttemptAt" = a."nextAttemptAt", "queryResult" = a."queryResult", "updatedAt" = ${now},
             "changedIn" = pg_current_xact_id()
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
}

/** Puts back all that a node has claimed, as if it had not. */
export async function releaseDeliveries(prisma: PrismaClient, node: string): Promise<void> {
  await prisma.deliveryLease.deleteMany({ where: { node } });
}
