import { adminRoleName, ensureBuiltInApplications } from './applications/built-in.ts';
import { generateSecret } from './applications/secret.ts';
import { everything } from './auth/granting/setter-scopes.ts';
import {
  accountIndicator,
  accountScopes,
  managementIndicator,
  managementScopes,
} from './auth/scopes.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { ensureConsoleRoles } from './console/roles.ts';
import type { Database } from './db/database.ts';
import { lockName } from './db/lock.ts';
import { quietTransaction, type Transaction } from './db/transaction.ts';
import { newId } from './ids.ts';
import type { Cipher } from './keys/cipher.ts';
import { digestOf } from './keys/digest.ts';
import { createSigningKey } from './keys/signing-keys.ts';
import { applicationHolder } from './role-holders/holders.ts';
import { assign } from './role-holders/operations.ts';

/**
 * Creates the records that the service needs, if they are missing: the resources of its APIs with their scopes, the
 * built-in applications, the console's roles, a signing key, and the admin application, which holds every management
 * scope.
 *
 * @returns The admin application's credentials if this start generated them. They cannot be read again.
 */
export async function bootstrap(options: {
  database: Database;
  clock: Clock;
  cipher: Cipher;
  config: Config;
}): Promise<{ id: string; secret: string } | undefined> {
  const { database, clock, cipher, config } = options;
  return quietTransaction(database, async (tx) => {
    // Nodes that start together take turns.
    await lockName(tx, 'signet:bootstrap');
    const isFirstStart =
      (await tx.resource.count({ where: { indicator: managementIndicator } })) === 0;
    const { roleId, added } = await ensureAdminRole(tx, clock);
    await ensureResource(tx, clock, {
      name: 'Signet account API',
      indicator: accountIndicator,
      scopes: accountScopes,
    });
    await ensureBuiltInApplications(tx, clock);
    await ensureConsoleRoles(tx, clock, added);
    // Nobody holds a key set of a new service, so its first key signs at once.
    if ((await tx.signingKey.count({ where: { retiredAt: null } })) === 0) {
      await createSigningKey(tx, { cipher, clock }, config.signingAlgorithm);
    }
    if (config.adminClient) {
      await ensureApplication(tx, clock, roleId, config.adminClient);
      return undefined;
    }
    if (!isFirstStart) return undefined;
    const credentials = { id: newId('Application'), secret: generateSecret() };
    await ensureApplication(tx, clock, roleId, credentials);
    return credentials;
  });
}

/**
 * Creates the resource of one of the service's APIs, with its scopes.
 *
 * @returns Its id, and the names of the scopes that it did not have.
 */
async function ensureResource(
  tx: Transaction,
  clock: Clock,
  {
    name,
    indicator,
    scopes,
  }: { name: string; indicator: string; scopes: ReadonlyMap<string, string> },
): Promise<{ resourceId: string; added: string[] }> {
  const now = clock.now();
  const stamps = { createdAt: now, updatedAt: now };
  const { id: resourceId } = await tx.resource.upsert({
    where: { indicator },
    create: { id: newId('Resource'), name, indicator, ...stamps },
    update: {},
  });
  const added = await tx.scope.createManyAndReturn({
    data: [...scopes].map(([name, description]) => ({
      id: newId('Scope'),
      resourceId,
      name,
      description,
      ...stamps,
    })),
    skipDuplicates: true,
    select: { name: true },
  });
  return { resourceId, added: added.map(({ name }) => name) };
}

/** Creates the role of the admin application, with every scope of the management API. */
async function ensureAdminRole(
  tx: Transaction,
  clock: Clock,
): Promise<{ roleId: string; added: string[] }> {
  const now = clock.now();
  const { resourceId, added } = await ensureResource(tx, clock, {
    name: 'Signet management API',
    indicator: managementIndicator,
    scopes: managementScopes,
  });
  const role = await tx.role.upsert({
    where: { name: adminRoleName },
    create: {
      id: newId('Role'),
      name: adminRoleName,
      description: 'Holds every scope of the management API.',
      type: 'MACHINE_TO_MACHINE',
      setterScopes: [...everything],
      createdAt: now,
      updatedAt: now,
    },
    update: {},
  });
  const scopes = await tx.scope.findMany({
    where: { resourceId },
    select: { id: true },
  });
  await tx.roleScope.createMany({
    data: scopes.map((scope) => ({ roleId: role.id, scopeId: scope.id })),
    skipDuplicates: true,
  });
  return { roleId: role.id, added };
}

async function ensureApplication(
  tx: Transaction,
  clock: Clock,
  roleId: string,
  { id, secret }: { id: string; secret: string },
): Promise<void> {
  const now = clock.now();
  await tx.application.upsert({
    where: { id },
    create: {
      id,
      name: 'Signet administrator',
      description: 'The first application, which holds every scope of the management API.',
      type: 'MACHINE_TO_MACHINE',
      setterScopes: [...everything],
      createdAt: now,
      updatedAt: now,
    },
    update: {},
  });
  const name = 'Initial secret';
  const digest = digestOf(secret);
  await tx.applicationSecret.upsert({
    where: { applicationId_name: { applicationId: id, name } },
    create: {
      id: newId('ApplicationSecret'),
      applicationId: id,
      name,
      digest,
      setterScopes: [...everything],
      createdAt: now,
    },
    update: { digest, setterScopes: [...everything] },
  });
  await assign(
    tx,
    applicationHolder,
    { applicationId: id },
    { roleIds: [roleId], setterScopes: everything },
  );
}
