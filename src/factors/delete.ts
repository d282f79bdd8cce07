import { assertMayBe } from '../auth/granting/may-open.ts';
import type { Told } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { UserFactor } from '../generated/prisma/client.ts';
import type { Language } from '../languages.ts';
import type { Context } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { changeFactors } from './change.ts';
import { readFactorState } from './policy.ts';

/** A second factor in its last state, with its unused backup codes. */
export type DeletedFactor = UserFactor & { readonly _count: { readonly codes: number } };

interface FactorOfUser {
  readonly userId: string;
  readonly factorId: string;
}

/**
 * Deletes a factor that a person has lost. Sessions stay. Raises `User.Data.Updated` and `User.Credential.Updated`,
 * and tells the person by message.
 *
 * @throws {NotFoundError} of the user, or of the factor if it is not the user's; {@link NotAllowedError} on a user who
 * holds more than the caller.
 */
export async function deleteUserFactor(
  context: Context,
  { userId, factorId }: FactorOfUser,
): Promise<DeletedFactor> {
  return transaction(context.database, async (tx) => {
    const deleted = await deleteFactor(tx, context, { userId, factorId });
    // Without it, the password alone may be enough to act as this user.
    await assertMayBe(tx, context, [userId]);
    return deleted;
  });
}

/**
 * Deletes a factor at the request of the person. The last one stays where one is required.
 *
 * @throws {NotFoundError} if it is not the person's; {@link NotAllowedError} of the last one.
 */
export async function deleteOwnFactor(
  tx: Transaction,
  context: Context,
  { userId, factorId, language }: FactorOfUser & { readonly language?: Language | undefined },
): Promise<Told<DeletedFactor>> {
  const deleted = await deleteFactor(tx, context, { userId, factorId, language });
  const state = await readFactorState(tx, await readSettingsInForce(tx, userId), userId);
  if (state.isRequired && state.usable.length === 0)
    throw new NotAllowedError('A second factor is required: add another one first.');
  return deleted;
}

const deleteFactor = (
  tx: Transaction,
  context: Context,
  { userId, factorId, language }: FactorOfUser & { readonly language?: Language | undefined },
): Promise<Told<DeletedFactor>> =>
  changeFactors(tx, context, { userId, language, notice: 'FACTOR_REMOVED' }, async () => {
    const found = await tx.userFactor.findFirst({
      where: { id: factorId, userId },
      include: { _count: { select: { codes: true } } },
    });
    if (!found) throw new NotFoundError(factorId);
    await tx.userFactor.delete({ where: { id: factorId } });
    return found;
  });
