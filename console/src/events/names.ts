import { useMemo, useSyncExternalStore } from 'react';
import { send } from '../kit/api/send.ts';
import type { RecordSearch } from '../kit/lists/record-filter.tsx';
import { findRecords } from '../kit/records/find-records.ts';
import { useSession } from '../kit/session/session.ts';
import { NamesOf } from './documents.ts';

const gatherMs = 30;
const perRequest = 50;
const keep = 2_000;

const names = new Map<string, string | null>();
const wanted = new Set<string>();
const listeners = new Set<() => void>();
let isAsking = false;

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The name of a record, once loaded. Names are requested in batches. */
export function useName(id: string | null | undefined): string | undefined {
  const name = useSyncExternalStore(subscribe, () => (id ? names.get(id) : undefined));
  if (id && name === undefined) want(id);
  return name ?? undefined;
}

function want(id: string): void {
  if (wanted.has(id)) return;
  wanted.add(id);
  askSoon();
}

function askSoon(): void {
  if (isAsking) return;
  isAsking = true;
  setTimeout(fetchNames, gatherMs);
}

async function loadName(id: string): Promise<string | undefined> {
  const { nodes } = await send(NamesOf, { ids: [id] });
  return (nodes[0] && nameOf(nodes[0])) ?? undefined;
}

async function fetchNames(): Promise<void> {
  const ids = [...wanted].slice(0, perRequest);
  try {
    const { nodes } = await send(NamesOf, { ids });
    if (names.size > keep) names.clear();
    ids.forEach((id, index) => {
      const node = nodes[index];
      // Null if it is gone or not readable; not requested again.
      names.set(id, node ? nameOf(node) : null);
    });
  } catch {
    for (const id of ids) names.set(id, null);
  }
  for (const id of ids) wanted.delete(id);
  for (const listener of [...listeners]) listener();
  isAsking = false;
  if (wanted.size > 0) askSoon();
}

function nameOf(node: object): string | null {
  const { fullName, username, primaryEmail, name } = node as Record<string, string | null>;
  return fullName ?? username ?? primaryEmail ?? name ?? null;
}

/** The search of a filter by a record of any kind, by name or id. */
export function useAnyRecord(): RecordSearch {
  const { scopes } = useSession();
  return useMemo(
    () => ({
      search: async (search, signal) =>
        search === ''
          ? []
          : (await findRecords(search, scopes, signal)).map(({ id, text, detail }) => ({
              key: id,
              text,
              detail: detail ?? null,
            })),
      nameOf: loadName,
    }),
    [scopes],
  );
}
