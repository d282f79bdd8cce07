import { canonicalIndicator } from '../auth/indicators.ts';
import type { Database } from '../db/database.ts';
import { lockName } from '../db/lock.ts';
import type { Sql } from '../db/sql.ts';
import { brokenConstraint, quietTransaction, type Transaction } from '../db/transaction.ts';

/** The index that keeps two spellings of one indicator apart. */
export const spellingKey = 'Resource_canonicalIndicator_key';

/**
 * The id of the resource that an indicator names, as SQL: of the one that is registered so, or else of the one that is
 * registered in another spelling. Each is a lookup in a unique index; most need the first alone.
 */
export const namedResource = (indicator: string, canonical: string): string => `coalesce(
  (SELECT x."id" FROM "Resource" x WHERE x."indicator" = ${indicator}),
  (SELECT x."id" FROM "Resource" x WHERE x."canonicalIndicator" = ${canonical}))`;

const registeredStatement = `
  SELECT q.indicator AS "asked", r."indicator" FROM unnest($1::text[], $2::text[]) AS q(indicator, canonical)
    JOIN "Resource" r ON r."id" = ${namedResource('q.indicator', 'q.canonical')}`;

/** The registered spellings of those indicators that can have another, and name a resource. */
export async function registeredSpellings(
  sql: Sql,
  indicators: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = [...new Set(indicators)].flatMap((indicator) => {
    const canonical = canonicalIndicator(indicator);
    return canonical === null ? [] : [{ indicator, canonical }];
  });
  if (asked.length === 0) return new Map();
  const found = await sql.query<{ asked: string; indicator: string }>(
    'registered-spellings',
    registeredStatement,
    [asked.map(({ indicator }) => indicator), asked.map(({ canonical }) => canonical)],
  );
  return new Map(found.map((one) => [one.asked, one.indicator]));
}

/** The registered spelling of an indicator; itself if there is no such resource. */
export const registeredSpelling = async (sql: Sql, indicator: string): Promise<string> =>
  (await registeredSpellings(sql, [indicator])).get(indicator) ?? indicator;

/**
 * Gives the place of a deleted resource to one that was registered in another spelling before those were refused: the
 * oldest.
 */
export async function passSpelling(tx: Transaction, canonical: string | null): Promise<void> {
  if (canonical === null) return;
  for (const { id, indicator } of await readUnplaced(tx)) {
    if (canonicalIndicator(indicator) !== canonical) continue;
    const { count } = await tx.resource.updateMany({
      where: { id, canonicalIndicator: null },
      data: { canonicalIndicator: canonical },
    });
    if (count > 0) return;
  }
}

/** A resource that can be found by its own spelling alone, because an older one has the same indicator. */
interface Twin {
  readonly indicator: string;
  /** The spelling of the older one. */
  readonly sameAs: string;
}

const attempts = 5;

/**
 * Makes the resources findable in every spelling that a node of a version before this has registered. Of several
 * spellings of one indicator, the oldest is found in all others.
 *
 * @returns The others, which stay as they are.
 */
export async function placeSpellings(
  database: Pick<Database, 'prisma' | 'hints' | 'lend'>,
): Promise<readonly Twin[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await quietTransaction(database, placeAll);
    } catch (error) {
      // One was registered meanwhile.
      if (brokenConstraint(error) !== spellingKey || attempt === attempts) throw error;
    }
  }
}

async function placeAll(tx: Transaction): Promise<readonly Twin[]> {
  // Nodes that start together take turns.
  await lockName(tx, 'signet:bootstrap');
  const unplaced = (await readUnplaced(tx)).flatMap(({ id, indicator }) => {
    const canonical = canonicalIndicator(indicator);
    return canonical === null ? [] : [{ id, indicator, canonical }];
  });
  if (unplaced.length === 0) return [];
  const canonicals = unplaced.map(({ canonical }) => canonical);
  const taken = await tx.$queryRaw<{ indicator: string; canonicalIndicator: string }[]>`
    SELECT "indicator", "canonicalIndicator" FROM "Resource"
     WHERE "canonicalIndicator" = ANY (${canonicals}::text[])`;
  const places = new Map(taken.map((one) => [one.canonicalIndicator, one.indicator]));
  const twins: Twin[] = [];
  const placed: typeof unplaced = [];
  for (const one of unplaced) {
    const sameAs = places.get(one.canonical);
    if (sameAs !== undefined) twins.push({ indicator: one.indicator, sameAs });
    else {
      places.set(one.canonical, one.indicator);
      placed.push(one);
    }
  }
  if (placed.length === 0) return twins;
  await tx.$executeRaw`
    UPDATE "Resource" r SET "canonicalIndicator" = p.canonical
      FROM unnest(${placed.map(({ id }) => id)}::text[], ${placed.map(({ canonical }) => canonical)}::text[]) AS p(id, canonical)
     WHERE r."id" = p.id`;
  return twins;
}

/** Signet's own, and those that nodes of a version before this have registered: the oldest first. */
const readUnplaced = (tx: Transaction) =>
  tx.resource.findMany({
    where: { canonicalIndicator: null },
    select: { id: true, indicator: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
