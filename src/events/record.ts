import { isDeepStrictEqual } from 'node:util';
import { Told, untold } from '../db/told.ts';
import { hintAfterCommit, type Transaction, writeAhead } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import { patched } from '../input.ts';
import { type Call, type Context, systemActor } from '../services.ts';
import { assertBounded } from './bounds.ts';
import { type EventData, type EventName, otherIdsIn, subjectIdOf } from './catalogue/catalogue.ts';
import type { Changes } from './catalogue/records.ts';

/** Who records events, when, and from where. Where they come from is null if no call led to them. */
export type Origin = Pick<Context, 'actor' | 'clock'> & {
  readonly [Name in keyof Call]: Call[Name] | null;
};

/** Signet itself as the origin of an event, at work in the background. */
export const bySignet = { actor: systemActor, traceId: null, ip: null, userAgent: null } as const;

/** One event to record: a type and its data. */
export type NewEvent = {
  [Name in EventName]: { readonly type: Name; readonly data: EventData<Name> };
}[EventName];

/**
 * Writes events into the log, in this order and in the caller's transaction, so that they are stored exactly if the
 * change is. Deliveries read the log afterwards; the commit wakes the log's readers.
 *
 * @returns The proof that the transaction has told what it changed. No events: that it has changed nothing.
 * @throws {InvalidInputError} for one that is too large: see {@link assertBounded}.
 */
export async function recordEvents(
  tx: Transaction,
  context: Origin,
  events: readonly NewEvent[],
): Promise<Told<void>> {
  const told = new Told<void>(undefined);
  if (events.length === 0) return told;
  const { actor, clock, traceId, ip, userAgent } = context;
  const rows = events.map(({ type, data }) => {
    const otherIds = otherIdsIn(type, data);
    return {
      id: newId('Event'),
      type,
      subjectId: subjectIdOf(type, data),
      // The index leaves null out.
      otherIds: otherIds.length > 0 ? otherIds : null,
      data,
    };
  });
  const text = JSON.stringify(rows);
  assertBounded(events, text);
  // One statement as it stands: every mutation pays for it. Nothing in the transaction needs its answer.
  await writeAhead(
    tx,
    'record-events',
    `INSERT INTO "Event" ("id", "type", "subjectId", "otherIds", "actor", "actorId", "data", "traceId", "ip", "userAgent",
                          "occurredAt")
     SELECT e."id", e."type", e."subjectId", e."otherIds", $1::jsonb, $2::text, e."data", $3::text, $4::text, $5::text,
            $6::timestamptz
       FROM ROWS FROM (jsonb_to_recordset($7::jsonb)
                       AS ("id" text, "type" text, "subjectId" text, "otherIds" text[], "data" jsonb))
            WITH ORDINALITY AS e ("id", "type", "subjectId", "otherIds", "data", "place")
      ORDER BY e."place"`,
    [JSON.stringify(actor), actor.id, traceId, ip, userAgent, clock.now(), text],
  );
  hintAfterCommit(tx, 'log');
  return told;
}

/** Writes one event into the log: see {@link recordEvents}. */
export function recordEvent<Name extends EventName>(
  tx: Transaction,
  context: Origin,
  type: Name,
  data: EventData<Name>,
): Promise<Told<void>> {
  // `Name` ties `type` to `data`, but the compiler does not see that for the union.
  return recordEvents(tx, context, [{ type, data } as unknown as NewEvent]);
}

/** The types of event that report which fields changed. */
type UpdateName = {
  [Name in EventName]: EventData<Name> extends { readonly changes: Changes } ? Name : never;
}[EventName];

/** A kind of record whose updates are events. Each feature declares its own in `payload.ts`. */
export interface RecordKind<Name extends UpdateName, Row extends { readonly id: string }> {
  /** The type of event that reports an update. */
  readonly updated: Name;
  /** What events show of a row. */
  readonly shown: (row: Row) => Omit<EventData<Name>, 'changes'>;
  /** Writes fields of a row, and returns the row as written. */
  readonly write: (tx: Transaction, id: string, fields: Partial<Row>) => PromiseLike<Row>;
}

/**
 * Changes a locked row, and records the event of its kind. If nothing changes that events show, it writes nothing and
 * records nothing.
 *
 * @param patch The new values; an undefined field keeps its value.
 * @param otherChanges What changes beside the fields that events show. If given, even empty, the row is written and the
 *   event recorded in any case.
 * @returns The row as written, with the proof.
 */
export async function recordChange<Name extends UpdateName, Row extends { readonly id: string }>(
  tx: Transaction,
  context: Origin,
  { updated, shown, write }: RecordKind<Name, Row>,
  before: Row,
  patch: Partial<Row>,
  otherChanges?: Changes,
): Promise<Told<Row>> {
  const changes = changesBetween(shown(before), shown(patched(before, patch)));
  if (!changes && !otherChanges) return untold(before);
  const after = await write(tx, before.id, { ...patch, updatedAt: context.clock.now() });
  const data = { ...shown(after), changes: { ...changes, ...otherChanges } };
  // The compiler does not see that `changes` completes the data.
  const told = await recordEvent(tx, context, updated, data as unknown as EventData<Name>);
  return told.with(after);
}

/** The fields in which two versions differ; undefined if they are the same. `updatedAt` is ignored. */
export function changesBetween<Shown extends object>(
  before: Shown,
  after: Shown,
): Changes | undefined {
  const changes = (Object.keys(after) as (keyof Shown & string)[])
    .filter((field) => field !== 'updatedAt')
    .map((field) => [field, { from: before[field], to: after[field] }] as const)
    .filter(([, { from, to }]) => !isDeepStrictEqual(from, to));
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}
