import { isDeepStrictEqual } from 'node:util';
import type { InputIssue } from '../errors.ts';
import { isPlaceholder, type Wanted } from './document.ts';
import { type KindName, type SenderChannel, senderChannels } from './kinds.ts';
import { secretFields, valueless } from './secrets.ts';
import type { State, StateSender, Values } from './state.ts';
import type { Step } from './step.ts';

/** The steps for what there is one of: the sender of each channel, and the sign-in experience. */
export function singleSteps(
  state: State,
  wanted: Wanted,
  prune: ReadonlySet<KindName>,
): { readonly steps: readonly Step[]; readonly faults: readonly InputIssue[] } {
  const faults: InputIssue[] = [];
  const channels = Object.keys(senderChannels) as SenderChannel[];
  const steps = [
    ...channels.flatMap((channel) => {
      const given = wanted.senders[channel];
      const before = state.senders[channel];
      if (given) return senderStep(channel, given, before, faults);
      if (!before || !prune.has('MESSAGE_SENDER')) return [];
      return [step('MESSAGE_SENDER', channel, [], senderChannels[channel].remove, {})];
    }),
    ...signInSteps(state, wanted, prune.has('SIGN_IN_EXPERIENCE')),
  ];
  return { steps, faults };
}

const step = (
  kind: KindName,
  name: string,
  path: readonly string[],
  mutation: ReturnType<NonNullable<Step['call']>>['mutation'],
  input: Values,
): Step => ({ kind, name, path, call: () => ({ mutation, input }) });

// Where a stored secret is sent to. Another place never gets it: its secret has to be given.
const placeFields: readonly string[] = ['host', 'port', 'secure', 'username', 'url'];

function senderStep(
  channel: SenderChannel,
  given: Values,
  before: StateSender | undefined,
  faults: InputIssue[],
): Step[] {
  const path = ['messageSenders', channel];
  const kinds = Object.keys(secretFields) as StateSender['kind'][];
  const [kind, ...others] = kinds.filter((one) => given[one] != null);
  const settings = kind === undefined ? undefined : given[kind];
  const set = (input: Values) =>
    step('MESSAGE_SENDER', channel, path, senderChannels[channel].set, input);
  // The operation says what is wrong.
  if (kind === undefined || others.length > 0 || typeof settings !== 'object') return [set(given)];
  const field = secretFields[kind];
  const { [field]: secret, ...wanted } = settings as Values;
  const earlier = before?.kind === kind ? before : undefined;
  const values: Values = { ...earlier?.values, ...wanted };
  const isSamePlace = placeFields.every((one) =>
    isDeepStrictEqual(values[one], earlier?.values[one]),
  );
  const stored = isSamePlace ? (earlier?.secret ?? null) : null;
  const isGiven = secret !== undefined && !isPlaceholder(secret);
  if (isPlaceholder(secret) && stored === null) {
    faults.push(valueless([...path, kind, field], secret.env));
  }
  const complete = isGiven ? secret : (stored ?? undefined);
  if (
    earlier &&
    isDeepStrictEqual(values, { ...earlier.values }) &&
    (complete ?? null) === earlier.secret
  )
    return [];
  return [set({ ...given, [kind]: { ...values, [field]: complete } })];
}

function signInSteps(
  state: State,
  { signInExperience: wanted = {} }: Wanted,
  isPruned: boolean,
): Step[] {
  const before = state.signInExperience as unknown as Values;
  const input = changedIn(wanted, before, isPruned);
  if (Object.keys(input).length === 0) return [];
  return [
    step('SIGN_IN_EXPERIENCE', '', ['signInExperience'], 'updateSignInExperience', {
      ...input,
      expectedVersion: state.signInVersion,
    }),
  ];
}

/** The fields that differ, in groups too. What is pruned and absent goes back to its default, which is null here. */
function changedIn(wanted: Values, before: Values, isPruned: boolean): Values {
  const unknown = Object.entries(wanted).filter(([field]) => !(field in before));
  const known = Object.entries(before).flatMap(([field, now]): [string, unknown][] => {
    const value = wanted[field];
    if (isGroup(now) && (isGroup(value) || (value === undefined && isPruned))) {
      const changed = changedIn(isGroup(value) ? value : {}, now, isPruned);
      return Object.keys(changed).length > 0 ? [[field, changed]] : [];
    }
    if (value === undefined) return isPruned ? [[field, null]] : [];
    return isDeepStrictEqual(value, now) ? [] : [[field, value]];
  });
  return Object.fromEntries([...known, ...unknown]);
}

const isGroup = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
