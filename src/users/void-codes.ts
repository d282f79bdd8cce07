import { folded } from '../db/sql.ts';
import type { Transaction } from '../db/transaction.ts';
import { type AddressType, Prisma, type User } from '../generated/prisma/client.ts';
import { foldCase } from '../input.ts';
import type { Context } from '../services.ts';
import { revokeInvitations } from './invitations/revoke.ts';

type Addresses = Pick<User, 'primaryEmail' | 'primaryPhone'>;

const addressesOf = ({ primaryEmail, primaryPhone }: Addresses): string[] =>
  [primaryEmail, primaryPhone].filter((address) => address !== null);

/**
 * Voids what was sent to a user's addresses before their password changed: codes and verifications in all interactions
 * and at all accounts, verified ones too, and one-time tokens. Whoever read the messages then may not be the owner.
 *
 * Call it with the user locked. Whoever uses one of these locks the user first, so that neither waits for the other.
 */
export async function voidCodes(tx: Transaction, user: User): Promise<void> {
  await voidSent(tx, addressesOf(user), user.id);
  // Those of nodes of the version before.
  await tx.viewerCode.deleteMany({ where: { userId: user.id } });
}

/**
 * Voids what was sent to the addresses that a user gives up: codes and verifications in all interactions and at the
 * accounts of others, one-time tokens, and invitations. Whoever read the messages then is not whom the address belongs
 * to next. Raises `OrganizationInvitation.Data.Updated` for each invitation. Call it with the user locked.
 *
 * @param after The user's addresses from now on.
 */
export async function voidFormer(
  tx: Transaction,
  context: Context,
  before: Addresses,
  after: Addresses = { primaryEmail: null, primaryPhone: null },
): Promise<void> {
  const kept = new Set(addressesOf(after).map(foldCase));
  const former = addressesOf(before).filter((address) => !kept.has(foldCase(address)));
  if (former.length === 0) return;
  await voidSent(tx, former);
  await revokeInvitations(tx, context, former);
}

/** @param userId Whose codes at the account are voided too, to any address. */
async function voidSent(
  tx: Transaction,
  addresses: readonly string[],
  userId: string | null = null,
): Promise<void> {
  const isOne = (column: Prisma.Sql) =>
    Prisma.sql`${folded(column)} = ANY (ARRAY(SELECT ${folded(Prisma.sql`a`)} FROM unnest(${[...addresses]}::text[]) a))`;
  await tx.$executeRaw`
    DELETE FROM "Verification"
     WHERE "userId" = ${userId}::text OR ${isOne(Prisma.sql`"recipient"`)}`;
  await tx.$executeRaw`DELETE FROM "OneTimeToken" WHERE ${isOne(Prisma.sql`"email"`)}`;
}

/**
 * Voids the codes that a user asked for at the account, of each kind of address that changes, verified ones too: they
 * would replace the address that the account had then, and not the one that an administrator has set since.
 *
 * Call it with the user locked.
 */
export async function voidOvertaken(
  tx: Transaction,
  before: Addresses & Pick<User, 'id'>,
  after: Addresses,
): Promise<void> {
  const types: AddressType[] = [];
  if (after.primaryEmail !== before.primaryEmail) types.push('EMAIL');
  if (after.primaryPhone !== before.primaryPhone) types.push('PHONE');
  if (types.length === 0) return;
  await tx.verification.deleteMany({ where: { userId: before.id, type: { in: types } } });
}
