import { everything } from '../auth/granting/setter-scopes.ts';
import { type ManagementScope, managementIndicator, managementScopes } from '../auth/scopes.ts';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import type { Transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';

/** The role that may do everything, as `BuiltIn` names it. */
const administratorRole = 'administrator-role';

const roles: readonly {
  readonly builtIn: string;
  readonly name: string;
  readonly description: string;
  readonly scopes: readonly ManagementScope[];
}[] = [
  {
    builtIn: administratorRole,
    name: 'Administrator',
    description: 'May do everything in the console and in the management API.',
    scopes: ['all'],
  },
  {
    builtIn: 'viewer-role',
    name: 'Viewer',
    description: 'May see everything in the console and in the management API, and change nothing.',
    scopes: [...managementScopes.keys()].filter((scope) => scope.endsWith(':read')),
  },
];

/** The names of the roles that Signet creates for the console. */
export const consoleRoleNames: readonly string[] = roles.map(({ name }) => name);

/**
 * Creates the roles `Administrator` and `Viewer` once. A role that people have changed or deleted since stays as they
 * left it. One that they have not changed gets the scopes that came with this version.
 *
 * @param added The scopes of the management API that it did not have before this start.
 */
export async function ensureConsoleRoles(
  tx: Transaction,
  clock: Clock,
  added: readonly string[],
): Promise<void> {
  for (const { builtIn, scopes } of roles) {
    const known = await tx.builtIn.findUnique({ where: { name: builtIn } });
    if (!known) {
      await createBuiltInRole(tx, clock, builtIn);
      continue;
    }
    const isNew = (scope: ManagementScope) => added.includes(scope);
    const all = scopes.filter((scope) => !isNew(scope));
    if (all.length < scopes.length && (await hasScopes(tx, known.recordId, all)))
      await addScopes(tx, known.recordId, scopes.filter(isNew));
  }
}

/** Whether a role is there and has all of these scopes of the management API. */
async function hasScopes(
  tx: Transaction,
  roleId: string,
  names: readonly ManagementScope[],
): Promise<boolean> {
  const scope = { name: { in: [...names] }, resource: { indicator: managementIndicator } };
  return (await tx.roleScope.count({ where: { roleId, scope } })) === names.length;
}

/** Creates a built-in role, anew where it was deleted, and returns its id. */
async function createBuiltInRole(tx: Transaction, clock: Clock, builtIn: string): Promise<string> {
  const role = roles.find((one) => one.builtIn === builtIn);
  if (!role) throw new Error(`${builtIn} is no built-in role.`);
  const now = clock.now();
  const id = newId('Role');
  await tx.role.create({
    data: {
      id,
      name: await freeName(tx, role.name),
      description: role.description,
      type: 'USER',
      setterScopes: [...everything],
      createdAt: now,
      updatedAt: now,
    },
  });
  await addScopes(tx, id, role.scopes);
  await tx.builtIn.upsert({
    where: { name: builtIn },
    create: { name: builtIn, recordId: id, createdAt: now },
    update: { recordId: id },
  });
  return id;
}

// A role of that name which people made themselves must not give more than they meant.
async function freeName(tx: Transaction, name: string): Promise<string> {
  const isTaken = (wanted: string) => tx.role.count({ where: { name: wanted } });
  let free = name;
  for (let number = 1; (await isTaken(free)) > 0; number += 1) {
    free = number === 1 ? `${name} (Signet)` : `${name} (Signet ${number})`;
  }
  return free;
}

async function addScopes(
  tx: Transaction,
  roleId: string,
  names: readonly ManagementScope[],
): Promise<void> {
  const scopes = await tx.scope.findMany({
    where: { name: { in: [...names] }, resource: { indicator: managementIndicator } },
    select: { id: true },
  });
  await tx.roleScope.createMany({
    data: scopes.map((scope) => ({ roleId, scopeId: scope.id })),
    skipDuplicates: true,
  });
}

/** Restores the role `Administrator` with its scope, if people have deleted or changed it, and returns its id. */
export async function restoreAdministratorRole(tx: Transaction, clock: Clock): Promise<string> {
  const known = await tx.builtIn.findUnique({ where: { name: administratorRole } });
  const role = known && (await tx.role.findUnique({ where: { id: known.recordId } }));
  if (!role) return createBuiltInRole(tx, clock, administratorRole);
  await addScopes(tx, role.id, ['all']);
  return role.id;
}

/** Whether a service has started with this database: only then there is something to administer. */
export const isBootstrapped = async ({ prisma }: Pick<Database, 'prisma'>): Promise<boolean> =>
  (await prisma.resource.count({ where: { indicator: managementIndicator } })) > 0;

/** Whether there is somebody who may do everything: by the role `Administrator`, or by another with the scope `all`. */
export async function hasAdministrator(tx: Pick<Transaction, '$queryRaw'>): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ exists: boolean }[]>`
    SELECT EXISTS (
      SELECT 1 FROM "UserRole" h
       WHERE h."roleId" IN (
         SELECT "recordId" FROM "BuiltIn" WHERE "name" = ${administratorRole}
         UNION ALL
         SELECT c."roleId" FROM "RoleScope" c
           JOIN "Scope" s ON s."id" = c."scopeId" AND s."name" = 'all'
           JOIN "Resource" r ON r."id" = s."resourceId" AND r."indicator" = ${managementIndicator}
       )) AS "exists"`;
  return row?.exists === true;
}
