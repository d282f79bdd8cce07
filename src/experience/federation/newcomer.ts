import { z } from 'zod';
import { type Conflicts, refuseConflict } from '../../db/conflict.ts';
import { lockUser } from '../../db/lock.ts';
import { brokenConstraint, type Transaction } from '../../db/transaction.ts';
import { InteractionExpiredError, InvalidInputError, NotAllowedError } from '../../errors.ts';
import type { Newcomer, Prisma, User } from '../../generated/prisma/client.ts';
import { findProviderOfAddress, holdEnabled } from '../../identity-providers/choice.ts';
import { insertIdentity, linkIdentity } from '../../identity-providers/identities.ts';
import { name, parseInput } from '../../input.ts';
import { isOfCompany, joinByProvider } from '../../organizations/just-in-time.ts';
import type { InteractionAccess, VisitContext } from '../../services.ts';
import { readSignInExperience, type SignInExperience } from '../../sign-in-experience/settings.ts';
import { userConflicts, username, userProfile } from '../../users/fields.ts';
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
  profile: z.object({ name: name().nullish() }).loose().and(userProfile).nullish(),
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
  const person = asPerson(context, interaction, user.id);
  await joinByProvider(tx, person, { userId: user.id, ...arrival });
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
 * Links the identity with which a person came, at the end of their sign-in, to the account that they signed in to. Both
 * have the same address, and who has verified it decides:
 * - both sides: the identity alone may have signed them in;
 * - the provider, or nobody if it is the one for the address: they signed in to the account themselves.
 *
 * Raises `User.Data.Updated`, and tells the person by message.
 *
 * @throws {InteractionExpiredError} when the identity alone signed them in, and that is no longer so. Nobody is signed
 *   in then.
 */
export async function linkNewcomer(
  context: VisitContext,
  access: InteractionAccess,
  { newcomer: known }: Interaction,
): Promise<void> {
  if (known === null) return;
  for (let look = 1; ; look += 1) {
    try {
      const restartUrl = await changeInteraction(context, access, (tx, interaction) =>
        linkWithin(tx, context, interaction),
      );
      if (restartUrl !== undefined) throw new InteractionExpiredError(restartUrl);
      return;
    } catch (error) {
      // Another request linked it first: the second look finds it.
      if (look > 1 || brokenConstraint(error) !== 'UserIdentity_issuer_subject_key') throw error;
    }
  }
}

/** @returns Where to begin again if the person is not who they seemed to be; undefined if all is well. */
async function linkWithin(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
): Promise<string | null | undefined> {
  const newcomer = newcomerOf(interaction);
  const { userId, authenticatedAt, authenticationMethods, restartUrl } = interaction;
  // A session is no sign-in to the account.
  if (!newcomer || userId === null || authenticatedAt === null) return undefined;
  await tx.newcomer.deleteMany({ where: { interactionId: interaction.id } });
  const user = await lockUser(tx, userId);
  const isByIdentity = authenticationMethods.includes('fed');
  const { issuer, subject } = newcomer;
  const linked = await tx.userIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    select: { userId: true },
  });
  const mayLink =
    (await holdEnabled(tx, newcomer.identityProviderId)) &&
    (isByIdentity ? isVerifiedByBoth(newcomer, user) : await isOf(tx, newcomer, user));
  if (isByIdentity && (!mayLink || (linked && linked.userId !== userId))) {
    await updateInteraction(tx, interaction, {
      userId: null,
      authenticatedAt: null,
      authenticationMethods: [],
      error: 'federation_failed',
    });
    return restartUrl;
  }
  if (linked || !mayLink) return undefined;
  const { language } = context.visitor;
  await linkIdentity(tx, asPerson(context, interaction, userId), userId, newcomer, language);
  return undefined;
}

const hasAddress = ({ email }: Arrival, { primaryEmail }: User): boolean =>
  email !== null && email.toLowerCase() === primaryEmail?.toLowerCase();

const isVerifiedByBoth = (newcomer: Arrival, user: User): boolean =>
  newcomer.isEmailVerified && user.isEmailVerified && hasAddress(newcomer, user);

/** Whether an account that a person signed in to has the address with which they came from a provider. */
async function isOf(tx: Transaction, newcomer: Arrival, user: User): Promise<boolean> {
  if (newcomer.isEmailVerified) return hasAddress(newcomer, user);
  if (user.primaryEmail === null) return false;
  // Many companies' providers say of no address that it is verified, or name none.
  if (newcomer.email !== null && !hasAddress(newcomer, user)) return false;
  const provider = await findProviderOfAddress(tx, user.primaryEmail);
  return provider?.id === newcomer.identityProviderId;
}
