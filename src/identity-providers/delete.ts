import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import type { IdentityProvider } from '../generated/prisma/client.ts';
import type { Context } from '../services.ts';
import { deleteIdentitiesAt } from './identities.ts';

/** How many people lose their identity in one transaction. */
const peopleAtOnce = 500;

/**
 * Deletes an identity provider with the identities that were linked by it. Raises `User.Data.Updated` for each user who
 * loses one.
 *
 * A provider may have any number of people, and a transaction may not: it is disabled first, so that nobody is linked
 * any more, and goes when it has none left. What a crash leaves is a disabled provider, which can be deleted again.
 *
 * @returns The provider as it was before.
 * @throws {NotFoundError}
 */
export async function deleteIdentityProvider(
  context: Context,
  { id }: { id: string },
): Promise<IdentityProvider> {
  let found: IdentityProvider | undefined;
  for (;;) {
    const { before, isDeleted } = await deleteUnused(context, id);
    found ??= before;
    if (isDeleted) return found;
    const userIds = await linkedUsers(context, id);
    await transaction(context.database, (tx) => deleteIdentitiesAt(tx, context, id, userIds));
  }
}

/** Deletes a provider without identities; disables one that has some. */
function deleteUnused(
  { database, clock }: Context,
  id: string,
): Promise<{ before: IdentityProvider; isDeleted: boolean }> {
  return transaction(database, async (tx) => {
    await lockRow(tx, 'IdentityProvider', id);
    const before = await tx.identityProvider.findUniqueOrThrow({ where: { id } });
    const linked = await tx.userIdentity.findFirst({ where: { identityProviderId: id } });
    if (linked === null) await tx.identityProvider.delete({ where: { id } });
    else if (before.enabled)
      await tx.identityProvider.update({
        where: { id },
        data: { enabled: false, updatedAt: clock.now() },
      });
    return { before, isDeleted: linked === null };
  });
}

async function linkedUsers({ database }: Context, identityProviderId: string): Promise<string[]> {
  const linked = await database.prisma.$queryRaw<{ userId: string }[]>`
    SELECT DISTINCT "userId" FROM "UserIdentity"
     WHERE "identityProviderId" = ${identityProviderId} ORDER BY "userId" LIMIT ${peopleAtOnce}`;
  return linked.map(({ userId }) => userId);
}
