import { accountApplicationId } from '../applications/own.ts';
import { accountIndicator, accountScopes } from '../auth/scopes.ts';
import type { Clock } from '../clock.ts';
import type { Transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';

/**
 * Creates what the own account needs: the resource with its scopes, and the application as which people sign in to the
 * pages at `/account`.
 */
export async function ensureAccount(tx: Transaction, clock: Clock): Promise<void> {
  const now = clock.now();
  const stamps = { createdAt: now, updatedAt: now };
  const resource = await tx.resource.upsert({
    where: { indicator: accountIndicator },
    create: {
      id: newId('Resource'),
      name: 'Signet account API',
      indicator: accountIndicator,
      ...stamps,
    },
    update: {},
  });
  await tx.scope.createMany({
    data: [...accountScopes].map(([name, description]) => ({
      id: newId('Scope'),
      resourceId: resource.id,
      name,
      description,
      ...stamps,
    })),
    skipDuplicates: true,
  });
  await tx.application.upsert({
    where: { id: accountApplicationId },
    create: {
      id: accountApplicationId,
      name: 'Account',
      description: 'The pages where people look after their own account. It cannot be changed.',
      type: 'TRADITIONAL',
      ...stamps,
    },
    update: {},
  });
}
