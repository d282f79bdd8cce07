import { isDeepStrictEqual } from 'node:util';
import type { GraphQLSchema } from 'graphql';
import { type InputIssue, InvalidInputError } from '../errors.ts';
import { readDomain } from '../text/address.ts';
import type { Entry, Wanted } from './document.ts';
import {
  type Call,
  inputTypeOf,
  type KindName,
  kindNames,
  type Link,
  mutationsOf,
  type RecordKindName,
  recordKind,
} from './kinds.ts';
import { type Matches, matchRecords } from './match.ts';
import { withSecrets } from './secrets.ts';
import { singleSteps } from './single-steps.ts';
import { inRegisteredSpelling } from './spellings.ts';
import type { State, Values } from './state.ts';
import { Ids, type Step } from './step.ts';

/** What a document leads to. */
export interface Steps {
  readonly steps: readonly Step[];
  readonly ids: Ids;
  readonly warnings: readonly string[];
}

/**
 * Finds the calls that make the configuration what a document wants. What the document leaves out stays, unless its
 * kind is pruned. A call may come to nothing, for example if a value differs in its spelling alone.
 *
 * @param keep The id of an application that is never deleted: the caller's own.
 * @throws {InvalidInputError} with every fault that shows before anything is written.
 */
export function stepsTo(
  schema: GraphQLSchema,
  asked: Wanted,
  state: State,
  { prune, keep }: { readonly prune: ReadonlySet<KindName>; readonly keep: string | null },
): Steps {
  const wanted = inRegisteredSpelling(asked, state);
  const matches = matchRecords(state, wanted.entries, prune, keep);
  const comparison = new Comparison(schema, state, wanted, matches);
  const single = singleSteps(state, wanted, prune);
  const steps = [
    ...kindNames.flatMap((kind) => [
      ...wanted.entries.filter((entry) => entry.kind === kind).flatMap((one) => comparison.of(one)),
      ...single.steps.filter((step) => step.kind === kind),
    ]),
    ...deletions(matches),
  ];
  const faults = [...matches.faults, ...comparison.faults, ...single.faults];
  if (faults.length > 0) throw new InvalidInputError(faults);
  return { steps, ids: comparison.ids, warnings: comparison.warnings };
}

function deletions({ pruned }: Matches): Step[] {
  return pruned
    .filter(({ ownerId }) => !pruned.some(({ id }) => id === ownerId))
    .toSorted((a, b) => kindNames.indexOf(b.kind) - kindNames.indexOf(a.kind))
    .map(({ kind, id, name, version }) => ({
      kind,
      id,
      name,
      path: [],
      call: () => ({
        mutation: mutationsOf(kind).delete,
        input: { id, expectedVersion: version },
      }),
    }));
}

class Comparison {
  readonly faults: InputIssue[] = [];
  readonly warnings: string[] = [];
  readonly ids = new Ids();
  readonly #schema: GraphQLSchema;
  readonly #matches: Matches;
  readonly #known: ReadonlySet<string>;

  constructor(schema: GraphQLSchema, state: State, { entries }: Wanted, matches: Matches) {
    this.#schema = schema;
    this.#matches = matches;
    const { records, pruned } = matches;
    for (const { kind, name, id } of state.records) this.ids.add(kind, name, id);
    for (const [{ kind, name, path }, { id }] of records) {
      this.ids.add(kind, name, id);
      this.ids.place(path, id);
    }
    const kept = state.records.filter((record) => !pruned.includes(record));
    this.#known = new Set([...kept, ...entries].map(({ kind, name }) => `${kind} ${name}`));
  }

  of(entry: Entry): Step[] {
    const { kind, name, path } = entry;
    const links = Object.entries(recordKind(kind).links ?? {});
    for (const [field, link] of links) this.#checkLinks(entry, field, link);
    const before = this.#matches.records.get(entry);
    const { values, faults, warnings } = withSecrets(entry, before);
    this.faults.push(...faults);
    this.warnings.push(...warnings);
    const own = Object.fromEntries(
      Object.entries(values).filter(([field]) => !links.some(([linked]) => linked === field)),
    );
    if (!before) return [this.#creation(entry, own)];
    const changed = changedValues(own, before.values, kind);
    this.#checkFixed(entry, changed);
    const { id, version } = before;
    const linked = links.filter(
      ([field]) =>
        values[field] !== undefined && !isDeepStrictEqual(values[field], before.values[field]),
    );
    const isChanged = Object.keys(changed).length > 0;
    if (!isChanged && linked.length === 0) return [];
    const input = { id, expectedVersion: version, ...changed };
    return [
      {
        kind,
        path,
        name,
        id,
        call: isChanged ? () => ({ mutation: mutationsOf(kind).update, input }) : undefined,
        links: (ids) =>
          linked.flatMap(([field, link]) =>
            linkCalls(link, id, ids, namesIn(before.values, field), namesIn(values, field)),
          ),
      },
    ];
  }

  #creation({ kind, name, owner, path, values }: Entry, own: Values): Step {
    const { within, links = {} } = recordKind(kind);
    const linked = Object.entries(links).filter(([field]) => values[field] !== undefined);
    return {
      kind,
      path,
      name,
      call: (ids) => ({
        mutation: mutationsOf(kind).create,
        input: {
          ...(within && owner ? { [within.field]: ids.at(owner.path) } : {}),
          ...own,
          ...Object.fromEntries(
            linked.flatMap(([field, { of, input }]) =>
              input ? [[input, ids.all(of, namesIn(values, field))]] : [],
            ),
          ),
        },
      }),
      links: (ids, id) =>
        linked.flatMap(([field, link]) =>
          link.input ? [] : linkCalls(link, id, ids, [], namesIn(values, field)),
        ),
    };
  }

  #checkLinks({ path, values }: Entry, field: string, { of }: Link): void {
    for (const name of (values[field] ?? []) as string[]) {
      if (this.#known.has(`${of} ${name}`)) continue;
      const [indicator = '', scope = name] = of === 'SCOPE' ? name.split(' ') : [];
      this.faults.push({
        path: [...path, field, ...(of === 'SCOPE' ? [indicator] : [])],
        message: `names ${scope}, which is neither here nor in the document`,
      });
    }
  }

  /** What only a creation takes cannot change. */
  #checkFixed({ kind, path }: Entry, changed: Values): void {
    const fields = inputTypeOf(this.#schema, mutationsOf(kind).update).getFields();
    for (const field of Object.keys(changed)) {
      if (field in fields) continue;
      const message = 'cannot change: delete the record, and create another';
      this.faults.push({ path: [...path, field], message });
    }
  }
}

const namesIn = (values: Values, field: string): readonly string[] =>
  // The reader of documents and that of the state make each link a list of names.
  (values[field] ?? []) as readonly string[];

function linkCalls(
  { of, replace }: Link,
  id: string,
  ids: Ids,
  before: readonly string[],
  after: readonly string[],
): readonly Call[] {
  if (before.length === 0 && after.length === 0) return [];
  return replace(id, {
    all: ids.all(of, after),
    added: ids.all(
      of,
      after.filter((name) => !before.includes(name)),
    ),
    removed: ids.all(
      of,
      before.filter((name) => !after.includes(name)),
    ),
  });
}

// Lists in which the order says nothing, and how the service spells what is in them.
const sets: Readonly<Record<string, (one: unknown) => unknown>> = {
  events: (one) => one,
  emailDomains: (one) => (typeof one === 'string' ? (readDomain(one) ?? one) : one),
};

function changedValues(wanted: Values, before: Values, kind: RecordKindName): Values {
  const differs = ([field, value]: readonly [string, unknown]) => {
    const spell = sets[field];
    const stored = spell && Array.isArray(value) ? value.map(spell).toSorted() : value;
    return value !== undefined && !isDeepStrictEqual(stored ?? null, before[field] ?? null);
  };
  const changed = Object.entries(wanted).filter(differs);
  // Another URL would drop what was meant for the one before, and is not given again.
  const isElsewhere = kind === 'WEBHOOK' && changed.some(([field]) => field === 'url');
  return isElsewhere ? wanted : Object.fromEntries(changed);
}
