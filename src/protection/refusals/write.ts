import { quietTransaction, type Transaction } from '../../db/transaction.ts';
import { type NewEvent, recordEvents } from '../../events/record.ts';
import { type Services, systemActor } from '../../services.ts';
import type { Waiting } from './queue.ts';
import {
  minuteMs,
  mostToldAMinute,
  type Refusal,
  type ShareKey,
  sharesOf,
  textOf,
} from './refusal.ts';

interface Row extends ShareKey {
  /** When the refusals were that events tell of, in milliseconds since the epoch. */
  readonly told: readonly number[];
  readonly suppressed: number;
  readonly dueAt: Date;
}

/** A share of events, whose row is locked. */
class Share {
  readonly #key: ShareKey;
  #told: number[];
  #suppressed: number;
  #dueAt: number;

  constructor({ told, suppressed, dueAt, ...key }: Row) {
    this.#key = key;
    this.#told = [...told];
    this.#suppressed = suppressed;
    this.#dueAt = dueAt.getTime();
  }

  /** Whether the minute that ends at an instant has all its events. */
  isUsedUp(at: Date): boolean {
    const begin = at.getTime() - minuteMs;
    return this.#told.filter((one) => one > begin).length >= mostToldAMinute[this.#key.kind];
  }

  tell(at: Date): void {
    this.#told.push(at.getTime());
  }

  leaveOut(count: number, since: Date): void {
    if (this.#suppressed === 0) this.#dueAt = since.getTime() + minuteMs;
    this.#suppressed += count;
  }

  toRow() {
    const newest = Math.max(0, ...this.#told);
    return {
      ...this.#key,
      told: this.#told.filter((one) => one > newest - minuteMs),
      suppressed: this.#suppressed,
      dueAt: new Date(this.#suppressed > 0 ? this.#dueAt : newest + minuteMs),
    };
  }
}

/**
 * Writes events about refusals, as far as their shares go, and counts those left out. The rows of the shares are locked
 * meanwhile, so that all nodes share them.
 */
export const writeRefusals = (
  { database }: Pick<Services, 'database'>,
  { refusals, leftOut }: Waiting,
): Promise<void> =>
  quietTransaction(database, async (tx) => {
    const shares = await lockShares(tx, [
      ...refusals.flatMap(sharesOf),
      ...leftOut.map(({ share }) => share),
    ]);
    const told = refusals.filter((refusal) => {
      const own = sharesOf(refusal).map((share) => getShare(shares, share));
      const usedUp = own.find((share) => share.isUsedUp(refusal.at));
      if (usedUp) usedUp.leaveOut(1, refusal.at);
      else for (const share of own) share.tell(refusal.at);
      return !usedUp;
    });
    for (const { share, count, since } of leftOut) getShare(shares, share).leaveOut(count, since);
    await tx.$executeRaw`
      UPDATE "RefusalCount" c
         SET "told" = n."told", "suppressed" = n."suppressed", "dueAt" = n."dueAt"
        FROM jsonb_to_recordset(${JSON.stringify([...shares.values()].map((share) => share.toRow()))}::jsonb)
             AS n("type" text, "kind" text, "name" text, "told" jsonb, "suppressed" int, "dueAt" timestamptz)
       WHERE (c."type", c."kind", c."name") = (n."type", n."kind", n."name")`;
    for (const refusal of told) await recordRefusal(tx, refusal);
  });

function getShare(shares: ReadonlyMap<string, Share>, key: ShareKey): Share {
  const share = shares.get(textOf(key));
  if (!share) throw new Error('An upsert gave no row.');
  return share;
}

/** Locks the rows of shares, in one order on all nodes, and creates those that are missing. */
async function lockShares(
  tx: Transaction,
  keys: readonly ShareKey[],
): Promise<ReadonlyMap<string, Share>> {
  const distinct = [...new Map(keys.map((key) => [textOf(key), key])).values()];
  const rows = await tx.$queryRaw<Row[]>`
    INSERT INTO "RefusalCount" AS c ("type", "kind", "name", "told", "suppressed", "dueAt")
    SELECT k."type", k."kind", k."name", '[]', 0, 'epoch'
      FROM jsonb_to_recordset(${JSON.stringify(distinct)}::jsonb) AS k("type" text, "kind" text, "name" text)
     ORDER BY k."type", k."kind", k."name"
    ON CONFLICT ("type", "kind", "name") DO UPDATE SET "suppressed" = c."suppressed"
    RETURNING "type", "kind", "name", "told", "suppressed", "dueAt"`;
  return new Map(rows.map((row) => [textOf(row), new Share(row)]));
}

const recordRefusal = (tx: Transaction, { type, data, call, at }: Refusal): Promise<unknown> =>
  recordEvents(tx, { ...call, actor: systemActor, clock: { now: () => at } }, [
    // The compiler does not see that `type` and `data` belong together.
    { type, data: { ...data, ip: call.ip, suppressed: null } } as NewEvent,
  ]);
