import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../auth/context.ts';
import { hintAfterCommit, type Transaction } from '../db/transaction.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { catalogue, type EventData, type EventName } from './catalogue.ts';
import type { Changes } from './payloads.ts';

/** One event to record: a type and its data. */
export type NewEvent = {
  [Name in EventName]: { readonly type: Name; readonly data: EventData<Name> };
}[EventName];

/**
 * Writes events into the log, in the caller's transaction and in this order, and does nothing else: they are
 * there exactly if the change is. Whatever leaves the service reads the log afterwards; after the commit its readers
 * get a hint to look.
 */
export async function recordEvents(
  tx: Transaction,
  context: Pick<Context, 'actor' | 'clock' | 'traceId'>,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { actor, clock, traceId } = context;
  await tx.event.createMany({
    data: events.map(({ type, data }) => ({
      id: newId('Event'),
      type,
      subjectId: (catalogue[type].subjectId as (data: unknown) => string | null)(data),
      actor: { ...actor },
      actorId: actor.id,
      // Plain JSON by its types, but for the index signature that Prisma wants.
      data: data as unknown as Prisma.InputJsonObject,
      traceId,
      occurredAt: clock.now(),
    })),
  });
  hintAfterCommit(tx);
}

/** Writes one event into the log: see {@link recordEvents}. */
export function recordEvent<Name extends EventName>(
  tx: Transaction,
  context: Pick<Context, 'actor' | 'clock' | 'traceId'>,
  type: Name,
  data: EventData<Name>,
): Promise<void> {
  // One `Name` binds the two; the compiler does not carry that over to the union.
  return recordEvents(tx, context, [{ type, data } as unknown as NewEvent]);
}

/**
 * What an update changed, comparing the records of before and after; undefined where nothing did, so that a call
 * that changes nothing raises nothing. `updatedAt` alone is no change.
 */
export function changesBetween<Record extends object>(
  before: Record,
  after: Record,
): Changes['changes'] | undefined {
  const entries = (Object.keys(after) as (keyof Record & string)[])
    .filter((field) => field !== 'updatedAt')
    .map((field) => [field, { from: before[field], to: after[field] }] as const)
    .filter(([, { from, to }]) => !isDeepStrictEqual(from, to));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
