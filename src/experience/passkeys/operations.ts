import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import {
  InvalidInputError,
  LockedError,
  NotAllowedError,
  VerificationFailedError,
} from '../../errors.ts';
import { factorGuess } from '../../factors/guess.ts';
import {
  addPasskey,
  readPasskeyName,
  startPasskeyEnrollment as startEnrollment,
  verifyEnrollment,
} from '../../factors/passkeys/enroll.ts';
import { readAuthentication } from '../../factors/passkeys/responses.ts';
import {
  findPasskey,
  methodsOfPasskey,
  type OwnedPasskey,
  recordPasskeyUse,
  startPasskeyUse,
  verifyPasskeyUse,
} from '../../factors/passkeys/use.ts';
import type { PasskeyUse } from '../../factors/passkeys/verify.ts';
import { assertOffered } from '../../factors/policy.ts';
import { noteFailure } from '../../protection/addresses.ts';
import { forgetAttempts, takeAttempt, whileTaken } from '../../protection/attempts.ts';
import { readDevice } from '../../protection/device.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { assertMayEnroll, lockPerson, recordFactor } from '../factors/steps.ts';
import { failureOf } from '../failure.ts';
import {
  asPerson,
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
} from '../interaction.ts';

/**
 * Makes the options with which a browser asks for a passkey: any one as the only step of a sign-in, and one of the
 * person's as the second factor.
 *
 * @throws {NotAllowedError} when passkeys are off; {@link InteractionExpiredError}
 */
export async function startPasskey(
  context: VisitContext,
  access: InteractionAccess,
): Promise<{ interaction: Interaction; options: PublicKeyCredentialRequestOptionsJSON }> {
  assertOffered(await readSignInExperience(context.database.prisma), 'PASSKEY');
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id: holder, userId } = interaction;
    return { interaction, options: await startPasskeyUse(tx, context, { holder, userId }) };
  });
}

/**
 * Signs a person in by a passkey, which must have verified them; or takes it as the second factor of a person who is
 * known. An unknown passkey, one of another user, and a wrong response fail the same way.
 *
 * @throws {InvalidInputError} on a malformed response; {@link VerificationFailedError} {@link LockedError};
 *   {@link NotAllowedError} when passkeys are off; {@link InteractionExpiredError}
 */
export async function verifyPasskey(
  context: VisitContext,
  access: InteractionAccess,
  { response: given }: { response: unknown },
): Promise<Interaction> {
  const { prisma } = context.database;
  const response = readAuthentication(given);
  const settings = await readSignInExperience(prisma);
  assertOffered(settings, 'PASSKEY');
  const { id: holder, userId } = await readInteraction(context, access);
  const passkey = await findPasskey(context.database, response);
  const verify = () => verifyPasskeyUse(context, { holder, userId }, response, passkey);
  const person =
    userId === null ? passkey?.user : await prisma.user.findUnique({ where: { id: userId } });
  if (!person) {
    // Nobody's counter can take this failure, but the client's address does.
    await verify();
    await noteFailure(context, context.visitor.ip);
    throw new VerificationFailedError();
  }
  const guess = factorGuess(person, readDevice(context, context.visitor.cookies, person.id));
  const attempt = await takeAttempt(context, settings.lockoutPolicy, guess);
  if (!attempt.allowed) throw new LockedError(attempt.lockedUntil);
  const interaction = await whileTaken(context, guess, attempt, async () => {
    const use = await verify();
    return use && passkey ? proceed(context, access, { userId, passkey, use }) : null;
  });
  if (!interaction) throw await failureOf(context, guess, attempt);
  await forgetAttempts(context, guess);
  return interaction;
}

/**
 * The id of the passkey that a refused response names, if nobody has it: the browser may then forget it. That betrays
 * nothing, as ids are random and only an authenticator with the passkey knows its.
 */
export async function findUnknownPasskey(
  { database }: VisitContext,
  given: unknown,
): Promise<string | undefined> {
  try {
    const response = readAuthentication(given);
    return (await findPasskey(database, response)) ? undefined : response.id;
  } catch (error) {
    if (error instanceof InvalidInputError) return undefined;
    throw error;
  }
}

/** The result of a right response; null if the passkey can no longer be used. */
function proceed(
  context: VisitContext,
  access: InteractionAccess,
  { userId, passkey, use }: { userId: string | null; passkey: OwnedPasskey; use: PasskeyUse },
): Promise<Interaction | null> {
  return changeInteraction(context, access, async (tx, interaction) => {
    // A concurrent step may have signed in somebody else.
    if (interaction.userId !== userId) return null;
    if (userId !== null) await lockPerson(tx, interaction);
    if (!(await recordPasskeyUse(tx, context, passkey, use))) return null;
    const methods = methodsOfPasskey(passkey);
    if (userId !== null) return recordFactor(tx, interaction, methods);
    return authenticate(tx, context, interaction, {
      userId: passkey.userId,
      methods: [...methods, 'mfa'],
      event: 'SIGN_IN',
    });
  });
}

/**
 * Makes the options with which a browser makes a new passkey for the person who signs in.
 *
 * @throws {NotAllowedError} when passkeys are off, nobody is known yet, or a second factor has to be shown first;
 *   {@link InteractionExpiredError}
 */
export async function startPasskeyEnrollment(
  context: VisitContext,
  access: InteractionAccess,
): Promise<{ interaction: Interaction; options: PublicKeyCredentialCreationOptionsJSON }> {
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id: userId } = await lockPerson(tx, interaction);
    await assertMayEnroll(tx, context, interaction);
    const options = await startEnrollment(tx, context, { holder: interaction.id, userId });
    return { interaction, options };
  });
}

/**
 * Stores a new passkey of the person who signs in, which has then been shown too. Raises `User.Data.Updated`.
 *
 * @throws {InvalidInputError} {@link VerificationFailedError}; {@link NotAllowedError} as for
 *   {@link startPasskeyEnrollment}; {@link InteractionExpiredError}
 */
export async function confirmPasskey(
  context: VisitContext,
  access: InteractionAccess,
  { response, name }: { response: unknown; name?: string | null | undefined },
): Promise<Interaction> {
  const passkeyName = readPasskeyName(name);
  const { id: holder, userId } = await readInteraction(context, access);
  if (userId === null) throw new NotAllowedError('Nobody has signed in yet.');
  const passkey = await verifyEnrollment(context, { holder, userId }, response);
  return changeInteraction(context, access, async (tx, interaction) => {
    const { id } = await lockPerson(tx, interaction);
    // A concurrent step may have signed in somebody else.
    if (id !== userId) throw new VerificationFailedError();
    await assertMayEnroll(tx, context, interaction);
    const person = asPerson(context, interaction, userId);
    const { language } = context.visitor;
    await addPasskey(tx, person, { userId, language }, passkey, passkeyName);
    return recordFactor(tx, interaction, methodsOfPasskey(passkey));
  });
}
