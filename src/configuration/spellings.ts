import { canonicalIndicator } from '../auth/indicators.ts';
import type { Entry, Wanted } from './document.ts';
import { recordKind } from './kinds.ts';
import { nameOfPart, type State, type Values } from './state.ts';

/** What a document wants, with resources in the spelling of their indicator that is registered, or that it has first. */
export function inRegisteredSpelling(wanted: Wanted, { records }: State): Wanted {
  const registered = records.filter(({ kind }) => kind === 'RESOURCE').map(({ name }) => name);
  const known = new Set(registered);
  const spellings = new Map<string, string>();
  const own = wanted.entries.filter(({ kind }) => kind === 'RESOURCE').map(({ name }) => name);
  for (const name of [...registered, ...own]) {
    const canonical = canonicalIndicator(name);
    if (canonical !== null && !spellings.has(canonical)) spellings.set(canonical, name);
  }
  const spell = (indicator: string): string =>
    known.has(indicator)
      ? indicator
      : (spellings.get(canonicalIndicator(indicator) ?? '') ?? indicator);
  const respelt = new Map<Entry, Entry>();
  for (const entry of wanted.entries) respelt.set(entry, respell(entry, respelt, spell));
  return { ...wanted, entries: [...respelt.values()] };
}

function respell(
  entry: Entry,
  respelt: ReadonlyMap<Entry, Entry>,
  spell: (indicator: string) => string,
): Entry {
  const { kind } = entry;
  const { key, links = {} } = recordKind(kind);
  // What a part is of stands before it.
  const owner = entry.owner && respelt.get(entry.owner);
  const values: Record<string, unknown> = { ...entry.values };
  if (kind === 'RESOURCE') values[key] = spell(entry.name);
  for (const [field, { of }] of Object.entries(links)) {
    const names = values[field] as readonly string[] | undefined;
    if (of === 'SCOPE' && names) values[field] = respellScopes(names, spell);
  }
  const name = String(values[key]);
  return {
    ...entry,
    owner,
    name: owner ? nameOfPart(owner.name, name) : name,
    values: values as Values,
  };
}

const respellScopes = (
  names: readonly string[],
  spell: (indicator: string) => string,
): readonly string[] => {
  const all = names.map((name) => {
    const [indicator = '', scope = ''] = name.split(' ');
    return nameOfPart(spell(indicator), scope);
  });
  return [...new Set(all)].sort();
};
