import { lockUser } from '../db/lock.ts';
import type { Told } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';
import { type NewEvent, recordChange, recordEvents } from '../events/record.ts';
import type { FactorType, User, UserFactor } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';
import { tellPerson } from '../messages/notice.ts';
import type { Context } from '../services.ts';
import { credentialEvent } from '../users/credentials.ts';
import { users } from '../users/payload.ts';

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
 * before and after if they differ, and `User.Credential.Updated` for each factor, and tells the person by message.
 *
 * @throws {NotFoundError} of the user; {@link NotAllowedError} beyond 50 factors.
 */
export async function changeFactors<T>(
  tx: Transaction,
  context: Context,
  { userId, language, notice }: FactorChange,
  work: (user: User, factors: readonly UserFactor[]) => Promise<T>,
): Promise<Told<T>> {
  const user = await lockUser(tx, userId);
  const factors = await readFactors(tx, userId);
  const result = await work(user, factors);
  const after = await readFactors(tx, userId);
  const [from, to] = [typesOf(factors), typesOf(after)];
  if (to.length > maxFactors) throw new NotAllowedError('There are too many factors.');
  if (from.join() !== to.join()) {
    await recordChange(tx, context, users, user, {}, { factors: { from, to } });
  }
  const told = await recordEvents(tx, context, credentialEvents(userId, factors, after));
  await tellPerson(tx, context, user, { language, template: notice });
  return told.with(result);
}

const readFactors = (tx: Transaction, userId: string): Promise<UserFactor[]> =>
  tx.userFactor.findMany({ where: { userId }, orderBy: { id: 'asc' } });

const typesOf = (factors: readonly UserFactor[]): FactorType[] => factors.map(({ type }) => type);

/** The factors that came and went. Backup codes that replace others are one change. */
function credentialEvents(
  userId: string,
  before: readonly UserFactor[],
  after: readonly UserFactor[],
): NewEvent[] {
  const without = (some: readonly UserFactor[], others: readonly UserFactor[]) =>
    some.filter(({ id }) => !others.some((other) => other.id === id));
  const [removed, added] = [without(before, after), without(after, before)];
  const isReplaced = ({ type }: UserFactor) =>
    type === 'BACKUP_CODES' &&
    [removed, added].every((some) => some.some((one) => one.type === type));
  return [
    ...removed
      .filter((factor) => !isReplaced(factor))
      .map((factor) => credentialEvent(userId, factor.type, 'REMOVED', factor)),
    ...added.map((factor) =>
      credentialEvent(userId, factor.type, isReplaced(factor) ? 'CHANGED' : 'ADDED', factor),
    ),
  ];
}
