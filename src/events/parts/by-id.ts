import { Prisma, type PrismaClient } from '../../generated/prisma/client.ts';
import { createdAt } from '../../ids.ts';
import type { Parts } from './ranges.ts';

type Reader = Pick<PrismaClient, '$queryRaw'>;

interface Begun {
  readonly number: number;
  readonly begunAt: Date;
}

// Old lists do no harm: what they lead past is looked for everywhere.
const lists = new WeakMap<Reader, { readonly readAt: number; readonly parts: readonly Begun[] }>();
const keptMs = 60_000;

/** So few parts are read at once. */
const fewParts = 6;

async function partsOf(reader: Reader): Promise<readonly Begun[]> {
  const known = lists.get(reader);
  if (known && performance.now() - known.readAt < keptMs) return known.parts;
  const parts = await reader.$queryRaw<Begun[]>(
    Prisma.sql`SELECT "number", "begunAt" FROM "EventPart" ORDER BY "number"`,
  );
  lists.set(reader, { readAt: performance.now(), parts });
  return parts;
}

/**
 * Finds events by id. Ids tell when they were made, by the clock of a process; the parts around that time are looked
 * at first, and all of them for what is not there.
 *
 * @param find Finds events by id in some parts.
 */
export async function byId<Row extends { readonly id: string }>(
  reader: Reader,
  ids: readonly string[],
  find: (ids: readonly string[], parts: Parts) => Promise<Row[]>,
): Promise<Row[]> {
  if (ids.length === 0) return [];
  const parts = await partsOf(reader);
  const near = parts.length > fewParts ? partsAround(parts, ids) : undefined;
  if (!near) return find(ids, {});
  const found = await find(ids, near);
  if (found.length === ids.length) return found;
  const ofFound = new Set(found.map(({ id }) => id));
  const missing = ids.filter((id) => !ofFound.has(id));
  return [...found, ...(await find(missing, {}))];
}

function partsAround(parts: readonly Begun[], ids: readonly string[]): Parts | undefined {
  const times = ids.flatMap((id) => createdAt(id)?.getTime() ?? []);
  if (times.length === 0) return undefined;
  const at = (time: number) => parts.findLastIndex(({ begunAt }) => begunAt.getTime() <= time);
  const [first, last] = [at(Math.min(...times)) - 1, at(Math.max(...times)) + 1];
  if (last - first >= parts.length / 2) return undefined;
  const after = parts[last + 1]?.number;
  return { first: parts[first]?.number, last: after === undefined ? undefined : after - 1 };
}
