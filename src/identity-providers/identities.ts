import { assertMayBe } from '../auth/granting/may-open.ts';
import { lockUser } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { type NewEvent, recordChange, recordEvents } from '../events/record.ts';
import type { User } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Language } from '../languages.ts';
import { tellPerson } from '../messages/notice.ts';
import { joinByProvider } from '../organizations/just-in-time.ts';
import type { Context } from '../services.ts';
import { credentialEvent } from '../users/credentials.ts';
import { userRecord, users } from '../users/payload.ts';

/** A person as an identity provider knows them. */
export interface Identity {
  readonly identityProviderId: string;
  /** The issuer and the subject of the ID token: they name the person (OpenID Connect Core §5.7). */
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Whether the provider says that it has verified the address. */
  readonly isEmailVerified: boolean;
}

/** Stores an identity of a user, without an event. Returns its id. */
export async function insertIdentity(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  userId: string,
  { identityProviderId, issuer, subject, email }: Identity,
): Promise<string> {
  const { id } = await tx.userIdentity.create({
    data: {
      id: newId('UserIdentity'),
      userId,
      identityProviderId,
      issuer,
      subject,
      email,
      linkedAt: clock.now(),
    },
  });
  return id;
}

/**
 * Whether a user has an identity of the same issuer under another subject. If that issuer now tells of somebody else with
 * the user's address, the address has been given to somebody else: the issuer knows both as two people. By the issuer,
 * not by the provider: two providers may have one issuer, and the issuer of a provider may change. But of one client: to
 * another, the issuer may name the same person otherwise (OpenID Connect Core §8.1).
 */
export async function isKnownThereAsAnother(
  tx: Transaction,
  userId: string,
  {
    identityProviderId,
    issuer,
    subject,
  }: Pick<Identity, 'identityProviderId' | 'issuer' | 'subject'>,
): Promise<boolean> {
  const provider = await tx.identityProvider.findUnique({
    where: { id: identityProviderId },
    select: { clientId: true },
  });
  const others = await tx.userIdentity.count({
    where: { userId, issuer, NOT: { subject }, provider: { clientId: provider?.clientId ?? '' } },
  });
  return others > 0;
}

/** What comes with the link. */
interface Linking {
  /** What the provider has verified of the user: it is told together with the identity. */
  readonly verified?: Partial<User>;
  /** The language of the message; by default that of the settings. */
  readonly language?: Language | undefined;
}

/**
 * Links an identity to an existing user, who joins the organizations of the provider and is told by message. Raises
 * `User.Data.Updated` with `changes.identities` and `User.Credential.Updated`, then `Organization.Membership.Updated` for
 * each membership.
 *
 * @throws {NotFoundError} when the user is gone; the unique index `UserIdentity_issuer_subject_key` refuses an identity
 *   that is linked already.
 */
export async function linkIdentity(
  tx: Transaction,
  context: Context,
  userId: string,
  identity: Identity,
  { verified = {}, language }: Linking = {},
): Promise<Told<User>> {
  const user = await lockUser(tx, userId);
  const from = await providersOf(tx, userId);
  const id = await insertIdentity(tx, context, userId, identity);
  const to = await providersOf(tx, userId);
  const name = nameIn(to, identity.identityProviderId);
  const told =
    Object.keys(verified).length > 0
      ? await recordChange(tx, context, users, user, verified, { identities: { from, to } })
      : await recordEvents(tx, context, [changeOf(user, { from, to })]);
  await recordEvents(tx, context, [credentialEvent(userId, 'IDENTITY', 'ADDED', { id, name })]);
  await joinByProvider(tx, context, { userId, ...identity });
  await tellPerson(tx, context, user, { template: 'IDENTITY_ADDED', language });
  return told.with(user);
}

/**
 * Removes an identity from a user, who can no longer sign in with it. Raises `User.Data.Updated` and
 * `User.Credential.Updated`.
 *
 * @throws {NotFoundError} of the user, or of an identity that is not theirs; {@link NotAllowedError} on a user who holds
 *   more than the caller.
 */
export async function deleteUserIdentity(
  context: Context,
  { userId, identityId }: { userId: string; identityId: string },
): Promise<User> {
  return transaction(context.database, async (tx) => {
    const told = await deleteIdentityWithin(tx, context, { userId, identityId });
    // It is what keeps out somebody else to whom its issuer has given the user's address.
    await assertMayBe(tx, context, [userId]);
    return told;
  });
}

/** Like {@link deleteUserIdentity}, inside a transaction. */
export async function deleteIdentityWithin(
  tx: Transaction,
  context: Context,
  { userId, identityId }: { userId: string; identityId: string },
): Promise<Told<User>> {
  const user = await lockUser(tx, userId);
  const from = await providersOf(tx, userId);
  const identity = await tx.userIdentity.findFirst({ where: { id: identityId, userId } });
  if (!identity) throw new NotFoundError(identityId);
  await tx.userIdentity.delete({ where: { id: identityId } });
  const name = nameIn(from, identity.identityProviderId);
  const told = await recordEvents(tx, context, [
    changeOf(user, { from, to: await providersOf(tx, userId) }),
    credentialEvent(userId, 'IDENTITY', 'REMOVED', { id: identityId, name }),
  ]);
  return told.with(user);
}

type ProviderName = { readonly id: string; readonly name: string };

async function providersOf(tx: Transaction, userId: string): Promise<ProviderName[]> {
  const identities = await tx.userIdentity.findMany({
    where: { userId },
    orderBy: { id: 'asc' },
    select: { provider: { select: { id: true, name: true } } },
  });
  return identities.map(({ provider }) => provider);
}

const nameIn = (providers: readonly ProviderName[], wanted: string): string | null =>
  providers.find(({ id }) => id === wanted)?.name ?? null;

interface IdentitiesChange {
  readonly from: readonly ProviderName[];
  readonly to: readonly ProviderName[];
}

const changeOf = (user: User, identities: IdentitiesChange): NewEvent => ({
  type: 'User.Data.Updated',
  data: { ...userRecord(user), changes: { identities } },
});
