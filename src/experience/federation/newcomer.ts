import { z } from 'zod';
import { mayProve } from '../../auth/granting/prove.ts';
import { everything, inCommon, type SetterScopes } from '../../auth/granting/setter-scopes.ts';
import { type Conflicts, refuseConflict } from '../../db/conflict.ts';
import { lockUser } from '../../db/lock.ts';
import { type Told, untold } from '../../db/told.ts';
import { brokenConstraint, type Transaction } from '../../db/transaction.ts';
import { InteractionExpiredError, InvalidInputError, NotAllowedError } from '../../errors.ts';
import type { Newcomer, Prisma, User } from '../../generated/prisma/client.ts';
import { findProviderOfAddress, holdEnabled } from '../../identity-providers/choice.ts';
import {
  insertIdentity,
  isKnownThereAsAnother,
  linkIdentity,
} from '../../identity-providers/identities.ts';
import { name, parseInput } from '../../input.ts';
import { joinByProvider, openerScopesFor } from '../../organizations/just-in-time.ts';
import type { Address } from '../../proving/codes.ts';
import { holdsAddress, verifiedBy } from '../../proving/proved.ts';
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
import { type FederationError, reportFailedFederation } from './failure.ts';

/** A person who came back from an identity provider. */
export type Arrival = Omit<Newcomer, 'interactionId' | 'confirmation' | 'createdAt'>;

/** An arrival, and the scopes of the setter of its provider. */
export interface Arrived {
  readonly arrival: Arrival;
  readonly setterScopes: SetterScopes;
}

/** Ends a federation without a sign-in; the person can sign in another way. */
export const stop = (
  tx: Transaction,
  interaction: Interaction,
  error: FederationError,
): Promise<Interaction> => updateInteraction(tx, interaction, { error });

/**
 * Stores the person who came back, for a later step.
 *
 * @param confirmation The digest of the confirmation that is needed first; null if none is.
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
 * Creates the account of a person without one, or stores the person until `completeProfile` if something is missing. Raises
 * `User.Created`, `PostRegister`, and `Organization.Membership.Updated` for each membership.
 */
export async function registerNewcomer(
  tx: Transaction,
  context: VisitContext,
  settings: SignInExperience,
  { interaction, arrival, setterScopes }: { interaction: Interaction } & Arrived,
): Promise<Told<Interaction>> {
  const openerScopes = await findOpenerScopes(tx, settings, arrival);
  if (!openerScopes) return untold(await stop(tx, interaction, 'sign_up_closed'));
  await keepNewcomer(tx, context, interaction, arrival);
  const named = await updateInteraction(tx, interaction, { event: 'REGISTER' });
  return missingForSignUp(context, named, settings).length > 0
    ? untold(named)
    : createNewcomerAccount(
        tx,
        context,
        named,
        { arrival, setterScopes: inCommon(setterScopes, openerScopes) },
        {},
      );
}

/**
 * What those held who let a person register; null if nobody does. Anyone may register if sign-up is open. Otherwise only
 * people whose provider adds them to an organization may.
 */
const findOpenerScopes = async (
  tx: Transaction,
  { signUpEnabled }: SignInExperience,
  arrival: Arrival,
): Promise<SetterScopes | null> => (signUpEnabled ? everything : openerScopesFor(tx, arrival));

const input = z.object({
  username: username.nullish(),
  profile: userProfile.pipe(z.looseObject({ name: name().nullish() })).nullish(),
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
 * Creates the account of a person who came from an identity provider, with what the provider did not tell. Addresses
 * that it did not verify are verified by code first, as in a registration.
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
      const setterScopes = await holdEnabled(tx, newcomer);
      if (!setterScopes) throw new NotAllowedError('The identity provider cannot be used now.');
      const openerScopes = await findOpenerScopes(tx, settings, newcomer);
      if (!openerScopes) throw new NotAllowedError('Nobody can register here.');
      assertComplete(context, settings, interaction, asked);
      const { interactionId: _in, confirmation: _by, createdAt: _at, ...arrival } = newcomer;
      const arrived = { arrival, setterScopes: inCommon(setterScopes, openerScopes) };
      return createNewcomerAccount(tx, context, interaction, arrived, asked);
    }),
  );
}

function assertComplete(
  context: VisitContext,
  settings: SignInExperience,
  interaction: Interaction,
  { username: named }: z.output<typeof input>,
): void {
  const { signUpIdentifiers } = settings;
  if (named != null && !signUpIdentifiers.includes('USERNAME'))
    throw new InvalidInputError([{ path: ['username'], message: 'is not asked for here' }]);
  const missing = missingForSignUp(context, interaction, settings).filter(
    (field) => field !== 'USERNAME' || named == null,
  );
  if (missing.length === 0) return;
  const path = missing.map((field) => (field === 'USERNAME' ? 'username' : 'verificationIds'));
  throw new InvalidInputError([{ path, message: 'must be given', code: 'REQUIRED' }]);
}

async function createNewcomerAccount(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  { arrival, setterScopes }: Arrived,
  { username: named, profile }: z.output<typeof input>,
): Promise<Told<Interaction>> {
  const addresses = verified(context, interaction, 'REGISTER');
  const verifiedAddress = (type: 'EMAIL' | 'PHONE') =>
    addresses.findLast((one) => one.type === type)?.recipient ?? null;
  const isAddressTrusted = arrival.isEmailVerified && interaction.error !== 'account_exists';
  const primaryEmail = verifiedAddress('EMAIL') ?? (isAddressTrusted ? arrival.email : null);
  const primaryPhone = verifiedAddress('PHONE');
  const { name: givenName, ...claims } = profile ?? {};
  const account = await createAccount(tx, context, interaction, {
    username: named ?? null,
    name: givenName ?? arrival.name,
    avatar: arrival.avatar,
    primaryEmail,
    primaryPhone,
    isEmailVerified: primaryEmail !== null,
    isPhoneVerified: primaryPhone !== null,
    profile: claims as Prisma.InputJsonObject,
    setterScopes: inCommon(setterScopes, ...addresses.map((one) => one.setterScopes)),
  });
  const user = account.result;
  await insertIdentity(tx, context, user.id, arrival);
  const person = asPerson(context, interaction, user.id);
  await joinByProvider(tx, person, { userId: user.id, ...arrival });
  await tx.newcomer.deleteMany({ where: { interactionId: interaction.id } });
  const cleared = await updateInteraction(tx, interaction, { error: null });
  const { result: known } = await authenticate(tx, context, cleared, {
    userId: user.id,
    methods: ['fed'],
    event: 'REGISTER',
    hasRegistered: true,
    through: everything,
    proved: null,
  });
  return account.with(known);
}

/**
 * Links the newcomer's identity to the account that they signed in to, at the end of the sign-in. Both have the same
 * address. Who verified it decides how the person must have signed in:
 * - Both sides: the identity alone is enough.
 * - Only the provider, or nobody if it is the provider for the address: by the account itself.
 *
 * Nothing is linked if the account is linked to somebody else there. An identity that was linked through another provider
 * of the same issuer joins the organizations of this one.
 *
 * Raises `User.Data.Updated` and `User.Credential.Updated`, and tells the person by message.
 *
 * @throws {InteractionExpiredError} when the identity alone signed them in, and may not do so any more. Nobody is signed
 *   in then.
 */
export async function linkNewcomer(
  context: VisitContext,
  access: InteractionAccess,
  { newcomer: known }: Interaction,
): Promise<void> {
  if (known === null) return;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const restartUrl = await changeInteraction(context, access, (tx, interaction) =>
        linkWithin(tx, context, interaction),
      );
      if (restartUrl === undefined) return;
      reportFailedFederation(context, access, 'federation_failed');
      throw new InteractionExpiredError(restartUrl);
    } catch (error) {
      // Another request linked it first: the second attempt finds it.
      if (attempt > 1 || brokenConstraint(error) !== 'UserIdentity_issuer_subject_key') throw error;
    }
  }
}

/** @returns Where to begin again, if the identity signed the person in and may not do so any more; else undefined. */
async function linkWithin(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
): Promise<Told<string | null | undefined>> {
  const newcomer = newcomerOf(interaction);
  const { userId, authenticatedAt, authenticationMethods, restartUrl } = interaction;
  // An earlier session does not count as a sign-in to the account.
  if (!newcomer || userId === null || authenticatedAt === null) return untold(undefined);
  await tx.newcomer.deleteMany({ where: { interactionId: interaction.id } });
  const user = await lockUser(tx, userId);
  const isByIdentity = authenticationMethods.includes('fed');
  const { issuer, subject } = newcomer;
  const linked = await tx.userIdentity.findUnique({
    where: { issuer_subject: { issuer, subject } },
    select: { userId: true },
  });
  const setterScopes = await holdEnabled(tx, newcomer);
  const mayProveWho = setterScopes !== null && (await mayProve(tx, setterScopes, userId));
  const person = asPerson(context, interaction, userId);
  // Linked through another provider of the same issuer.
  if (linked?.userId === userId && mayProveWho) {
    const joined = await joinByProvider(tx, person, { userId, ...newcomer });
    return joined.with(undefined);
  }
  const mayLink =
    setterScopes !== null &&
    (!isByIdentity || mayProveWho) &&
    (isByIdentity ? isVerifiedByBoth(newcomer, user) : await isAccountOf(tx, newcomer, user)) &&
    !(await isKnownThereAsAnother(tx, userId, newcomer));
  if (isByIdentity && (!mayLink || (linked && linked.userId !== userId))) {
    await updateInteraction(tx, interaction, {
      userId: null,
      authenticatedAt: null,
      authenticationMethods: [],
      error: 'federation_failed',
    });
    return untold(restartUrl);
  }
  if (linked || !mayLink) return untold(undefined);
  const { language } = context.visitor;
  const verified = await verifiedThere(tx, user, { arrival: newcomer, setterScopes });
  const told = await linkIdentity(tx, person, userId, newcomer, { verified, language });
  return told.with(undefined);
}

/** Whether an address that a provider told is that of an account. */
export const hasAddress = (
  { email }: Pick<Arrival, 'email'>,
  user: Pick<User, 'primaryEmail' | 'primaryPhone'>,
): boolean => email !== null && holdsAddress(user, { type: 'EMAIL', recipient: email });

/** What a provider has verified about the account that is linked to it; nothing if its setter may not prove who that is. */
export async function verifiedThere(
  tx: Transaction,
  user: User,
  { arrival, setterScopes }: Arrived,
): Promise<Partial<User>> {
  const proved = vouchedFor(arrival);
  return proved && (await mayProve(tx, setterScopes, user.id)) ? verifiedBy(user, proved) : {};
}

/** The address that a provider says it has verified; null without one. */
export const vouchedFor = ({
  email,
  isEmailVerified,
}: Pick<Arrival, 'email' | 'isEmailVerified'>): Address | null =>
  isEmailVerified && email !== null ? { type: 'EMAIL', recipient: email } : null;

const isVerifiedByBoth = (newcomer: Arrival, user: User): boolean =>
  newcomer.isEmailVerified && user.isEmailVerified && hasAddress(newcomer, user);

/** Whether the account that a person signed in to has the address that the provider told. */
async function isAccountOf(tx: Transaction, newcomer: Arrival, user: User): Promise<boolean> {
  if (newcomer.isEmailVerified) return hasAddress(newcomer, user);
  if (user.primaryEmail === null) return false;
  // Many providers of companies mark no address as verified, or send none.
  if (newcomer.email !== null && !hasAddress(newcomer, user)) return false;
  const provider = await findProviderOfAddress(tx, user.primaryEmail);
  return provider?.id === newcomer.identityProviderId;
}
