import { lockUser } from '../../db/lock.ts';
import type { Told } from '../../db/told.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { NotFoundError } from '../../errors.ts';
import type { User } from '../../generated/prisma/client.ts';
import { requestError } from '../../graphql/request-error.ts';
import type { ViewerContext } from '../../services.ts';

/** The refusal for a person whose account was deleted or suspended. */
export const cannotBeUsed = () =>
  requestError('UNAUTHENTICATED', 'The access token is refused: token of an inactive user.');

/**
 * Reads the person whose account it is.
 *
 * @throws UNAUTHENTICATED if the account was deleted or suspended.
 */
export async function readViewer({ database, viewer }: ViewerContext): Promise<User> {
  const user = await database.prisma.user.findUnique({ where: { id: viewer.userId } });
  if (!user || user.isSuspended) throw cannotBeUsed();
  return user;
}

/**
 * Changes the person's account under a lock of the user: of two concurrent changes, the second sees the result of the
 * first.
 *
 * @throws UNAUTHENTICATED if the account was deleted or suspended; nothing was done.
 */
export async function changeViewer<T>(
  { database, viewer }: ViewerContext,
  work: (tx: Transaction, before: User) => Promise<Told<T>>,
): Promise<T> {
  return transaction(database, async (tx) => {
    const before = await lockUser(tx, viewer.userId).catch((error: unknown) => {
      throw error instanceof NotFoundError ? cannotBeUsed() : error;
    });
    if (before.isSuspended) throw cannotBeUsed();
    return work(tx, before);
  });
}
