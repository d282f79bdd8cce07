import { isBuiltInApplication } from '../applications/built-in.ts';
import type { InputIssue } from '../errors.ts';
import { composed } from '../text/typed.ts';
import type { Entry } from './document.ts';
import { type KindName, recordKind } from './kinds.ts';
import type { State, StateRecord } from './state.ts';

/** Which records a document means, and which it leaves out. */
export interface Matches {
  /** The record of each entry; an entry without one is a record to create. */
  readonly records: ReadonlyMap<Entry, StateRecord>;
  /** The records to delete: left out of the document, and of a kind that is pruned. */
  readonly pruned: readonly StateRecord[];
  readonly faults: readonly InputIssue[];
}

/**
 * Finds the record of each entry: by its id, or else by what people call it. Entries with an id that is unknown here,
 * as on another service, take the records of their name one after the other. Parts are looked for in the record of
 * their owner alone.
 *
 * @param keep The id of an application that is never deleted: the caller's own.
 */
export function matchRecords(
  { records }: State,
  entries: readonly Entry[],
  prune: ReadonlySet<KindName>,
  keep: string | null,
): Matches {
  const found = new Map<Entry, StateRecord>();
  const faults: InputIssue[] = [];
  const byId = new Map(records.map((record) => [record.id, record]));
  const taken = new Set<StateRecord>();
  const take = (entry: Entry, record: StateRecord) => {
    found.set(entry, record);
    taken.add(record);
  };
  const mayBe = ({ kind, owner }: Entry, record: StateRecord) =>
    record.kind === kind && record.ownerId === (owner && found.get(owner)?.id);
  const match = (some: readonly Entry[]) => {
    for (const entry of some) {
      const record = entry.id === undefined ? undefined : byId.get(entry.id);
      if (record === undefined) continue;
      if (mayBe(entry, record)) take(entry, record);
      else faults.push({ path: [...entry.path, 'id'], message: 'is the id of another record' });
    }
    for (const entry of some) {
      if (found.has(entry)) continue;
      const { key } = recordKind(entry.kind);
      const candidates = records.filter(
        (record) =>
          mayBe(entry, record) &&
          // Versions before this have stored names as they were typed.
          composed(String(record.values[key])) === entry.values[key] &&
          !taken.has(record) &&
          !isBuiltInApplication(record.id),
      );
      const [first] = candidates;
      if (entry.id === undefined && candidates.length > 1) {
        faults.push({
          path: [...entry.path, key],
          message: 'is the name of several records: give the id of one',
        });
      } else if (first) take(entry, first);
    }
  };
  // What a part is looked for in has to be known first.
  match(entries.filter(({ owner }) => owner === undefined));
  match(entries.filter(({ owner }) => owner !== undefined));
  const pruned = records.filter(
    (record) => prune.has(record.kind) && !record.isOwn && !taken.has(record) && record.id !== keep,
  );
  return { records: found, pruned, faults };
}
