import { assertMayBeAnybody, assertMayBeLinked } from '../auth/granting/may-open.ts';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { recordEvent } from '../events/record.ts';
import type { IdentityProvider } from '../generated/prisma/client.ts';
import type { Context } from '../services.ts';
import { providerRecord, readProvider, rowOf } from './payload.ts';

/**
 * Deletes an identity provider and its linked identities. Raises `IdentityProvider.Deleted` alone, so that a provider of
 * many people is one statement and one event.
 *
 * @returns The provider as it was before.
 * @throws {NotFoundError}; {@link NotAllowedError} when somebody whose identity it is holds more than the caller, or on
 *   an ENTERPRISE provider, anybody.
 */
export async function deleteIdentityProvider(
  context: Context,
  { id }: { id: string },
): Promise<IdentityProvider> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'IdentityProvider', id);
    const before = await readProvider(tx, id);
    // Its people would then sign in with a password or a code.
    await assertMayBeAnybody(tx, context, before.kind === 'ENTERPRISE');
    // They are what keeps out somebody else to whom the issuer has given the address, who may come by another provider.
    await assertMayBeLinked(tx, context, id);
    await tx.identityProvider.delete({ where: { id } });
    const told = await recordEvent(tx, context, 'IdentityProvider.Deleted', providerRecord(before));
    return told.with(rowOf(before));
  });
}
