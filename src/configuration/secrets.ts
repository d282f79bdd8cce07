import { isDeepStrictEqual } from 'node:util';
import type { InputIssue } from '../errors.ts';
import type { MutationName } from '../graphql/mutations/raised.ts';
import { type Entry, isPlaceholder, type Wanted } from './document.ts';
import { mutationsOf, type SenderChannel, senderChannels } from './kinds.ts';
import type { StateRecord, StateSender, Values } from './state.ts';

/** The values of an entry, with its secrets in the place of their placeholders. */
interface Completed {
  readonly values: Values;
  readonly faults: readonly InputIssue[];
  readonly warnings: readonly string[];
}

/**
 * The mutations that set the secrets which a document gives. Who may not call them could try secrets: a plan tells
 * whether one is the stored one.
 */
export const mutationsOfSecrets = ({ entries, senders }: Wanted): readonly MutationName[] => [
  ...entries
    .filter(({ values: { headers, clientSecret } }) => isGiven(clientSecret) || holdsGiven(headers))
    .map(({ kind }) => mutationsOf(kind).update),
  ...Object.entries(senders)
    .filter(([, sender]) =>
      Object.entries(secretFields).some(([kind, field]) =>
        isGiven((sender[kind] as Values | null)?.[field]),
      ),
    )
    .map(([channel]) => senderChannels[channel as SenderChannel].set),
];

const isGiven = (value: unknown): boolean => value != null && !isPlaceholder(value);

const holdsGiven = (headers: unknown): boolean =>
  typeof headers === 'object' && headers !== null && Object.values(headers).some(isGiven);

/**
 * Completes the secrets of an entry. A secret that the document only names stays as it is stored. One that is stored
 * already is left out, so that it counts as no change.
 */
export function withSecrets(entry: Entry, before: StateRecord | undefined): Completed {
  if (entry.kind === 'WEBHOOK') return withHeaders(entry, before);
  if (entry.kind === 'IDENTITY_PROVIDER') return withClientSecret(entry, before);
  return { values: entry.values, faults: [], warnings: [] };
}

function withClientSecret({ values, name }: Entry, before: StateRecord | undefined): Completed {
  const { clientSecret, ...others } = values;
  const stored = before?.secrets['clientSecret'];
  if (isPlaceholder(clientSecret)) {
    const warnings =
      before === undefined
        ? [`The identity provider ${name} has no client secret: ${clientSecret.env} has no value.`]
        : [];
    return { values: others, faults: [], warnings };
  }
  return { values: clientSecret === stored ? others : values, faults: [], warnings: [] };
}

function withHeaders({ values, path }: Entry, before: StateRecord | undefined): Completed {
  const { headers: given, ...others } = values;
  if (typeof given !== 'object' || given === null) return { values, faults: [], warnings: [] };
  const faults: InputIssue[] = [];
  // What was meant for one host is not sent to another.
  const stored = before && isSameHost(values, before.values) ? before.secrets : {};
  const headers = Object.fromEntries(
    Object.entries(given).map(([header, value]) => {
      if (!isPlaceholder(value)) return [header, value];
      const known = Object.hasOwn(stored, header) ? stored[header] : undefined;
      if (known === undefined) faults.push(valueless([...path, 'headers', header], value.env));
      return [header, known];
    }),
  );
  const isSame = isDeepStrictEqual(headers, { ...before?.secrets });
  return { values: isSame ? others : { ...others, headers }, faults, warnings: [] };
}

function isSameHost({ url: wanted }: Values, { url: now }: Values): boolean {
  const origin = (url: unknown) => URL.parse(String(url))?.origin;
  return wanted === undefined || origin(wanted) === origin(now);
}

/** The field of a sender's secret, by its kind. */
export const secretFields = { smtp: 'password', http: 'secret' } as const satisfies Readonly<
  Record<StateSender['kind'], string>
>;

/** The fault of a secret that is neither given nor stored. */
export const valueless = (path: readonly string[], env: string): InputIssue => ({
  path,
  message: `has no value: ${env} is not set, and none is stored`,
  code: 'REQUIRED',
});
