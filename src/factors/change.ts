import { lockUser } from '../db/lock.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import { recordEvent } from '../events/record.ts';
import type { FactorType, User, UserFactor } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';
import { tellPerson } from '../messages/notice.ts';
import type { Context } from '../services.ts';
import { userRecord } from '../users/payload.ts';

const maxFactors = 50;

/** A change of a person's factors. */
export interface FactorChange {
  readonly userId: string;
  /** The language of the message to the person; by default that of the settings. */
  readonly language?: Language | undefined;
  readonly notice: 'FACTOR_ADDED' | 'FACTOR_REMOVED';
}

/**
 * Changes a user's second factors: locks the user, does the work, records `User.Data.Updated` with the kinds of factors
 * before and after if they differ, and tells the person by message.
 *
 * @throws {NotFoundError} of the user; {@link NotAllowedError} beyond 50 factors.
 */
export async function changeFactors<T>(
  tx: Transaction,
  context: Context,
  { userId, language, notice }: FactorChange,
  work: (user: User, factors: readonly UserFactor[]) => Promise<T>,
): Promise<T> {
  const user = await lockUser(tx, userId);
  const factors = await readFactors(tx, userId);
  const result = await work(user, factors);
  const [from, to] = [typesOf(factors), typesOf(await readFactors(tx, userId))];
  if (to.length > maxFactors) throw new NotAllowedError('There are too many factors.');
  if (from.join() !== to.join()) {
    const data = { updatedAt: context.clock.now() };
    const after = await tx.user.update({ where: { id: userId }, data });
    const changes = { factors: { from, to } };
    await recordEvent(tx, context, 'User.Data.Updated', { ...userRecord(after), changes });
  }
  await tellPerson(tx, context, user, { language, template: notice });
  return result;
}

const readFactors = (tx: Transaction, userId: string): Promise<UserFactor[]> =>
  tx.userFactor.findMany({ where: { userId }, orderBy: { id: 'asc' } });

const typesOf = (factors: readonly UserFactor[]): FactorType[] => factors.map(({ type }) => type);
