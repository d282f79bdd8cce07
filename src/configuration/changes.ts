import { isDeepStrictEqual } from 'node:util';
import { printedValues } from './document.ts';
import { type KindName, kindNames, type SenderChannel, senderChannels } from './kinds.ts';
import type { State, StateRecord, StateSender, Values } from './state.ts';

/** What a change does to a record. */
export const changeActions = ['CREATE', 'UPDATE', 'DELETE'] as const;

/** A record that a document changes. */
export interface Change {
  readonly action: (typeof changeActions)[number];
  readonly kind: KindName;
  /** What people call the record; a part of another with what that is called. */
  readonly key: string;
  readonly fields: readonly FieldChange[];
}

/** A value that changes. Of a secret only that it changes is told. */
export interface FieldChange {
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

interface Side {
  readonly kind: KindName;
  readonly key: string;
  readonly values: Values;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What is different between two states of the configuration, in the order of the kinds. */
export function changesBetween(before: State, after: State): Change[] {
  const [old, now] = [sidesOf(before), sidesOf(after)];
  const ids = new Set([...old.keys(), ...now.keys()]);
  return [...ids]
    .flatMap((id) => changeOf(old.get(id), now.get(id)) ?? [])
    .toSorted(
      (a, b) =>
        changeActions.indexOf(a.action) - changeActions.indexOf(b.action) ||
        kindNames.indexOf(a.kind) - kindNames.indexOf(b.kind) ||
        (a.key < b.key ? -1 : Number(a.key > b.key)),
    );
}

function sidesOf({ records, senders, signInExperience }: State): Map<string, Side> {
  const channels = Object.keys(senderChannels) as SenderChannel[];
  return new Map([
    ...records.map((record): [string, Side] => [record.id, recordSide(record)]),
    ...channels.flatMap((channel): [string, Side][] => {
      const sender = senders[channel];
      return sender ? [[channel, senderSide(channel, sender)]] : [];
    }),
    [
      'signInExperience',
      {
        kind: 'SIGN_IN_EXPERIENCE',
        key: 'signInExperience',
        // An interface has no index signature.
        values: { ...signInExperience },
        secrets: {},
      },
    ],
  ]);
}

const recordSide = (record: StateRecord): Side => ({
  kind: record.kind,
  key: record.name,
  values: printedValues(record),
  secrets: record.secrets,
});

const senderSide = (channel: string, { kind, values, secret }: StateSender): Side => ({
  kind: 'MESSAGE_SENDER',
  key: channel,
  values: { [kind]: values },
  secrets: secret === null ? {} : { [kind]: secret },
});

function changeOf(before: Side | undefined, after: Side | undefined): Change | undefined {
  const side = after ?? before;
  if (!side) return undefined;
  const { kind } = side;
  const fields = [
    ...valuesBetween(before?.values ?? {}, after?.values ?? {}),
    ...secretsBetween(kind, before?.secrets ?? {}, after?.secrets ?? {}),
  ];
  const key = after?.key ?? before?.key ?? '';
  if (!before) return { action: 'CREATE', kind, key, fields };
  if (!after) return { action: 'DELETE', kind, key, fields };
  return fields.length > 0 ? { action: 'UPDATE', kind, key, fields } : undefined;
}

function valuesBetween(before: Values, after: Values, path: readonly string[] = []): FieldChange[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields].flatMap((field) => {
    const [from, to] = [before[field], after[field]];
    if (isDeepStrictEqual(from, to)) return [];
    const at = [...path, field];
    if (isGroup(from) && isGroup(to)) return valuesBetween(from, to, at);
    return [{ path: at, before: from ?? null, after: to ?? null }];
  });
}

const isGroup = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hidden = '(secret)';

function secretsBetween(
  kind: KindName,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): FieldChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => ({
      path: secretPath(kind, name),
      before: name in before ? hidden : null,
      after: name in after ? (name in before ? '(another secret)' : hidden) : null,
    }));
}

function secretPath(kind: KindName, name: string): string[] {
  if (kind === 'WEBHOOK') return ['headers', name];
  if (kind === 'MESSAGE_SENDER') return [name, name === 'smtp' ? 'password' : 'secret'];
  return [name];
}
