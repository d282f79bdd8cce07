import { everything } from '../auth/granting/setter-scopes.ts';
import type { Clock } from '../clock.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError } from '../errors.ts';

/**
 * The applications that are part of the service. Their ids are the same everywhere, so nothing has to be looked up, and
 * no other application can take their place.
 */
export const consoleApplicationId = 'app_0000000000000000000c0ns01e';
/** The application as which people sign in to the pages of their account. */
export const accountApplicationId = 'app_0000000000000000000acc0vnt';

const builtIn: ReadonlyMap<
  string,
  { readonly name: string; readonly description: string; readonly redirectPath: string }
> = new Map([
  [
    consoleApplicationId,
    {
      name: 'Console',
      description: 'The console of this service. It cannot be changed.',
      redirectPath: '/console/callback',
    },
  ],
  [
    accountApplicationId,
    {
      name: 'Account',
      description: 'The pages where people look after their own account. It cannot be changed.',
      redirectPath: '/account/callback',
    },
  ],
]);

/** The role of the admin application, which holds every scope of the management API. */
export const adminRoleName = 'Signet administrator';

/** Whether an application is part of the service. */
export const isBuiltInApplication = (applicationId: string): boolean => builtIn.has(applicationId);

/** Creates the built-in applications that are missing. */
export async function ensureBuiltInApplications(tx: Transaction, clock: Clock): Promise<void> {
  const now = clock.now();
  await tx.application.createMany({
    data: [...builtIn].map(([id, { name, description }]) => ({
      id,
      name,
      description,
      type: 'TRADITIONAL',
      setterScopes: [...everything],
      createdAt: now,
      updatedAt: now,
    })),
    skipDuplicates: true,
  });
}

/**
 * Where the provider sends a browser back to a built-in application; it follows from the public URL alone. Undefined
 * for any other application.
 */
export function builtInRedirectUri(applicationId: string, baseUrl: string): string | undefined {
  const path = builtIn.get(applicationId)?.redirectPath;
  return path === undefined ? undefined : `${baseUrl}${path}`;
}

/**
 * Makes sure that an application is not built in. Nobody may give such an application a secret, another redirect URI or
 * an exchange: whoever could sign in as the application could act for the people who use it.
 *
 * @throws {NotAllowedError}
 */
export function assertNotBuiltIn(applicationId: string): void {
  if (!isBuiltInApplication(applicationId)) return;
  throw new NotAllowedError('This application belongs to the service and cannot be changed.');
}
