import type { Transaction } from '../db/transaction.ts';
import { readFactorState } from '../factors/policy.ts';
import { normalValue } from '../protection/identifier.ts';
import type { VisitContext } from '../services.ts';
import type { SignInExperience } from '../sign-in-experience/settings.ts';
import { consentGate } from './consent/gate.ts';
import { hasSession, type Interaction, type Verification } from './interaction.ts';

/** The possible steps of an interaction. */
export const interactionSteps = [
  'IDENTIFY',
  'VERIFY_PASSWORD',
  'VERIFY_CODE',
  'REGISTER',
  'SET_PASSWORD',
  'COMPLETE_PROFILE',
  'VERIFY_FACTOR',
  'ENROLL_FACTOR',
  'CONSENT',
  'SUBMIT',
] as const;

/** A possible step. */
export type InteractionStep = (typeof interactionSteps)[number];

/**
 * The verifications of an interaction that have succeeded, are unused, and are no older than a code may be, in the order
 * in which they succeeded.
 */
export function verified(
  { clock }: Pick<VisitContext, 'clock'>,
  { verifications }: Pick<Interaction, 'verifications'>,
  purpose: Verification['purpose'],
): Verification[] {
  const now = clock.now();
  return verifications.filter(
    (one) => one.purpose === purpose && one.verifiedAt !== null && one.expiresAt > now,
  );
}

/** The address that a recovery goes by, of those that were proved: the last one. */
export const recoveredAddress = (
  context: Pick<VisitContext, 'clock'>,
  interaction: Pick<Interaction, 'verifications'>,
): Verification | undefined => verified(context, interaction, 'RESET_PASSWORD').at(-1);

/**
 * The person who came back from an identity provider without a linked account; null if nobody did.
 *
 * @param address Returns the person only if the provider gave this address, or none.
 */
export function newcomerOf(
  { newcomer }: Pick<Interaction, 'newcomer'>,
  address?: string,
): Interaction['newcomer'] {
  if (newcomer?.confirmation !== null) return null;
  const { email } = newcomer;
  const isOther =
    address !== undefined && email !== null && normalEmail(email) !== normalEmail(address);
  return isOther ? null : newcomer;
}

const normalEmail = (value: string) => normalValue({ type: 'email', value });

/** What the gates read. */
export type GateContext = Pick<VisitContext, 'clock'> & {
  readonly client: Transaction | VisitContext['database']['prisma'];
};

/**
 * A check between knowing the person and ending the interaction, such as the second factor.
 *
 * @returns The steps that pass it, the most likely first; empty if nothing is missing. With `SUBMIT` among them, the
 *   person may skip the others.
 */
type Gate = (
  context: GateContext,
  interaction: Interaction,
  settings: SignInExperience,
) => Promise<readonly InteractionStep[]>;

/** In the order in which a person meets them. */
const gates: readonly Gate[] = [factorGate, consentGate];

/**
 * The possible next steps, the most likely first. They depend only on what the database holds, so that every client and
 * every node gets the same.
 */
export async function readNextSteps(
  context: GateContext,
  interaction: Interaction,
  settings: SignInExperience,
): Promise<readonly InteractionStep[]> {
  if (interaction.userId === null) return stepsToIdentify(context, interaction, settings);
  const offered: InteractionStep[] = [];
  // A person with a session has passed the other gates before.
  for (const gate of hasSession(interaction) ? [consentGate] : gates) {
    const steps = await gate(context, interaction, settings);
    offered.push(...steps.filter((step) => step !== 'SUBMIT'));
    if (steps.length > 0 && !steps.includes('SUBMIT')) return offered;
  }
  return [...offered, 'SUBMIT'];
}

/**
 * The gate of the second factor: whoever has one shows it; whoever needs one adds one; everybody else is offered one,
 * once.
 */
async function factorGate(
  { client }: GateContext,
  { userId, authenticationMethods, needsSecondFactor }: Interaction,
  settings: SignInExperience,
): Promise<readonly InteractionStep[]> {
  if (userId === null || authenticationMethods.includes('mfa')) return [];
  if (settings.factors.length === 0) return [];
  const state = await readFactorState(client, settings, userId);
  if (state.usable.length > 0) return ['VERIFY_FACTOR'];
  if (state.isRequired || needsSecondFactor) return ['ENROLL_FACTOR'];
  return state.hasDeclined ? [] : ['ENROLL_FACTOR', 'SUBMIT'];
}

/** Like {@link readNextSteps}, outside a transaction. */
export const nextStepsOf = (
  { database, clock }: Pick<VisitContext, 'database' | 'clock'>,
  interaction: Interaction,
  settings: SignInExperience,
): Promise<readonly InteractionStep[]> =>
  readNextSteps({ client: database.prisma, clock }, interaction, settings);

function stepsToIdentify(
  context: Pick<VisitContext, 'clock'>,
  interaction: Interaction,
  settings: SignInExperience,
): InteractionStep[] {
  const at = context.clock.now();
  const isPending = interaction.verifications.some(
    ({ verifiedAt, expiresAt }) => verifiedAt === null && expiresAt > at,
  );
  const isRegistering = interaction.event === 'REGISTER';
  const isNewcomer = newcomerOf(interaction) !== null;
  const hasAccount = interaction.error === 'account_exists';
  const mayRegister =
    settings.signUpEnabled && !isNewcomer && isReady(context, interaction, settings);
  const steps: [InteractionStep, boolean][] = [
    ['SET_PASSWORD', recoveredAddress(context, interaction) !== undefined],
    ['COMPLETE_PROFILE', isNewcomer && !hasAccount],
    ['REGISTER', mayRegister && isRegistering],
    ['VERIFY_CODE', isPending],
    ['IDENTIFY', true],
    ['VERIFY_PASSWORD', settings.passwordEnabled],
    ['REGISTER', mayRegister && !isRegistering],
    ['COMPLETE_PROFILE', isNewcomer && hasAccount],
  ];
  return steps.filter(([, isPossible]) => isPossible).map(([step]) => step);
}

const isReady = (
  context: Pick<VisitContext, 'clock'>,
  interaction: Interaction,
  settings: SignInExperience,
): boolean =>
  missingForSignUp(context, interaction, settings).every((field) => field === 'USERNAME');

/**
 * The identifiers that a registration still needs: the required address if it is not verified yet. A user name comes
 * with the registration itself.
 */
export function missingForSignUp(
  context: Pick<VisitContext, 'clock'>,
  interaction: Interaction,
  { signUpIdentifiers }: Pick<SignInExperience, 'signUpIdentifiers'>,
): SignInExperience['signUpIdentifiers'] {
  // The first is required; the others are optional.
  const [required] = signUpIdentifiers;
  if (required === undefined) return [];
  const isShown = verified(context, interaction, 'REGISTER').some(({ type }) => type === required);
  // What an identity provider has verified needs no code.
  const isTold =
    required === 'EMAIL' &&
    newcomerOf(interaction)?.isEmailVerified === true &&
    interaction.error !== 'account_exists';
  return isShown || isTold ? [] : [required];
}
