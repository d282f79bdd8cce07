import { lockUser } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import type { User } from '../generated/prisma/client.ts';
import { normalValue } from '../protection/identifier.ts';
import type { Context } from '../services.ts';
import { writeUser } from '../users/operations.ts';
import { type Address, identifierOf } from './codes.ts';

/** Whether an account has an address now. */
export function holdsAddress(
  { primaryEmail, primaryPhone }: Pick<User, 'primaryEmail' | 'primaryPhone'>,
  address: Address,
): boolean {
  const held = address.type === 'EMAIL' ? primaryEmail : primaryPhone;
  if (held === null) return false;
  const { type, value } = identifierOf(address);
  return normalValue({ type, value: held }) === normalValue({ type, value });
}

const flags = { EMAIL: 'isEmailVerified', PHONE: 'isPhoneVerified' } as const;

/** What a proof of an address changes about an account: it is verified. Empty if it is so already, or not theirs. */
export function verifiedBy(user: User, address: Address): Partial<User> {
  const flag = flags[address.type];
  return user[flag] || !holdsAddress(user, address) ? {} : { [flag]: true };
}

/**
 * Notes that a person has shown that they hold an address: it is verified from then on. Raises `User.Data.Updated` if it
 * was not. Nothing is noted of an address that the account has no more. Call it only for a proof whose setter may prove
 * who the person is.
 *
 * @param person The actor in it is the person.
 */
export async function noteProved(
  tx: Transaction,
  person: Context,
  userId: string,
  address: Address,
): Promise<Told<void>> {
  const user = await lockUser(tx, userId);
  const told = await writeUser(tx, person, user, verifiedBy(user, address));
  return told.with(undefined);
}
