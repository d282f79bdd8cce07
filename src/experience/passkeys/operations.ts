import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { LockedError, NotAllowedError, VerificationFailedError } from '../../errors.ts';
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
import type { User } from '../../generated/prisma/client.ts';
import { noteFailure } from '../../protection/addresses.ts';
import { forgetAttempts, type Guess, takeAttempt, whileTaken } from '../../protection/attempts.ts';
import { readDevice } from '../../protection/device.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSignInExperience, type SignInExperience } from '../../sign-in-experience/settings.ts';
import { failureOf } from '../failure.ts';
import {
  asPerson,
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
  updateInteraction,
} from '../interaction.ts';
import { readNextSteps } from '../steps.ts';

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
  assertOffered(await readSignInExperience(context.database.prisma));
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
  assertOffered(settings);
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
  const guess = guessOf(context, person);
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

/** The result of a right response; null if the passkey can no longer be used. */
function proceed(
  context: VisitContext,
  access: InteractionAccess,
  { userId, passkey, use }: { userId: string | null; passkey: OwnedPasskey; use: PasskeyUse },
): Promise<Interaction | null> {
  return changeInteraction(context, access, async (tx, interaction) => {
    // A concurrent step may have signed in somebody else.
    if (interaction.userId !== userId) return null;
    if (!(await recordPasskeyUse(tx, context, passkey, use))) return null;
    const shown = [...methodsOfPasskey(passkey), 'mfa'];
    if (userId !== null) return addMethods(tx, interaction, shown);
    return authenticate(tx, context, interaction, {
      userId: passkey.userId,
      methods: shown,
      event: 'SIGN_IN',
    });
  });
}

const addMethods = (
  tx: Parameters<typeof updateInteraction>[0],
  interaction: Interaction,
  methods: readonly string[],
): Promise<Interaction> =>
  updateInteraction(tx, interaction, {
    authenticationMethods: [...new Set([...interaction.authenticationMethods, ...methods])],
  });

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
  const settings = await readSignInExperience(context.database.prisma);
  assertOffered(settings);
  return changeInteraction(context, access, async (tx, interaction) => {
    const userId = await assertMayEnroll(context, tx, interaction, settings);
    const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
    const { productName } = settings.branding;
    const options = await startEnrollment(tx, context, {
      holder: interaction.id,
      user,
      productName,
    });
    return { interaction, options };
  });
}

/**
 * Stores a new passkey of the person who signs in. It also counts as shown. Raises `User.Data.Updated`.
 *
 * @throws {InvalidInputError} {@link VerificationFailedError}; {@link NotAllowedError} as for
 *   {@link startPasskeyEnrollment}; {@link InteractionExpiredError}
 */
export async function confirmPasskey(
  context: VisitContext,
  access: InteractionAccess,
  { response, name }: { response: unknown; name?: string | null | undefined },
): Promise<Interaction> {
  const settings = await readSignInExperience(context.database.prisma);
  assertOffered(settings);
  const passkeyName = readPasskeyName(name);
  const found = await readInteraction(context, access);
  const userId = await assertMayEnroll(context, context.database.prisma, found, settings);
  const passkey = await verifyEnrollment(context, { holder: found.id, userId }, response);
  return changeInteraction(context, access, async (tx, interaction) => {
    // A concurrent step may have signed in somebody else.
    if ((await assertMayEnroll(context, tx, interaction, settings)) !== userId)
      throw new VerificationFailedError();
    const person = asPerson(context, interaction, userId);
    await addPasskey(tx, person, userId, passkey, passkeyName);
    return addMethods(tx, interaction, [...methodsOfPasskey(passkey), 'mfa']);
  });
}

async function assertMayEnroll(
  { clock }: VisitContext,
  client: Parameters<typeof readNextSteps>[0]['client'],
  interaction: Interaction,
  settings: SignInExperience,
): Promise<string> {
  if (interaction.userId === null) throw new NotAllowedError('Nobody has signed in yet.');
  // Otherwise a password alone would be enough to add a second factor beside the one that protects the account.
  const steps = await readNextSteps({ client, clock }, interaction, settings);
  if (steps.includes('VERIFY_FACTOR'))
    throw new NotAllowedError('A second factor has to be shown first.');
  return interaction.userId;
}

function assertOffered({ factors }: SignInExperience): void {
  if (!factors.includes('PASSKEY')) throw new NotAllowedError('Passkeys are not used here.');
}

function guessOf(context: VisitContext, user: User): Guess {
  const device = readDevice(context, context.visitor.cookies, user.id);
  const { username, primaryEmail, primaryPhone } = user;
  const identifier =
    username !== null
      ? ({ type: 'username', value: username } as const)
      : primaryEmail !== null
        ? ({ type: 'email', value: primaryEmail } as const)
        : ({ type: 'phone', value: primaryPhone ?? '' } as const);
  return { ...identifier, check: 'factor', device };
}
