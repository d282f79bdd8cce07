import type { EventName } from '../events/catalogue.ts';
import { Prisma, type PrismaClient } from '../generated/prisma/client.ts';

/** A delivery that this node has to itself until its lease runs out. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly webhookId: string;
  /** The webhook's revision at the claim. */
  readonly revision: number;
  readonly leasedUntil: Date;
  readonly attemptCount: number;
  readonly isTest: boolean;
  /** What the webhook's query gave at the first attempt. */
  readonly queryResult: string | null;
  /** Null where the event has left the log. */
  readonly event: ClaimedEvent | null;
}

/** An event as a delivery needs it; the JSON as text, which goes into the body as it is. */
export interface ClaimedEvent {
  readonly id: string;
  readonly type: EventName;
  readonly occurredAt: Date;
  readonly actor: string | null;
  readonly data: string;
  readonly traceId: string | null;
  readonly xid: string;
  readonly position: bigint;
}

type ClaimedRow = Omit<ClaimedDelivery, 'event'> &
  Omit<ClaimedEvent, 'id' | 'type'> & { eventId: string; type: EventName | null };

/** Longer than any attempt takes, so that no two nodes post the same delivery at once. */
export const leaseMs = 60_000;

/**
 * Claims deliveries that are due: for each webhook as many as its `maxInFlight` leaves, over all nodes.
 *
 * @param options.webhookIds Of these webhooks alone; absent, of all.
 * @param options.room How many at most.
 * @param options.ended Deliveries of this node's own whose attempt has ended, though it may not be recorded yet.
 */
export async function claimDeliveries(
  prisma: PrismaClient,
  options: {
    readonly now: Date;
    readonly webhookIds: readonly string[] | undefined;
    readonly room: number;
    readonly ended?: readonly string[];
  },
): Promise<ClaimedDelivery[]> {
  const { now, webhookIds, room, ended = [] } = options;
  const leasedUntil = new Date(now.getTime() + leaseMs);
  const those = webhookIds ? Prisma.sql`w."id" = ANY(${[...webhookIds]})` : Prisma.sql`TRUE`;
  const due = Prisma.sql`
    d."webhookId" = w."id" AND d."status" = 'PENDING' AND d."nextAttemptAt" <= ${now}
    AND (d."leasedUntil" IS NULL OR d."leasedUntil" <= ${now})`;
  // Not EXISTS, which PostgreSQL may turn into a look at every delivery that is due.
  // The webhooks are locked in a statement of its own: the next one then sees every claim that other nodes have
  // committed on them, and counts right. The list goes over in a setting, so that it all is one round of statements. A claim
  // that a crash of the database forgets is as one whose lease ran out: no commit waits for the disk.
  const [, rows] = await prisma.$transaction([
    prisma.$queryRaw`
      SELECT set_config('signet.claiming', coalesce(string_agg("id", ','), ''), true) AS "ids",
             set_config('synchronous_commit', 'off', true) AS "commit" FROM (
        SELECT w."id" FROM "Webhook" w
         WHERE ${those}
           AND (w."enabled" AND (SELECT TRUE FROM "Delivery" d WHERE ${due} LIMIT 1)
                OR (SELECT TRUE FROM "Delivery" d WHERE ${due} AND d."testEvent" IS NOT NULL LIMIT 1))
         FOR NO KEY UPDATE SKIP LOCKED) AS "locked"`,
    prisma.$queryRaw<ClaimedRow[]>`
      WITH "due" AS (
        SELECT d."id", d."eventId", w."revision"
          FROM "Webhook" w CROSS JOIN LATERAL (
            SELECT d."id", d."eventId" FROM "Delivery" d
             WHERE ${due} AND (w."enabled" OR d."testEvent" IS NOT NULL)
             ORDER BY d."nextAttemptAt", d."id"
             LIMIT greatest(0, w."maxInFlight" - (
               SELECT count(*) FROM "Delivery" l
                WHERE l."webhookId" = w."id" AND l."leasedUntil" > ${now}
                  AND l."id" <> ALL(${[...ended]})))
             FOR UPDATE SKIP LOCKED) d
         WHERE w."id" = ANY(string_to_array(current_setting('signet.claiming'), ','))
         LIMIT ${room}
      )
      UPDATE "Delivery" d SET "leasedUntil" = ${leasedUntil}
        FROM "due" LEFT JOIN "Event" e ON e."id" = "due"."eventId"
       WHERE d."id" = "due"."id"
      RETURNING d."id", d."webhookId", "due"."revision", d."leasedUntil", d."attemptCount",
                d."testEvent" IS NOT NULL AS "isTest", d."queryResult", d."eventId",
                coalesce(e."type", d."testEvent"->>'type') AS "type",
                coalesce(e."occurredAt", (d."testEvent"->>'occurredAt')::timestamptz) AS "occurredAt",
                coalesce(e."actor", d."testEvent"->'actor')::text AS "actor",
                coalesce(e."data", d."testEvent"->'data')::text AS "data",
                coalesce(e."traceId", d."testEvent"->>'traceId') AS "traceId",
                coalesce(e."xid"::text, '0') AS "xid", coalesce(e."position", 0) AS "position"`,
  ]);
  return rows.map(
    ({ eventId, type, occurredAt, actor, data, traceId, xid, position, ...delivery }) => ({
      ...delivery,
      event:
        type === null
          ? null
          : { id: eventId, type, occurredAt, actor, data, traceId, xid, position },
    }),
  );
}

/** What became of a claimed delivery: one more attempt, and the delivery's state after it. */
export interface RecordedAttempt {
  readonly id: string;
  readonly webhookId: string;
  readonly leasedUntil: Date;
  readonly isTest: boolean;
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
 * Records attempts, all in one statement. An attempt whose lease has run out meanwhile is left to the node that
 * claimed the delivery next.
 */
export async function recordAttempts(
  prisma: PrismaClient,
  now: Date,
  attempts: readonly RecordedAttempt[],
): Promise<void> {
  if (attempts.length === 0) return;
  await prisma.$executeRaw`
    WITH "attempt" AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(attempts)}::jsonb) AS (
        "id" text, "leasedUntil" timestamptz(3), "status" "DeliveryStatus", "nextAttemptAt" timestamptz(3),
        "queryResult" text, "at" timestamptz(3), "durationMs" int, "statusCode" int, "responseBody" text,
        "error" text)
    ), "kept" AS (
      UPDATE "Delivery" d
         SET "status" = a."status", "attemptCount" = d."attemptCount" + 1, "leasedUntil" = NULL,
             "nextAttemptAt" = a."nextAttemptAt", "queryResult" = a."queryResult", "updatedAt" = ${now},
             "changedIn" = pg_current_xact_id()
        FROM "attempt" a
       WHERE d."id" = a."id" AND d."leasedUntil" = a."leasedUntil"
      RETURNING a.*
    )
    INSERT INTO "DeliveryAttempt" ("deliveryId", "at", "durationMs", "statusCode", "responseBody", "error")
    SELECT "id", "at", "durationMs", "statusCode", "responseBody", "error" FROM "kept" ORDER BY "at"`;
}

/** Puts claimed deliveries back, as if they had not been claimed. */
export async function releaseDeliveries(
  prisma: PrismaClient,
  deliveries: readonly { readonly id: string; readonly leasedUntil: Date }[],
): Promise<void> {
  if (deliveries.length === 0) return;
  await prisma.$executeRaw`
    UPDATE "Delivery" d SET "leasedUntil" = NULL
      FROM jsonb_to_recordset(${JSON.stringify(deliveries)}::jsonb)
           AS r ("id" text, "leasedUntil" timestamptz(3))
     WHERE d."id" = r."id" AND d."leasedUntil" = r."leasedUntil"`;
}
