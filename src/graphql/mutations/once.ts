import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { deserialize, serialize } from 'node:v8';
import { isRehearsal } from '../../db/around.ts';
import { lockNameFor } from '../../db/lock.ts';
import { createPurge } from '../../db/purge.ts';
import { sqlState } from '../../db/sql.ts';
import { inOneTransaction } from '../../db/transaction.ts';
import { isWithinDepth, maxJsonDepth } from '../../input.ts';
import { purposeOf } from '../../keys/sealed-columns.ts';
import { purging } from '../../scheduler.ts';
import type { Context, Services } from '../../services.ts';
import type { GraphQLContext } from '../context.ts';
import { requestError } from '../request-error.ts';

const keptMs = 24 * 3_600_000;
const longestWaitMs = 5_000;

/** A mutation and its arguments. */
interface Asked {
  readonly operation: string;
  readonly input: object;
}

interface Kept {
  readonly id: Uint8Array<ArrayBuffer>;
  readonly fingerprint: Uint8Array<ArrayBuffer>;
}

// The requests with a key that this process works on: those that wait for them hold no connection.
const underWay = new Map<string, Promise<unknown>>();

/**
 * Runs a mutation once for each `Idempotency-Key` of a caller. The result is kept for a day, in the transaction of the
 * changes. Another request with the key gets that result, if it asks for the same. What writes nothing keeps nothing.
 *
 * @param isOutside Whether its work is outside the database, so that it is not one transaction.
 * @throws IDEMPOTENCY_KEY_REUSED for another request, IDEMPOTENCY_KEY_IN_USE if one with the key is under way for
 *   longer than five seconds, FORBIDDEN if the caller holds fewer scopes than the first time.
 */
export async function once<T>(
  context: GraphQLContext,
  asked: Asked,
  run: () => Promise<T>,
  { isOutside = false } = {},
): Promise<T> {
  if (!context.once || isRehearsal() || !isSortable(asked.input)) return run();
  const kept = digestsOf(context, context.once.key, asked);
  const name = Buffer.from(kept.id).toString('base64');
  const deadline = performance.now() + longestWaitMs;
  for (let other = underWay.get(name); other; other = underWay.get(name)) {
    const stop = new AbortController();
    const late = delay(Math.max(0, deadline - performance.now()), 'late', { signal: stop.signal });
    const first = await Promise.race([other, late.catch(() => undefined)]);
    stop.abort();
    if (first === 'late') throw inUse();
  }
  const done = Promise.withResolvers<void>();
  underWay.set(name, done.promise);
  try {
    return await replay(context, kept, () =>
      (isOutside ? runOutside : runInside)(context, kept, run),
    );
  } finally {
    underWay.delete(name);
    done.resolve();
  }
}

/** Answers with the kept result, or else runs. */
async function replay<T>(context: GraphQLContext, kept: Kept, run: () => Promise<T>): Promise<T> {
  const { database, clock, cipher, caller } = context;
  const row = await database.prisma.keptResult.findUnique({
    where: { id: kept.id, expiresAt: { gt: clock.now() } },
  });
  if (!row) return run();
  if (Buffer.compare(row.fingerprint, kept.fingerprint) !== 0) {
    throw requestError('IDEMPOTENCY_KEY_REUSED', 'The key was used for another request.');
  }
  // The rules of the operation are not asked again: whoever held enough for them then holds enough now.
  if (!row.scopes.every((scope) => caller?.scopes.has(scope) || caller?.scopes.has('all'))) {
    throw requestError('FORBIDDEN', 'The access token lacks a scope that the first request had.');
  }
  context.once?.replayed();
  return deserialize(Buffer.from(cipher.decrypt(row.result, resultPurpose(kept)), 'base64')) as T;
}

/** Runs a mutation in one transaction with its kept result. */
async function runInside<T>(
  context: GraphQLContext,
  kept: Kept,
  run: () => Promise<T>,
): Promise<T> {
  const { database } = context;
  try {
    return await inOneTransaction(database, run, {
      async first(tx) {
        await lockNameFor(tx, `kept:${Buffer.from(kept.id).toString('base64')}`, longestWaitMs);
        const found = await tx.keptResult.findUnique({
          where: { id: kept.id, expiresAt: { gt: context.clock.now() } },
          select: { id: true },
        });
        if (found) throw new KeptMeanwhile();
      },
      async last(result, tx) {
        if (tx) await tx.keptResult.upsert(rowOf(context, kept, result));
        return result;
      },
    });
  } catch (error) {
    if (error instanceof KeptMeanwhile)
      return replay(context, kept, async () => Promise.reject(inUse()));
    // lock_not_available
    if (sqlState(error) === '55P03') throw inUse();
    throw error;
  }
}

async function runOutside<T>(
  context: GraphQLContext,
  kept: Kept,
  run: () => Promise<T>,
): Promise<T> {
  const result = await run();
  await context.database.prisma.keptResult.upsert(rowOf(context, kept, result));
  return result;
}

/** Another node has kept a result since this one looked. */
class KeptMeanwhile extends Error {}

function rowOf({ cipher, clock, caller }: GraphQLContext, kept: Kept, result: unknown) {
  const row = {
    fingerprint: kept.fingerprint,
    result: cipher.encrypt(serialize(result).toString('base64'), resultPurpose(kept)),
    scopes: [...(caller?.scopes ?? [])].sort(),
    expiresAt: new Date(clock.now().getTime() + keptMs),
  };
  // One that has expired may still be there.
  return { where: { id: kept.id }, create: { id: kept.id, ...row }, update: row };
}

const resultPurpose = ({ id }: Kept) =>
  purposeOf('kept-result', Buffer.from(id).toString('base64'));

const inUse = () =>
  requestError('IDEMPOTENCY_KEY_IN_USE', 'A request with this key is under way. Try again.');

/** Keyed: a plain digest of an input would let whoever reads the table guess the passwords in it. */
function digestsOf({ cipher, actor }: Context, key: string, { operation, input }: Asked): Kept {
  const secret = cipher.keptKey('kept-results');
  const digest = (values: unknown) =>
    new Uint8Array(createHmac('sha256', secret).update(JSON.stringify(values)).digest());
  return {
    id: digest(['key', actor.type, actor.id, actor.clientId, key]),
    fingerprint: digest(['request', operation, sorted(input)]),
  };
}

/** Whether {@link sorted} can walk through an input. What is nested deeper, every operation refuses. */
export const isSortable = (input: object): boolean => isWithinDepth(input, 2 * maxJsonDepth);

/** A value whose objects have their fields in one order, without those that are undefined. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const fields = Object.entries(value).filter(([, held]) => held !== undefined);
  return Object.fromEntries(
    fields.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, held]) => [name, sorted(held)]),
  );
}

const purgeKeptResults = (services: Pick<Services, 'clock' | 'log'>) =>
  createPurge(services, { table: 'KeptResult', column: 'expiresAt' });

/** The jobs of this part. */
export const jobs = purging('kept-results', purgeKeptResults);
