import { toNumericDate } from '../../clock.ts';
import { lockUser } from '../../db/lock.ts';
import type { Transaction } from '../../db/transaction.ts';
import {
  InteractionExpiredError,
  LockedError,
  NotAllowedError,
  VerificationFailedError,
} from '../../errors.ts';
import { createBackupCodes as createCodes, takeBackupCode } from '../../factors/backup-codes.ts';
import { factorGuess } from '../../factors/guess.ts';
import {
  beginTotp,
  type ConfirmTotpInput,
  confirmTotp as confirmApp,
  type ShownTotp,
  takeTotp,
} from '../../factors/totp.ts';
import type { User } from '../../generated/prisma/client.ts';
import { forgetAttempts, takeAttempt, whileTaken } from '../../protection/attempts.ts';
import { readDevice } from '../../protection/device.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { failureOf } from '../failure.ts';
import {
  asPerson,
  changeInteraction,
  type Interaction,
  isRecent,
  readInteraction,
  updateInteraction,
} from '../interaction.ts';
import { type InteractionStep, nextStepsOf, readNextSteps } from '../steps.ts';

/**
 * Locks the person of an interaction, so that their factors do not change meanwhile. Who they are no longer counts after
 * a suspension, and after a password change or a forced sign-out elsewhere: whoever only knew the old password must not
 * add a factor of their own.
 *
 * @throws {NotAllowedError} when nobody has signed in yet; {@link InteractionExpiredError}
 */
export async function lockPerson(
  tx: Transaction,
  { userId, authenticatedAt, restartUrl }: Interaction,
): Promise<User> {
  if (userId === null || authenticatedAt === null)
    throw new NotAllowedError('Nobody has signed in yet.');
  const user = await lockUser(tx, userId);
  const { isSuspended, tokensValidAfter } = user;
  const isStale =
    tokensValidAfter !== null && toNumericDate(authenticatedAt) < toNumericDate(tokensValidAfter);
  if (isSuspended || isStale) throw new InteractionExpiredError(restartUrl);
  return user;
}

/**
 * Asserts that the person may add a factor here: they have none, or have shown one. Whoever is known by a session alone
 * has to have signed in just before: the factor that they had to show may have been deleted since.
 *
 * @throws {NotAllowedError} {@link InteractionExpiredError}
 */
export async function assertMayEnroll(
  tx: Transaction,
  { clock }: Pick<VisitContext, 'clock'>,
  interaction: Interaction,
): Promise<void> {
  const { authenticatedAt, authenticationMethods, createdAt, restartUrl } = interaction;
  if (authenticationMethods.includes('mfa')) return;
  if (authenticatedAt && !isRecent(authenticatedAt, createdAt))
    throw new InteractionExpiredError(restartUrl);
  const settings = await readSignInExperience(tx);
  // Where the person may sign in without a factor, they may also add one.
  const steps = await readNextSteps({ client: tx, clock }, interaction, settings);
  if (steps.includes('VERIFY_FACTOR')) throw new NotAllowedError('The next step is VERIFY_FACTOR.');
}

/** Records that the person has shown a second factor. */
export const recordFactor = (
  tx: Transaction,
  interaction: Interaction,
  methods: readonly string[],
): Promise<Interaction> =>
  updateInteraction(tx, interaction, {
    authenticationMethods: [...new Set([...interaction.authenticationMethods, ...methods, 'mfa'])],
  });

/**
 * Begins to add an authenticator app during a sign-in.
 *
 * @throws {NotAllowedError} {@link InteractionExpiredError}
 */
export async function enrollTotp(
  context: VisitContext,
  access: InteractionAccess,
): Promise<ShownTotp & { interaction: Interaction }> {
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id: userId } = await lockPerson(tx, interaction);
    await assertMayEnroll(tx, context, interaction);
    const shown = await beginTotp(tx, context, { userId, holder: interaction.id });
    return { ...shown, interaction };
  });
}

/**
 * Adds the authenticator app, which has then been shown as second factor too.
 *
 * @throws {VerificationFailedError} {@link InvalidInputError} {@link NotAllowedError} {@link InteractionExpiredError}
 */
export async function confirmTotp(
  context: VisitContext,
  access: InteractionAccess,
  input: ConfirmTotpInput,
): Promise<Interaction> {
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id: userId } = await lockPerson(tx, interaction);
    await assertMayEnroll(tx, context, interaction);
    const person = asPerson(context, interaction, userId);
    const { language } = context.visitor;
    const enrolling = { userId, holder: interaction.id, language };
    const factor = await confirmApp(tx, person, enrolling, input);
    if (!factor) throw new VerificationFailedError();
    return recordFactor(tx, interaction, ['otp']);
  });
}

/**
 * Makes backup codes during a sign-in. A person who has no other factor shows one of them next.
 *
 * @throws {NotAllowedError} {@link InteractionExpiredError}
 */
export async function createBackupCodes(
  context: VisitContext,
  access: InteractionAccess,
): Promise<{ interaction: Interaction; codes: string[] }> {
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id: userId } = await lockPerson(tx, interaction);
    await assertMayEnroll(tx, context, interaction);
    const person = asPerson(context, interaction, userId);
    const { language } = context.visitor;
    return { interaction, codes: await createCodes(tx, person, { userId, language }) };
  });
}

/**
 * Declines to add a factor. It is not offered again.
 *
 * @throws {NotAllowedError} when one is required, or none is offered now; {@link InteractionExpiredError}
 */
export async function skipEnrollment(
  context: VisitContext,
  access: InteractionAccess,
): Promise<Interaction> {
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id } = await lockPerson(tx, interaction);
    const settings = await readSignInExperience(tx);
    const steps = await readNextSteps({ client: tx, clock: context.clock }, interaction, settings);
    if (!isOffer(steps)) throw new NotAllowedError('There is no enrolment to skip.');
    await tx.user.update({ where: { id }, data: { enrollmentSkippedAt: context.clock.now() } });
    return interaction;
  });
}

/**
 * Forgets who the person is, so that somebody else can sign in. What was added to the account stays.
 *
 * @throws {InteractionExpiredError}
 */
export const forgetPerson = (
  context: VisitContext,
  access: InteractionAccess,
): Promise<Interaction> =>
  changeInteraction(context, access, (tx, interaction) =>
    updateInteraction(tx, interaction, {
      userId: null,
      authenticationMethods: [],
      authenticatedAt: null,
      hasRegistered: false,
      identifier: null,
      event: 'SIGN_IN',
    }),
  );

/** Whether a second factor is offered that the person may decline. */
const isOffer = (steps: readonly InteractionStep[]): boolean =>
  steps.includes('ENROLL_FACTOR') && steps.some((step) => step !== 'ENROLL_FACTOR');

interface CodeInput {
  readonly code: string;
}

/**
 * Checks a code of the person's authenticator app.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} {@link InteractionExpiredError}
 */
export const verifyTotp = (
  context: VisitContext,
  access: InteractionAccess,
  { code }: CodeInput,
): Promise<Interaction> =>
  verifyFactor(context, access, 'TOTP', (tx, userId) => takeTotp(tx, context, userId, code));

/**
 * Uses up one of the person's backup codes.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} {@link InteractionExpiredError}
 */
export const verifyBackupCode = (
  context: VisitContext,
  access: InteractionAccess,
  { code }: CodeInput,
): Promise<Interaction> =>
  verifyFactor(context, access, 'BACKUP_CODES', (tx, userId) =>
    takeBackupCode(tx, context, userId, code),
  );

async function verifyFactor(
  context: VisitContext,
  access: InteractionAccess,
  type: 'TOTP' | 'BACKUP_CODES',
  take: (tx: Transaction, userId: string) => Promise<boolean>,
): Promise<Interaction> {
  const { prisma } = context.database;
  const settings = await readSignInExperience(prisma);
  if (!settings.factors.includes(type))
    throw new NotAllowedError('This kind of factor is not offered.');
  const found = await readInteraction(context, access);
  const [step] = await nextStepsOf(context, found, settings);
  if (step !== 'VERIFY_FACTOR') throw new NotAllowedError(`The next step is ${step}.`);
  const user = await prisma.user.findUnique({ where: { id: found.userId ?? '' } });
  if (!user) throw new InteractionExpiredError(found.restartUrl);
  const guess = factorGuess(user, readDevice(context, context.visitor.cookies, user.id));
  const attempt = await takeAttempt(context, settings.lockoutPolicy, guess);
  if (!attempt.allowed) throw new LockedError(attempt.lockedUntil);
  const changed = await whileTaken(context, guess, attempt, () =>
    changeInteraction(context, access, async (tx, interaction) => {
      const { id } = await lockPerson(tx, interaction);
      // A concurrent step may have signed in somebody else, whose guesses count elsewhere.
      if (id !== user.id) throw new InteractionExpiredError(interaction.restartUrl);
      return (await take(tx, id)) ? recordFactor(tx, interaction, ['otp']) : null;
    }),
  );
  if (!changed) throw await failureOf(context, guess, attempt);
  await forgetAttempts(context, guess);
  return changed;
}
