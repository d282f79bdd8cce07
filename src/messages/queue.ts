import type { UnderWay } from '../dispatch/work.ts';
import type { MessageChannel, MessageStatus, PrismaClient } from '../generated/prisma/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { MessageLanguage } from './templates/catalogue.ts';
import type { MessageTemplate } from './templates/wording.ts';

/** A message that belongs to this node until its lease runs out. */
export interface ClaimedMessage {
  readonly id: string;
  readonly channel: MessageChannel;
  readonly recipient: string;
  readonly template: MessageTemplate;
  readonly language: MessageLanguage;
  readonly content: Uint8Array;
  readonly attemptCount: number;
  readonly traceId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** The channels. Each is its own line, so that a sender that is down delays no other. */
export const channels: readonly MessageChannel[] = ['EMAIL', 'SMS'];

/** How long a claim lasts without a renewal, and so how long the messages of a dead node wait. */
export const leaseMs = 15_000;

// Mail servers accept few connections from one client.
const maxUnderWay = 10;
const expiryBatch = 1_000;

const isFree = (now: Date) =>
  Prisma.sql`(m."leasedUntil" IS NULL OR m."leasedUntil" <= ${now}::timestamptz)`;

/**
 * Claims due messages, the longest due of each channel first, and gives up expired ones. A node whose lease ran out
 * while it was blocked does not claim the messages that it is still sending.
 *
 * @param options.underWay The messages that this node is sending already, by channel.
 * @param options.lines Only these channels; absent: all.
 */
export async function claimMessages(
  prisma: PrismaClient,
  options: {
    readonly node: string;
    readonly now: Date;
    readonly underWay: Readonly<Record<string, UnderWay>>;
    readonly lines: readonly string[] | undefined;
  },
): Promise<ClaimedMessage[]> {
  const { node, now, underWay, lines } = options;
  const until = new Date(now.getTime() + leaseMs);
  const places = channels
    .filter((channel) => !lines || lines.includes(channel))
    .map((channel) => {
      const { ids = [], ended = 0 } = underWay[channel] ?? {};
      return { channel, ids, places: Math.max(0, maxUnderWay - (ids.length - ended)) };
    });
  const claimed = await prisma.$queryRaw<ClaimedMessage[]>`
    WITH "expired" AS (
      UPDATE "Message" SET "status" = 'EXPIRED', ${emptied}
       WHERE "id" IN (
         SELECT m."id" FROM "Message" m
          WHERE m."nextAttemptAt" IS NOT NULL AND m."expiresAt" <= ${now}::timestamptz AND ${isFree(now)}
          LIMIT ${expiryBatch} FOR UPDATE SKIP LOCKED)
    ), "due" AS (
      SELECT m."id" FROM jsonb_to_recordset(${JSON.stringify(places)}::jsonb)
                      AS l ("channel" "MessageChannel", "ids" text[], "places" int)
       CROSS JOIN LATERAL (
         SELECT m."id" FROM "Message" m
          WHERE m."channel" = l."channel" AND m."nextAttemptAt" <= ${now}::timestamptz
            AND m."expiresAt" > ${now}::timestamptz AND ${isFree(now)}
            AND m."id" <> ALL (l."ids")
          ORDER BY m."nextAttemptAt", m."id" LIMIT l."places" FOR UPDATE SKIP LOCKED) m
    )
    UPDATE "Message" m SET "leasedBy" = ${node}, "leasedUntil" = ${until}::timestamptz
      FROM "due" WHERE m."id" = "due"."id"
    RETURNING m."id", m."channel", m."recipient", m."template", m."language", m."content", m."attemptCount",
              m."traceId", m."createdAt", m."expiresAt"`;
  return claimed.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** The time at which a message is due or expires first, claimed ones included; null if none waits. */
export async function nextMessageAt(prisma: PrismaClient): Promise<Date | null> {
  const [row] = await prisma.$queryRaw<{ at: Date | null }[]>`
    SELECT min(least("nextAttemptAt", "expiresAt")) AS "at" FROM "Message" WHERE "nextAttemptAt" IS NOT NULL`;
  return row?.at ?? null;
}

// The erased columns of an ended message: it keeps no code, no link and no place in the queue.
const emptied = Prisma.sql`"content" = NULL, "nextAttemptAt" = NULL, "leasedBy" = NULL, "leasedUntil" = NULL`;

/** The outcome of a claimed message: one more attempt, and the state after it. */
export interface RecordedSending {
  readonly id: string;
  readonly status: MessageStatus;
  /** Null if it has ended. */
  readonly nextAttemptAt: Date | null;
  readonly sentAt: Date | null;
  readonly error: string | null;
}

/**
 * Records attempts in one statement. If an attempt took so long that another node has claimed the message, it is left
 * to that node, unless it was sent: it must not be sent again.
 */
export async function recordSendings(
  prisma: PrismaClient,
  node: string,
  sendings: readonly RecordedSending[],
): Promise<void> {
  await prisma.$executeRaw`
    UPDATE "Message" m
       SET "status" = s."status", "attemptCount" = m."attemptCount" + 1, "nextAttemptAt" = s."nextAttemptAt",
           "sentAt" = s."sentAt", "error" = s."error", "leasedBy" = NULL, "leasedUntil" = NULL,
           "content" = CASE WHEN s."nextAttemptAt" IS NOT NULL THEN m."content" END
      FROM jsonb_to_recordset(${JSON.stringify(sendings)}::jsonb) AS s (
             "id" text, "status" "MessageStatus", "nextAttemptAt" timestamptz(3), "sentAt" timestamptz(3), "error" text)
     WHERE m."id" = s."id" AND m."nextAttemptAt" IS NOT NULL
       AND (m."leasedBy" = ${node} OR s."status" = 'SENT')`;
}

/** Renews the leases on messages that a node has claimed and not recorded yet. */
export async function renewMessages(
  prisma: PrismaClient,
  node: string,
  now: Date,
  held: readonly string[],
): Promise<void> {
  await prisma.message.updateMany({
    where: { id: { in: [...held] }, leasedBy: node },
    data: { leasedUntil: new Date(now.getTime() + leaseMs) },
  });
}

/** Puts back all messages that a node has claimed, as if it had not claimed them. */
export async function releaseMessages(prisma: PrismaClient, node: string): Promise<void> {
  await prisma.message.updateMany({
    where: { leasedBy: node },
    data: { leasedBy: null, leasedUntil: null },
  });
}
