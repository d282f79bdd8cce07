import type { Purge } from '../../db/purge.ts';
import type { Transaction } from '../../db/transaction.ts';
import { Prisma } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';
import { auditTypes, ordinaryTypes } from '../catalogue/audit.ts';
import { isReadByAll, purgedOf, saveConsumer, settledLine } from '../consumers.ts';
import { eventLog, eventPart, isInParts, tableOf } from './ranges.ts';
import {
  attachPart,
  createPart,
  detachPart,
  dropTable,
  renameTable,
  waitBriefly,
} from './tables.ts';

const dayMs = 24 * 3_600_000;
const waitMs = 3_600_000;

/** Small, because no reader of the log gets past an open transaction. */
const copiedAtOnce = 2_000;

/** So many parts of which only the audit is left become one. */
const restsInOne = 7;

/** A part as it is listed. */
interface Listed {
  readonly number: number;
  /** How many it was, with those that were joined to it. */
  readonly count: number;
}

/** A part that has ended, with the instant up to which its events have expired. */
interface Ended extends Listed {
  readonly isRest: boolean;
  readonly line: Date;
}

/**
 * Drops parts of the log whose events have expired. Where events of the audit are kept for longer, they are copied
 * first, in batches, and take the part's place; of such places, several become one. A part stays that has events which
 * a consumer has not read yet. Events with pending deliveries are copied too.
 *
 * A run drops one part, by the earlier of the process's and the database's clock. If another is due, it logs a warning,
 * and the next part follows an hour later: a wrong clock does not delete everything.
 */
export function retireParts({
  clock,
  config,
  log,
}: Pick<Services, 'clock' | 'config' | 'log'>): Purge {
  const { auditRetentionDays, eventRetentionDays } = config;
  // What is kept for the same time goes at once.
  const expiring = auditRetentionDays > eventRetentionDays ? ordinaryTypes : undefined;
  let notBeforeMs = Number.NEGATIVE_INFINITY;

  return async (tx) => {
    if (performance.now() < notBeforeMs) return false;
    const [instant] = await tx.$queryRaw<{ now: Date }[]>`
      SELECT least(${clock.now()}::timestamptz, clock_timestamp()) AS "now"`;
    if (!instant) throw new Error('The clock is missing.');
    const before = (days: number) => new Date(instant.now.getTime() - days * dayMs);
    const auditLine = before(auditRetentionDays);
    const ended = await readEnded(tx, before(eventRetentionDays), auditLine);
    const due: Ended[] = [];
    for (const part of ended) {
      const state = await stateOf(tx, part, part.isRest ? undefined : expiring);
      if (state === 'empty') {
        await waitBriefly(tx);
        await detachPart(tx, eventLog, tableOf(part.number));
        await dropTable(tx, tableOf(part.number));
        await tx.$executeRaw`DELETE FROM "EventPart" WHERE "number" = ${part.number}`;
        return true;
      }
      if (state === 'over') due.push(part);
      if (due.length > 1) break;
    }
    const [first, second] = due;
    if (!first) return joinRests(tx, auditLine);
    if (!(await replace(tx, [first], auditLine))) return true;
    log.info({ part: first.number }, 'a part of the event log has expired');
    if (second) {
      notBeforeMs = performance.now() + waitMs;
      log.warn({ table: 'Event' }, 'more than a day of rows is due; is the clock right?');
    }
    return false;
  };
}

/** The parts that ended long enough ago, and that no open transaction writes to, the oldest first. */
const readEnded = (tx: Transaction, line: Date, auditLine: Date) => tx.$queryRaw<Ended[]>`
  SELECT p."number", p."count", p."isRest", l."line"
    FROM "EventPart" p
   CROSS JOIN LATERAL (
     SELECT n."begunAt", n."xid" FROM "EventPart" n WHERE n."number" > p."number" ORDER BY n."number" LIMIT 1) n
   CROSS JOIN LATERAL (
     SELECT CASE WHEN p."isRest" THEN ${auditLine}::timestamptz ELSE ${line}::timestamptz END AS "line") l
   WHERE n."begunAt" <= l."line" AND n."xid" <= ${settledLine}
   ORDER BY p."number"`;

const nameOf = ({ number }: Listed) => Prisma.raw(`"${tableOf(number)}"`);

/** A part is over when its events, or those of some types, have expired and every consumer has read it. */
async function stateOf(
  tx: Transaction,
  part: Ended,
  types: readonly string[] | undefined,
): Promise<'empty' | 'over' | 'needed'> {
  const isOfThese = types ? Prisma.sql`"type" = ANY(${[...types]})` : Prisma.sql`TRUE`;
  const [row] = await tx.$queryRaw<{ isEmpty: boolean; isOver: boolean }[]>`
    SELECT NOT EXISTS (SELECT 1 FROM ${nameOf(part)}) AS "isEmpty",
           NOT EXISTS (SELECT 1 FROM ${nameOf(part)} WHERE "occurredAt" > ${part.line} AND ${isOfThese})
           AND NOT EXISTS (
             SELECT 1 FROM (SELECT "xid", "position" FROM ${nameOf(part)} ORDER BY "xid" DESC, "position" DESC LIMIT 1) r
              WHERE NOT ${isReadByAll}) AS "isOver"`;
  if (row?.isEmpty) return 'empty';
  return row?.isOver ? 'over' : 'needed';
}

/** Makes one part of several of which only the audit is left. Returns whether there may be more to do. */
async function joinRests(tx: Transaction, auditLine: Date): Promise<boolean> {
  // Those of a row, without another part between them: one may stay for a consumer that has not read it.
  const joined = await tx.$queryRaw<Listed[]>`
    WITH "listed" AS (
      SELECT *, "isRest" AND "count" < ${restsInOne} AS "isSmall" FROM "EventPart"),
    "rows" AS (
      SELECT *, count(*) FILTER (WHERE NOT "isSmall") OVER (ORDER BY "number") AS "row" FROM "listed")
    SELECT "number", "count" FROM "rows"
     WHERE "isSmall" AND "row" = (
       SELECT "row" FROM "rows" WHERE "isSmall" GROUP BY "row" HAVING count(*) >= ${2 * restsInOne}
        ORDER BY "row" LIMIT 1)
     ORDER BY "number" LIMIT ${restsInOne}`;
  if (joined.length === 0) return false;
  await replace(tx, joined, auditLine);
  return true;
}

/**
 * Puts what is kept of some parts in their place. It takes several transactions, of which the last one does it; if they
 * end before, the next run goes on.
 *
 * @returns Whether it is done.
 */
async function replace(
  tx: Transaction,
  parts: readonly Listed[],
  auditLine: Date,
): Promise<boolean> {
  const [first, last] = [parts[0], parts.at(-1)];
  if (!first || !last) return true;
  const to = last.number + last.count;
  const rest = eventPart(first.number, to, `${tableOf(first.number)}_rest`);
  const name = Prisma.raw(`"${rest.table}"`);
  const [state] = await tx.$queryRaw<{ isThere: boolean }[]>`
    SELECT to_regclass(${`"${rest.table}"`}) IS NOT NULL AS "isThere"`;
  if (!state?.isThere) {
    await waitBriefly(tx);
    await createPart(tx, eventLog, rest);
    return false;
  }
  const copied = await tx.$executeRaw`
    INSERT INTO ${name} (${columns})
    SELECT ${columns} FROM "Event"
     WHERE TRUE ${isInParts({ first: first.number, last: to - 1 })} AND "type" = ANY(${[...auditTypes]}) AND "occurredAt" > ${auditLine}
       AND "position" > (SELECT coalesce(max("position"), -9223372036854775808) FROM ${name})
     ORDER BY "position" LIMIT ${copiedAtOnce}`;
  if (copied === copiedAtOnce) return false;
  await waitBriefly(tx);
  for (const part of parts) await detachPart(tx, eventLog, tableOf(part.number));
  for (const part of parts) {
    await tx.$executeRaw`
      INSERT INTO ${name} (${columns})
      SELECT ${columns} FROM ${nameOf(part)}
       WHERE "id" IN (SELECT "eventId" FROM "Delivery" WHERE "status" = 'PENDING')
      ON CONFLICT DO NOTHING`;
    await notePurged(tx, part, name);
    await dropTable(tx, tableOf(part.number));
  }
  const [left] = await tx.$queryRaw<{ isAny: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM ${name}) AS "isAny"`;
  await tx.$executeRaw`
    DELETE FROM "EventPart" WHERE "number" >= ${left?.isAny ? first.number + 1 : first.number} AND "number" < ${to}`;
  if (left?.isAny) {
    await tx.$executeRaw`
      UPDATE "EventPart" SET "isRest" = true, "count" = ${to - first.number} WHERE "number" = ${first.number}`;
    await renameTable(tx, rest.table, tableOf(first.number));
    await attachPart(tx, eventLog, { ...rest, table: tableOf(first.number) });
  } else await dropTable(tx, rest.table);
  return true;
}

const columns = Prisma.raw(
  [
    'xid',
    'position',
    'id',
    'type',
    'subjectId',
    'otherIds',
    'actor',
    'actorId',
    'data',
    'traceId',
    'ip',
    'userAgent',
    'occurredAt',
  ]
    .map((column) => `"${column}"`)
    .join(', '),
);

/** Saves how far the log has been purged once a part is replaced by what is kept of it. */
async function notePurged(tx: Transaction, part: Listed, kept: Prisma.Sql): Promise<void> {
  for (const [types, consumer] of [
    [ordinaryTypes, purgedOf.ordinary],
    [auditTypes, purgedOf.audit],
  ] as const) {
    await tx.$executeRaw(
      saveConsumer(Prisma.sql`
        SELECT ${consumer}::text, r."xid", r."position", r."id" FROM ${nameOf(part)} r
         WHERE r."type" = ANY(${[...types]})
           AND NOT EXISTS (SELECT 1 FROM ${kept} k WHERE k."position" = r."position")
         ORDER BY r."xid" DESC, r."position" DESC LIMIT 1`),
    );
  }
}
