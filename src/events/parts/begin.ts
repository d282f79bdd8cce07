import type { Transaction } from '../../db/transaction.ts';
import type { Services } from '../../services.ts';
import { settledLine } from '../consumers.ts';
import { eventLog, eventPart, partOf, startOf, tableOf } from './ranges.ts';
import { attachPart, createPart, waitBriefly } from './tables.ts';

const dayMs = 24 * 3_600_000;

/** The fewest events of a part. A small log is not worth many tables: each costs the planning of every query. */
const fewestEvents = 10_000;

/**
 * Begins a new part of the log once the last one is of an earlier day, and keeps the one after it ready: events go
 * where the sequence of positions stands, and it is moved only into a part that is there. So no event can miss its
 * part, whatever the clocks say and however long this did not run.
 *
 * What readers rely on (`ranges.ts`): a row's transaction id is given out before its position (the table's columns
 * have that order). So when the sequence has moved into part `n`, no transaction that begins to write afterwards has a
 * row in an earlier part; the part's `xid` says which those are. The next part begins only when all transactions of
 * before have ended. Then every row of part `n` has a transaction from the `xid` of part `n - 1` on, and before that of
 * part `n + 1`; and whatever comes after a row of part `n` in the log's order is in part `n - 1` or later.
 *
 * @param fewest The fewest events of a part.
 */
export function beginParts(
  { clock }: Pick<Services, 'clock'>,
  fewest = fewestEvents,
): (tx: Transaction) => Promise<boolean> {
  return async (tx) => {
    const [state] = await tx.$queryRaw<
      { number: number; begunAt: Date; isSettled: boolean; last: bigint; now: Date }[]
    >`
      SELECT p."number", p."begunAt", p."xid" <= ${settledLine} AS "isSettled", s."last_value" AS "last",
             least(${clock.now()}::timestamptz, clock_timestamp()) AS "now"
        FROM "EventPart" p, "Event_position_seq" s
       ORDER BY p."number" DESC LIMIT 1`;
    if (!state) throw new Error('The list of the parts of the event log is empty.');
    const { number, begunAt, isSettled, last, now } = state;
    const next = number + 1;
    if (await makePart(tx, next)) return true;
    // The move is not undone with the transaction that made it.
    const isMoved = partOf({ position: last }) > number;
    const isDue = dayOf(now) > dayOf(begunAt) && last - startOf(number) + 1n >= BigInt(fewest);
    if (!isMoved && !(isDue && isSettled)) return false;
    if (!isMoved) {
      await tx.$queryRaw`SELECT setval('"Event_position_seq"', ${startOf(next)}::bigint, false)`;
    }
    await tx.$executeRaw`
      INSERT INTO "EventPart" ("number", "begunAt", "xid")
      VALUES (${next}, ${now}, pg_snapshot_xmax(pg_current_snapshot()))`;
    return true;
  };
}

const dayOf = (instant: Date) => Math.floor(instant.getTime() / dayMs);

/** Makes a part unless it is there. Returns whether it did. */
async function makePart(tx: Transaction, number: number): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ isThere: boolean }[]>`
    SELECT EXISTS (
      SELECT 1 FROM pg_inherits
       WHERE "inhrelid" = to_regclass(${`"${tableOf(number)}"`}) AND "inhparent" = '"Event"'::regclass) AS "isThere"`;
  if (row?.isThere) return false;
  await waitBriefly(tx);
  const part = eventPart(number, number + 1);
  await createPart(tx, eventLog, part);
  await attachPart(tx, eventLog, part);
  return true;
}
