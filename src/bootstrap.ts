import { ensureAccount } from './account/built-in.ts';
import { generateSecret } from './applications/secret.ts';
import { managementIndicator, managementScopes } from './auth/scopes.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { ensureConsole } from './console/built-in.ts';
import type { Database } from './db/database.ts';
import { lockName } from './db/lock.ts';
import { type Transaction, transaction } from './db/transaction.ts';
import { newId } from './ids.ts';
import type { Cipher } from './keys/cipher.ts';
import { digestOf } from './keys/digest.ts';
import { createSigningKey } from './keys/signing-keys.ts';

const adminRoleName = 'Signet administrator';

/**
 * Creates the records that the service needs, if they are missing: the management resource with its scopes, a signing
 * key, the admin application, which holds every management scope, and the records of the console and of the account.
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
  return transaction(database, async (tx) => {
    // Nodes that start together take turns.
    await lockName(tx, 'signet:bootstrap');
    const isFirstStart =
      (await tx.resource.count({ where: { indicator: managementIndicator } })) === 0;
    const roleId = await ensureAdminRole(tx, clock);
    await ensureConsole(tx, clock);
    await ensureAccount(tx, clock);
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

async function ensureAdminRole(tx: Transaction, clock: Clock): Promise<string> {
  const now = clock.now();
  const stamps = { createdAt: now, updatedAt: now };
  const resource = await tx.resource.upsert({
    where: { indicator: managementIndicator },
    create: {
      id: newId('Resource'),
      name: 'Signet management API',
      indicator: managementIndicator,
      ...stamps,
    },
    update: {},
  });
  await tx.scope.createMany({
    data: [...managementScopes].map(([name, description]) => ({
      id: newId('Scope'),
      resourceId: resource.id,
      name,
      description,
      ...stamps,
    })),
    skipDuplicates: true,
  });
  const role = await tx.role.upsert({
    where: { name: adminRoleName },
    create: {
      id: newId('Role'),
      name: adminRoleName,
      description: 'Holds every scope of the management API.',
      type: 'MACHINE_TO_MACHINE',
      ...stamps,
    },
    update: {},
  });
  const scopes = await tx.scope.findMany({
    where: { resourceId: resource.id },
    select: { id: true },
  });
  await tx.roleScope.createMany({
    data: scopes.map((scope) => ({ roleId: role.id, scopeId: scope.id })),
    skipDuplicates: true,
  });
  return role.id;
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
      createdAt: now,
      updatedAt: now,
    },
    update: {},
  });
  const name = 'Initial secret';
  const digest = digestOf(secret);
  await tx.applicationSecret.upsert({
    where: { applicationId_name: { applicationId: id, name } },
    create: { id: newId('ApplicationSecret'), applicationId: id, name, digest, createdAt: now },
    update: { digest },
  });
  await tx.applicationRole.createMany({
    data: [{ applicationId: id, roleId }],
    skipDuplicates: true,
  });
}
