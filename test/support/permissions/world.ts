import fc from 'fast-check';
import { generateSecret } from '../../../src/applications/secret.ts';
import { accountScopes } from '../../../src/auth/scopes.ts';
import type { Database } from '../../../src/db/database.ts';
import type { ApplicationType } from '../../../src/generated/prisma/client.ts';
import { newId } from '../../../src/ids.ts';
import { digestOf } from '../../../src/keys/digest.ts';

const api = ['read', 'write', 'read:all'];
const management = ['all', 'users:read', 'users:write', 'permissions:read'];
const ofOrganization = ['bill', 'invite'];
const counts = { apis: 2, users: 4, applications: 3, roles: 5, organizations: 2, memberRoles: 4 };

// Every scope that a role can have, as [index of the API, or a name of Signet's own, scope].
const scopes = [
  ...[0, 1].flatMap((index) => api.map((name) => [index, name] as const)),
  ...management.map((name) => ['management', name] as const),
  ['account', 'account:read'] as const,
];

const below = (count: number) => fc.nat({ max: count - 1 });
const setter = fc.constantFrom<string[][]>(['all'], ['users:read'], ['users:write'], []);
const kind = fc.constantFrom('USER' as const, 'MACHINE_TO_MACHINE' as const);
const some = <T>(one: fc.Arbitrary<T>, maxLength: number) => fc.array(one, { maxLength });
const given = (roles: number) => fc.record({ role: below(roles), setter });

const shape = fc.record({
  users: fc.array(
    fc.record({
      isSuspended: fc.boolean(),
      setter,
      roles: some(given(counts.roles), 3),
      memberOf: some(fc.record({ organization: below(2), roles: some(given(4), 2) }), 2),
    }),
    { minLength: counts.users, maxLength: counts.users },
  ),
  applications: fc.array(
    fc.record({
      type: fc.constantFrom<ApplicationType[]>(
        'MACHINE_TO_MACHINE',
        'MACHINE_TO_MACHINE',
        'TRADITIONAL',
      ),
      secrets: some(fc.record({ isOver: fc.boolean(), setter }), 2),
      roles: some(given(counts.roles), 3),
      memberOf: some(fc.record({ organization: below(2), roles: some(given(4), 2) }), 2),
    }),
    { minLength: counts.applications, maxLength: counts.applications },
  ),
  roles: fc.array(fc.record({ kind, scopes: some(fc.constantFrom(...scopes), 5) }), {
    minLength: counts.roles,
    maxLength: counts.roles,
  }),
  memberRoles: fc.array(
    fc.record({
      kind,
      scopes: some(fc.constantFrom(...scopes), 4),
      ofOrganization: some(fc.constantFrom(...ofOrganization), 2),
    }),
    { minLength: counts.memberRoles, maxLength: counts.memberRoles },
  ),
  page: fc.integer({ min: 1, max: 3 }),
});

/** A random world of users, applications, roles and organizations, as it is drawn. */
export type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

/** Draws worlds. */
export const worldShape: fc.Arbitrary<Shape> = shape;

/** An application, with the secrets that authenticate it. */
interface WorldApplication {
  readonly id: string;
  readonly type: ApplicationType;
  readonly secrets: readonly string[];
}

/** A world as it stands in the database. */
export interface World {
  readonly users: readonly string[];
  readonly applications: readonly WorldApplication[];
  readonly organizations: readonly string[];
  /** The scopes of each target, by its indicator. */
  readonly targets: ReadonlyMap<string, readonly string[]>;
}

/** Writes a world into the database, where others may be already. */
export async function createWorld({ prisma }: Database, now: Date, drawn: Shape): Promise<World> {
  const stamps = { createdAt: now, updatedAt: now };
  const named = () => `World ${newId('User')}`;
  const apis = await Promise.all(
    Array.from({ length: counts.apis }, async () => {
      const id = newId('Resource');
      const indicator = `https://${id.replace('_', '-')}.example.com`;
      await prisma.resource.create({ data: { id, name: id, indicator, ...stamps } });
      await prisma.scope.createMany({
        data: api.map((name) => ({ id: newId('Scope'), resourceId: id, name, ...stamps })),
      });
      return indicator;
    }),
  );
  const indicators = { management: 'urn:signet:management', account: 'urn:signet:account' };
  const rows = await prisma.scope.findMany({ include: { resource: true } });
  const scopeIds = (wanted: readonly (readonly [number | 'management' | 'account', string])[]) => [
    ...new Set(
      wanted.map(([of, name]) => {
        const indicator = typeof of === 'number' ? apis[of] : indicators[of];
        const row = rows.find((one) => one.name === name && one.resource.indicator === indicator);
        if (!row) throw new Error(`${indicator} has no ${name}.`);
        return row.id;
      }),
    ),
  ];
  for (const name of ofOrganization)
    await prisma.organizationScope.upsert({
      where: { name },
      create: { id: newId('OrganizationScope'), name, ...stamps },
      update: {},
    });
  const organizationScopes = await prisma.organizationScope.findMany();

  const roles = await Promise.all(
    drawn.roles.map(async (role) => {
      const id = newId('Role');
      const data = { id, name: named(), type: role.kind, setterScopes: ['all'], ...stamps };
      await prisma.role.create({ data });
      const of = scopeIds(role.scopes).map((scopeId) => ({ roleId: id, scopeId }));
      await prisma.roleScope.createMany({ data: of });
      return { id, kind: role.kind };
    }),
  );
  const memberRoles = await Promise.all(
    drawn.memberRoles.map(async (role) => {
      const id = newId('OrganizationRole');
      await prisma.organizationRole.create({
        data: { id, name: named(), type: role.kind, ...stamps },
      });
      await prisma.organizationRoleResourceScope.createMany({
        data: scopeIds(role.scopes).map((scopeId) => ({ organizationRoleId: id, scopeId })),
      });
      await prisma.organizationRoleScope.createMany({
        data: organizationScopes
          .filter(({ name }) => role.ofOrganization.includes(name))
          .map((scope) => ({ organizationRoleId: id, organizationScopeId: scope.id })),
      });
      return { id, kind: role.kind };
    }),
  );
  const organizations = await Promise.all(
    Array.from({ length: counts.organizations }, async () => {
      const id = newId('Organization');
      await prisma.organization.create({ data: { id, name: named(), ...stamps } });
      return id;
    }),
  );
  const assigned = (
    all: readonly { readonly id: string; readonly kind: string }[],
    wanted: readonly { readonly role: number; readonly setter: string[] }[],
    type: string,
  ) => [
    ...new Map(
      wanted
        .map(({ role, setter: setterScopes }) => ({ ...all[role], setterScopes }))
        .filter((role) => role.kind === type)
        .map((role) => [role.id, { id: String(role.id), setterScopes: role.setterScopes }]),
    ).values(),
  ];
  const memberships = (
    memberOf: Shape['users'][number]['memberOf'],
    type: 'USER' | 'MACHINE_TO_MACHINE',
  ) =>
    [...new Map(memberOf.map((one) => [one.organization, one])).values()].map((one) => ({
      organizationId: organizations[one.organization] as string,
      roles: assigned(memberRoles, one.roles, type),
    }));

  const users = await Promise.all(
    drawn.users.map(async ({ isSuspended, setter: setterScopes, ...user }) => {
      const id = newId('User');
      await prisma.user.create({ data: { id, isSuspended, setterScopes, ...stamps } });
      await prisma.userRole.createMany({
        data: assigned(roles, user.roles, 'USER').map(({ id: roleId, ...role }) => ({
          userId: id,
          roleId,
          ...role,
        })),
      });
      for (const { organizationId, roles: held } of memberships(user.memberOf, 'USER')) {
        const key = { organizationId, userId: id };
        await prisma.organizationUser.create({ data: { ...key, createdAt: now } });
        await prisma.organizationUserRole.createMany({
          data: held.map(({ id: organizationRoleId, ...role }) => ({
            ...key,
            organizationRoleId,
            ...role,
          })),
        });
      }
      return id;
    }),
  );
  const applications = await Promise.all(
    drawn.applications.map(async ({ type, ...application }) => {
      const id = newId('Application');
      await prisma.application.create({
        data: { id, name: named(), type, setterScopes: ['all'], ...stamps },
      });
      const secrets = application.secrets.map((secret) => ({ ...secret, value: generateSecret() }));
      await prisma.applicationSecret.createMany({
        data: secrets.map(({ isOver, setter: setterScopes, value }, index) => ({
          id: newId('ApplicationSecret'),
          applicationId: id,
          name: `Secret ${index}`,
          digest: digestOf(value),
          expiresAt: isOver ? new Date(now.getTime() - 60_000) : null,
          setterScopes,
          createdAt: now,
        })),
      });
      await prisma.applicationRole.createMany({
        data: assigned(roles, application.roles, 'MACHINE_TO_MACHINE').map(
          ({ id: roleId, ...role }) => ({ applicationId: id, roleId, ...role }),
        ),
      });
      const ofMachines = memberships(application.memberOf, 'MACHINE_TO_MACHINE');
      for (const { organizationId, roles: held } of ofMachines) {
        const key = { organizationId, applicationId: id };
        await prisma.organizationApplication.create({ data: { ...key, createdAt: now } });
        await prisma.organizationApplicationRole.createMany({
          data: held.map(({ id: organizationRoleId, ...role }) => ({
            ...key,
            organizationRoleId,
            ...role,
          })),
        });
      }
      return { id, type, secrets: secrets.map(({ value }) => value) };
    }),
  );
  return {
    users,
    applications,
    organizations,
    targets: new Map<string, readonly string[]>([
      ...apis.map((indicator) => [indicator, api] as const),
      [indicators.management, management],
      [indicators.account, [...accountScopes.keys()]],
      ...organizations.map((id) => [`urn:signet:organization:${id}`, ofOrganization] as const),
    ]),
  };
}
