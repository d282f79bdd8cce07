import type { GraphQLSchema } from 'graphql';
import { parseDocument, stringify } from 'yaml';
import { type InputIssue, type InputIssueCode, InvalidInputError } from '../errors.ts';
import { composed } from '../text/typed.ts';
import {
  fieldsOf,
  type Link,
  type RecordKindName,
  recordKind,
  recordKinds,
  type SenderChannel,
  senderChannels,
  singleSections,
} from './kinds.ts';
import {
  nameOfPart,
  type State,
  type StateRecord,
  type StateSender,
  type Values,
} from './state.ts';

/** The version of the form of a document, in its first line. */
export const documentVersion = 1;

/** The largest document, in bytes. */
export const maxConfigurationBytes = 2 ** 20;

/** A record that a document wants. */
export interface Entry {
  readonly kind: RecordKindName;
  /** Where it stands in the document. */
  readonly path: readonly string[];
  readonly id: string | undefined;
  /** What people call it; a part with the name of its owner. */
  readonly name: string;
  /** The entry that it is a part of. */
  readonly owner: Entry | undefined;
  /** The given values. Links are the names of the linked records, sorted. */
  readonly values: Values;
}

/** What a document says. */
export interface Wanted {
  readonly entries: readonly Entry[];
  readonly senders: Readonly<Partial<Record<SenderChannel, Values>>>;
  readonly signInExperience: Values | undefined;
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A secret that is not in the document, and the name of the variable that holds it. */
export const isPlaceholder = (value: unknown): value is { readonly env: string } =>
  isObject(value) && Object.keys(value).length === 1 && typeof value['env'] === 'string';

/**
 * Reads a document, YAML 1.2 or JSON.
 *
 * @throws {InvalidInputError} with every fault of its form, each at its path in the document.
 */
export function readDocument(schema: GraphQLSchema, text: string): Wanted {
  const reader = new Reader(schema);
  const wanted = reader.read(parse(text));
  if (reader.faults.length > 0) throw new InvalidInputError(reader.faults);
  return wanted;
}

function parse(text: string): unknown {
  const fault = (message: string) => new InvalidInputError([{ path: ['document'], message }]);
  if (Buffer.byteLength(text) > maxConfigurationBytes) throw fault('has more than 1 MiB');
  const document = parseDocument(composed(text), {
    version: '1.2',
    schema: 'core',
    prettyErrors: true,
  });
  const [error] = [...document.errors, ...document.warnings];
  // Its first line says what and where; the others show the source, which may hold a secret.
  if (error) throw fault(error.message.split('\n', 1)[0]?.replace(/:$/, '') ?? error.code);
  try {
    return document.toJS();
  } catch (cause) {
    // Aliases that would grow without bounds.
    throw fault(cause instanceof Error ? cause.message : String(cause));
  }
}

class Reader {
  readonly faults: InputIssue[] = [];
  readonly #entries: Entry[] = [];
  readonly #schema: GraphQLSchema;

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  read(root: unknown): Wanted {
    const sections = this.#object(root, ['document']);
    if (sections['signet'] !== documentVersion) {
      const code = sections['signet'] === undefined ? 'REQUIRED' : 'INVALID_VALUE';
      this.#fault(['signet'], `must be ${documentVersion}, the version of this form`, code);
    }
    const kinds = topKinds.map((kind) => recordKind(kind).section);
    this.#knowOnly(sections, ['signet', ...kinds, ...Object.keys(singleSections)], []);
    for (const kind of topKinds) {
      const { section } = recordKind(kind);
      this.#records(kind, sections[section], [section]);
    }
    this.#unique();
    return {
      entries: this.#entries,
      senders: this.#senders(sections['messageSenders']),
      signInExperience: this.#optionalObject(sections['signInExperience'], ['signInExperience']),
    };
  }

  #records(kind: RecordKindName, given: unknown, path: readonly string[], owner?: Entry): void {
    if (given == null) return;
    if (!Array.isArray(given)) {
      this.#fault(path, 'must be a list', 'INVALID_TYPE');
      return;
    }
    for (const [index, one] of given.entries()) {
      this.#record(kind, one, [...path, String(index)], owner);
    }
  }

  #record(kind: RecordKindName, given: unknown, path: readonly string[], owner?: Entry): void {
    const { key, links = {} } = recordKind(kind);
    const parts = partsOf(kind).map((part) => [recordKind(part).section, part] as const);
    const { id, ...values } = this.#object(given, path);
    const fields = [...fieldsOf(this.#schema, kind), ...Object.keys(links)];
    this.#knowOnly(values, [...fields, ...parts.map(([section]) => section)], path);
    if (id !== undefined && typeof id !== 'string')
      this.#fault([...path, 'id'], 'must be text', 'INVALID_TYPE');
    const name = values[key];
    if (typeof name !== 'string' || name === '') {
      const code = name == null ? 'REQUIRED' : 'INVALID_TYPE';
      this.#fault([...path, key], 'must be text: people know the record by it', code);
      return;
    }
    const own = Object.fromEntries(
      Object.entries(values).filter(([field]) => !parts.some(([section]) => section === field)),
    );
    for (const [field, link] of Object.entries(links)) {
      if (field in own) own[field] = this.#linked(link, own[field], [...path, field]);
    }
    const entry: Entry = {
      kind,
      path,
      id: typeof id === 'string' ? id : undefined,
      name: owner === undefined ? name : nameOfPart(owner.name, name),
      owner,
      values: own,
    };
    this.#entries.push(entry);
    for (const [section, part] of parts)
      this.#records(part, values[section], [...path, section], entry);
  }

  /** The names of linked records: a list of them, for scopes one under each indicator. */
  #linked({ of }: Link, given: unknown, path: readonly string[]): string[] {
    if (given == null) return [];
    if (of !== 'SCOPE') return this.#names(given, path).sort();
    return Object.entries(this.#object(given, path))
      .flatMap(([indicator, scopes]) =>
        this.#names(scopes, [...path, indicator]).map((scope) => nameOfPart(indicator, scope)),
      )
      .sort();
  }

  #names(given: unknown, path: readonly string[]): string[] {
    if (!Array.isArray(given) || given.some((name) => typeof name !== 'string')) {
      this.#fault(path, 'must be a list of names', 'INVALID_TYPE');
      return [];
    }
    return [...new Set(given as string[])];
  }

  #senders(given: unknown): Wanted['senders'] {
    const path = ['messageSenders'];
    const senders = this.#optionalObject(given, path) ?? {};
    this.#knowOnly(senders, Object.keys(senderChannels), path);
    return Object.fromEntries(
      Object.entries(senders)
        .filter(([, sender]) => sender != null)
        .map(([channel, sender]) => [channel, this.#object(sender, [...path, channel])]),
    );
  }

  /** Two records of one name need an id each. */
  #unique(): void {
    const seen = new Map<string, Entry>();
    for (const entry of this.#entries) {
      const { kind, id, name, path, owner } = entry;
      const place = owner?.path.join('.') ?? '';
      const known = id === undefined ? `${kind} ${place} ${name}` : `id ${id}`;
      if (seen.has(known)) {
        const field = id === undefined ? recordKind(kind).key : 'id';
        this.#fault([...path, field], 'stands twice in the document', 'NOT_UNIQUE');
      }
      seen.set(known, entry);
    }
  }

  #object(given: unknown, path: readonly string[]): Record<string, unknown> {
    if (isObject(given)) return { ...given };
    this.#fault(path, 'must be a map of fields', 'INVALID_TYPE');
    return {};
  }

  #optionalObject(given: unknown, path: readonly string[]): Values | undefined {
    return given == null ? undefined : this.#object(given, path);
  }

  #knowOnly(given: Values, known: readonly string[], path: readonly string[]): void {
    for (const field of Object.keys(given)) {
      if (!known.includes(field))
        this.#fault([...path, field], 'There is no such field.', 'UNKNOWN_FIELD');
    }
  }

  #fault(path: readonly string[], message: string, code: InputIssueCode): void {
    this.faults.push({ path, message, code });
  }
}

const recordKindNames = Object.keys(recordKinds) as RecordKindName[];
/** The kinds that have a section of the document. */
export const topKinds = recordKindNames.filter((kind) => recordKind(kind).within === undefined);

/** The kinds of the parts of a record, which stand in it. */
export const partsOf = (kind: RecordKindName): readonly RecordKindName[] =>
  recordKindNames.filter((part) => recordKind(part).within?.kind === kind);

/** The forms in which a document is written. */
export type DocumentFormat = 'YAML' | 'JSON';

/** Writes the configuration as a document, sorted, without secrets. */
export function printDocument(state: State, format: DocumentFormat): string {
  const document = documentOf(state);
  return format === 'JSON'
    ? `${JSON.stringify(document, undefined, 2)}\n`
    : stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}

function documentOf({ records, senders, signInExperience }: State): Values {
  const exported = records.filter(({ isOwn }) => !isOwn);
  return {
    signet: documentVersion,
    ...Object.fromEntries(
      topKinds.map((kind) => [recordKind(kind).section, printRecords(kind, exported)]),
    ),
    messageSenders: Object.fromEntries(
      Object.keys(senderChannels).flatMap((channel) => {
        const sender = senders[channel as SenderChannel];
        return sender ? [[channel, printSender(channel, sender)]] : [];
      }),
    ),
    signInExperience,
  };
}

function printRecords(
  kind: RecordKindName,
  records: readonly StateRecord[],
  owner?: StateRecord,
): Values[] {
  const { key } = recordKind(kind);
  const ofKind = records
    .filter((one) => one.kind === kind && one.ownerId === owner?.id)
    .toSorted((a, b) => compare(a.name, b.name) || compare(a.id, b.id));
  return ofKind.map((record) => {
    const { [key]: name, ...others } = printedValues(record);
    const isShared = ofKind.filter((other) => other.name === record.name).length > 1;
    return {
      ...(isShared ? { id: record.id } : {}),
      [key]: name,
      ...others,
      ...placeholders(record),
      ...Object.fromEntries(
        partsOf(kind).map((part) => [
          recordKind(part).section,
          printRecords(part, records, record),
        ]),
      ),
    };
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** The values of a record as a document has them, without its secrets. */
export const printedValues = ({ kind, values }: StateRecord): Values =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([field]) => !(kind === 'WEBHOOK' && field === 'headers'))
      .map(([field, value]) => [
        field,
        recordKind(kind).links?.[field]?.of === 'SCOPE' ? byIndicator(value as string[]) : value,
      ]),
  );

/** What stands in the places of a record's secrets. */
function placeholders({ kind, name, values }: StateRecord): Values {
  if (kind === 'IDENTITY_PROVIDER') return { clientSecret: placeholder(name, 'clientSecret') };
  if (kind !== 'WEBHOOK') return {};
  const headers = (values['headers'] as string[]).map((one) => [one, placeholder(name, one)]);
  return { headers: Object.fromEntries(headers) };
}

/** The names of scopes, under the indicators of their resources. */
function byIndicator(names: readonly string[]): Record<string, string[]> {
  const scopes: Record<string, string[]> = {};
  for (const name of names) {
    const [indicator = '', scope = ''] = name.split(' ');
    scopes[indicator] ??= [];
    scopes[indicator].push(scope);
  }
  return scopes;
}

function printSender(channel: string, { kind, values }: StateSender): Values {
  const secret = kind === 'smtp' ? 'password' : 'secret';
  const hasSecret = kind === 'http' || values['username'] !== null;
  return {
    [kind]: { ...values, ...(hasSecret ? { [secret]: placeholder(channel, secret) } : {}) },
  };
}

/** What stands in the place of a secret: the name of a variable, such as `GOOGLE_CLIENT_SECRET`. */
export const placeholder = (name: string, field: string) => ({
  env: `${name} ${field}`
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, '_')
    .toUpperCase(),
});
