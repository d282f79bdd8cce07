import { isDeepStrictEqual } from 'node:util';
import { hintAfterCommit, type Transaction, writeAhead } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import type { Context } from '../services.ts';
import { type EventData, type EventName, subjectIdOf } from './catalogue.ts';
import type { Changes } from './records.ts';

/** One event to record: a type and its data. */
export type NewEvent = {
  [Name in EventName]: { readonly type: Name; readonly data: EventData<Name> };
}[EventName];

/**
 * Writes events into the log, in this order and in the caller's transaction, so that they are stored exactly if the
 * change is. Deliveries read the log afterwards; the commit wakes the log's readers.
 */
export async function recordEvents(
  tx: Transaction,
  context: Pick<Context, 'actor' | 'clock' | 'traceId'>,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { actor, clock, traceId } = context;
  const rows = events.map(({ type, data }) => ({
    id: newId('Event'),
    type,
    subjectId: subjectIdOf(type, data),
    data,
  }));
  // One statement as it stands: every mutation pays for it. Nothing in the transaction needs its answer.
  await writeAhead(
    tx,
    'record-events',
    `INSERT INTO "Event" ("id", "type", "subjectId", "actor", "actorId", "data", "traceId", "occurredAt")
     SELECT e."id", e."type", e."subjectId", $1::jsonb, $2::text, e."data", $3::text, $4::timestamptz
       FROM ROWS FROM (jsonb_to_recordset($5::jsonb)
                       AS ("id" text, "type" text, "subjectId" text, "data" jsonb))
            WITH ORDINALITY AS e ("id", "type", "subjectId", "data", "place")
      ORDER BY e."place"`,
    [JSON.stringify(actor), actor.id, traceId, clock.now(), JSON.stringify(rows)],
  );
  hintAfterCommit(tx, 'log');
}

/** Writes one event into the log: see {@link recordEvents}. */
export function recordEvent<Name extends EventName>(
  tx: Transaction,
  context: Pick<Context, 'actor' | 'clock' | 'traceId'>,
  type: Name,
  data: EventData<Name>,
): Promise<void> {
  // `Name` ties `type` to `data`, but the compiler does not see that for the union.
  return recordEvents(tx, context, [{ type, data } as unknown as NewEvent]);
}

/**
 * The fields in which two versions of a record differ; undefined if none do, so that an update without a change records
 * no event. `updatedAt` is ignored.
 */
export function changesBetween<Record extends object>(
  before: Record,
  after: Record,
): Changes | undefined {
  const entries = (Object.keys(after) as (keyof Record & string)[])
    .filter((field) => field !== 'updatedAt')
    .map((field) => [field, { from: before[field], to: after[field] }] as const)
    .filter(([, { from, to }]) => !isDeepStrictEqual(from, to));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
