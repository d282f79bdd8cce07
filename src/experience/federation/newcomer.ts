import { z } from 'zod';
import { type Conflicts, refuseConflict } from '../../db/conflict.ts';
import type { Transaction } from '../../db/transaction.ts';
import { InvalidInputError, NotAllowedError } from '../../errors.ts';
import type { Newcomer, Prisma } from '../../generated/prisma/client.ts';
import { holdEnabled } from '../../identity-providers/choice.ts';
import { insertIdentity, linkIdentity } from '../../identity-providers/identities.ts';
import { jsonObject, name, parseInput } from '../../input.ts';
import { isOfCompany, joinByProvider } from '../../organizations/just-in-time.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSignInExperience, type SignInExperience } from '../../sign-in-experience/settings.ts';
import { userConflicts, username } from '../../users/fields.ts';
import {
  asPerson,
  authenticate,
  changeInteraction,
  type Interaction,
  updateInteraction,
} from '../interaction.ts';
import { createAccount } from '../register.ts';
import { missingForSignUp, newcomerOf, verified } from '../steps.ts';
import type { FederationError } from './failure.ts';

/** A person who came back from an identity provider. */
export type Arrival = Omit<Newcomer, 'interactionId' | 'confirmation' | 'createdAt'>;

/** Ends a federation without a sign-in; the person can sign in another way. */
export const stop = (
  tx: Transaction,
  interaction: Interaction,
  error: FederationError,
): Promise<Interaction> => updateInteraction(tx, interaction, { error });

/**
 * Keeps who came back, until a further step.
 *
 * @param confirmation The digest of what confirms it; null if nothing needs to.
 */
export async function keepNewcomer(
  tx: Transaction,
  { clock }: Pick<VisitContext, 'clock'>,
  { id: interactionId }: Pick<Interaction, 'id'>,
  arrival: Arrival,
  confirmation: Uint8Array<ArrayBuffer> | null = null,
): Promise<void> {
  const data = { ...arrival, confirmation, createdAt: clock.now() };
  await tx.newcomer.upsert({
    where: { interactionId },
    create: { interactionId, ...data },
    update: data,
  });
}

/**
 * Makes the account of a stranger, or keeps them until `completeProfile` if something is missing. Raises
 * `User.Created`, `PostRegister`, and `Organization.Membership.Updated` for each membership.
 */
export async function registerNewcomer(
  tx: Transaction,
  context: VisitContext,
  settings: SignInExperience,
  { interaction, arrival }: { interaction: Interaction; arrival: Arrival },
): Promise<Interaction> {
  if (!(await mayRegister(tx, settings, arrival))) return stop(tx, interaction, 'sign_up_closed');
  await keepNewcomer(tx, context, interaction, arrival);
  const named = await updateInteraction(tx, interaction, { event: 'REGISTER' });
  return missingForSignUp(named, settings).length > 0
    ? named
    : makeAccount(tx, context, named, arrival, {});
}

/** Strangers may register if sign-up is open, and a company's people if its provider brings them to an organization. */
const mayRegister = async (
  tx: Transaction,
  { signUpEnabled }: SignInExperience,
  arrival: Arrival,
): Promise<boolean> => signUpEnabled || (await isOfCompany(tx, arrival));

const input = z.object({
  username: username.nullish(),
  profile: z.object({ name: name().nullish() }).loose().and(jsonObject).nullish(),
});

/** The input of `completeProfile`. */
export type ProfileInput = z.input<typeof input>;

const conflicts: Conflicts = {
  ...userConflicts,
  UserIdentity_issuer_subject_key: {
    path: ['identityProviderId'],
    message: 'This identity has an account by now: sign in with it again.',
  },
};

/**
 * Makes the account of a person who came from an identity provider, with what the provider did not tell. Addresses
 * that it did not verify are verified by code before, as in a registration.
 *
 * @throws {NotAllowedError} without such a person, or when registration or the provider is closed; {@link InvalidInputError} {@link
 *   ConflictError} {@link InteractionExpiredError}
 */
export async function completeProfile(
  context: VisitContext,
  access: InteractionAccess,
  given: ProfileInput,
): Promise<Interaction> {
  const asked = parseInput(input, given);
  const settings = await readSignInExperience(context.database.prisma);
  return refuseConflict(conflicts, () =>
    changeInteraction(context, access, async (tx, interaction) => {
      const newcomer = newcomerOf(interaction);
      if (!newcomer || interaction.userId !== null)
        throw new NotAllowedError('Nobody came from an identity provider.');
      if (!(await holdEnabled(tx, newcomer.identityProviderId)))
        throw new NotAllowedError('The identity provider cannot be used now.');
      if (!(await mayRegister(tx, settings, newcomer)))
        throw new NotAllowedError('Nobody can register here.');
      assertComplete(settings, interaction, asked);
      const { interactionId: _in, confirmation: _by, createdAt: _at, ...arrival } = newcomer;
      return makeAccount(tx, context, interaction, arrival, asked);
    }),
  );
}

function assertComplete(
  settings: SignInExperience,
  interaction: Interaction,
  { username: named }: z.output<typeof input>,
): void {
  const { signUpIdentifiers } = settings;
  if (named != null && !signUpIdentifiers.includes('USERNAME'))
    throw new InvalidInputError([{ path: ['username'], message: 'is not asked for here' }]);
  const missing = missingForSignUp(interaction, settings).filter(
    (field) => field !== 'USERNAME' || named == null,
  );
  if (missing.length === 0) return;
  const path = missing.map((field) => (field === 'USERNAME' ? 'username' : 'verificationIds'));
  throw new InvalidInputError([{ path, message: 'must be given', code: 'REQUIRED' }]);
}

async function makeAccount(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  arrival: Arrival,
  { username: named, profile }: z.output<typeof input>,
): Promise<Interaction> {
  const shown = (type: 'EMAIL' | 'PHONE') =>
    verified(interaction, 'REGISTER').findLast((one) => one.type === type)?.recipient ?? null;
  const isOwnAddress = arrival.isEmailVerified && interaction.error !== 'account_exists';
  const primaryEmail = shown('EMAIL') ?? (isOwnAddress ? arrival.email : null);
  const primaryPhone = shown('PHONE');
  const { name: told, ...claims } = profile ?? {};
  const user = await createAccount(tx, context, interaction, {
    username: named ?? null,
    name: told ?? arrival.name,
    avatar: arrival.avatar,
    primaryEmail,
    primaryPhone,
    isEmailVerified: primaryEmail !== null,
    isPhoneVerified: primaryPhone !== null,
    profile: claims as Prisma.InputJsonObject,
  });
  await insertIdentity(tx, context, user.id, arrival);
  const { identityProviderId, email } = arrival;
  const person = asPerson(context, interaction, user.id);
  await joinByProvider(tx, person, { userId: user.id, identityProviderId, email });
  await tx.newcomer.deleteMany({ where: { interactionId: interaction.id } });
  const cleared = await updateInteraction(tx, interaction, { error: null });
  return authenticate(tx, context, cleared, {
    userId: user.id,
    methods: ['fed'],
    event: 'REGISTER',
    hasRegistered: true,
  });
}

/**
 * Links the identity with which a person came to the account that they signed in to afterwards, if it has the address
 * that the provider has verified. Raises `User.Data.Updated`.
 */
export async function linkNewcomer(
  context: VisitContext,
  access: InteractionAccess,
  { newcomer: known }: Interaction,
): Promise<void> {
  if (known === null) return;
  await changeInteraction(context, access, async (tx, interaction) => {
    const newcomer = newcomerOf(interaction);
    if (!newcomer) return;
    await tx.newcomer.deleteMany({ where: { interactionId: interaction.id } });
    const { user } = await tx.interaction.findUniqueOrThrow({
      where: { id: interaction.id },
      select: { user: true },
    });
    const isSame =
      newcomer.isEmailVerified &&
      newcomer.email?.toLowerCase() === user?.primaryEmail?.toLowerCase();
    const { issuer, subject } = newcomer;
    const isTaken = await tx.userIdentity.count({ where: { issuer, subject } });
    if (!user || !isSame || isTaken > 0) return;
    if (!(await holdEnabled(tx, newcomer.identityProviderId))) return;
    const { language } = context.visitor;
    await linkIdentity(tx, asPerson(context, interaction, user.id), user.id, newcomer, language);
  });
}
