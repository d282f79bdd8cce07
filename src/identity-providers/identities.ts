import { lockUser, lockUsers } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { type NewEvent, recordEvents } from '../events/record.ts';
import type { User } from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import type { Language } from '../languages.ts';
import { tellPerson } from '../messages/notice.ts';
import { joinByProvider } from '../organizations/just-in-time.ts';
import type { Context } from '../services.ts';
import { userRecord } from '../users/payload.ts';

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

/** Writes that a person at an identity provider is this user, without an event. */
export async function insertIdentity(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  userId: string,
  { identityProviderId, issuer, subject, email }: Identity,
): Promise<void> {
  await tx.userIdentity.create({
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
}

/**
 * Links an identity to an existing user, who joins the organizations of the provider and is told by message. Raises
 * `User.Data.Updated` with `changes.identities`, then `Organization.Membership.Updated` for each membership.
 *
 * @param language Of the message; by default that of the settings.
 * @throws {NotFoundError} when the user is gone; the unique index `UserIdentity_issuer_subject_key` refuses an identity
 *   that is linked already.
 */
export async function linkIdentity(
  tx: Transaction,
  context: Context,
  userId: string,
  identity: Identity,
  language?: Language,
): Promise<User> {
  const user = await lockUser(tx, userId);
  const from = await providersOf(tx, userId);
  await insertIdentity(tx, context, userId, identity);
  await recordChange(tx, context, user, { from, to: await providersOf(tx, userId) });
  await joinByProvider(tx, context, { userId, ...identity });
  await tellPerson(tx, context, user, { template: 'IDENTITY_ADDED', language });
  return user;
}

/**
 * Removes an identity from a user, who cannot sign in by it any more. Raises `User.Data.Updated`.
 *
 * @throws {NotFoundError} of the user, or of the identity that is not theirs.
 */
export async function deleteUserIdentity(
  context: Context,
  { userId, identityId }: { userId: string; identityId: string },
): Promise<User> {
  return transaction(context.database, (tx) =>
    deleteIdentityWithin(tx, context, { userId, identityId }),
  );
}

/** Like {@link deleteUserIdentity}, inside a transaction. */
export async function deleteIdentityWithin(
  tx: Transaction,
  context: Context,
  { userId, identityId }: { userId: string; identityId: string },
): Promise<User> {
  const user = await lockUser(tx, userId);
  const from = await providersOf(tx, userId);
  const { count } = await tx.userIdentity.deleteMany({ where: { id: identityId, userId } });
  if (count === 0) throw new NotFoundError(identityId);
  await recordChange(tx, context, user, { from, to: await providersOf(tx, userId) });
  return user;
}

/**
 * Removes the identities at a provider from these users. Raises `User.Data.Updated` for each user who had one.
 */
export async function deleteIdentitiesAt(
  tx: Transaction,
  context: Context,
  identityProviderId: string,
  userIds: readonly string[],
): Promise<void> {
  const users = await lockUsers(tx, userIds);
  const providers = await providersByUser(tx, userIds);
  await tx.userIdentity.deleteMany({ where: { identityProviderId, userId: { in: [...userIds] } } });
  const events = users.flatMap((user) => {
    const from = providers.get(user.id) ?? [];
    const to = from.filter(({ id }) => id !== identityProviderId);
    return to.length === from.length ? [] : [changeOf(user, { from, to })];
  });
  await recordEvents(tx, context, events);
}

type ProviderName = { readonly id: string; readonly name: string };

async function providersOf(tx: Transaction, userId: string): Promise<ProviderName[]> {
  return (await providersByUser(tx, [userId])).get(userId) ?? [];
}

async function providersByUser(
  tx: Transaction,
  userIds: readonly string[],
): Promise<Map<string, ProviderName[]>> {
  const identities = await tx.userIdentity.findMany({
    where: { userId: { in: [...userIds] } },
    orderBy: { id: 'asc' },
    select: { userId: true, provider: { select: { id: true, name: true } } },
  });
  const byUser = Map.groupBy(identities, ({ userId }) => userId);
  return new Map([...byUser].map(([id, linked]) => [id, linked.map(({ provider }) => provider)]));
}

interface IdentitiesChange {
  readonly from: readonly ProviderName[];
  readonly to: readonly ProviderName[];
}

const changeOf = (user: User, identities: IdentitiesChange): NewEvent => ({
  type: 'User.Data.Updated',
  data: { ...userRecord(user), changes: { identities } },
});

const recordChange = (
  tx: Transaction,
  context: Context,
  user: User,
  identities: IdentitiesChange,
): Promise<void> => recordEvents(tx, context, [changeOf(user, identities)]);
