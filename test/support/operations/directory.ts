import { generateSecret } from '../../../src/applications/secret.ts';
import { everything } from '../../../src/auth/granting/setter-scopes.ts';
import { canonicalIndicator } from '../../../src/auth/indicators.ts';
import type { Clock } from '../../../src/clock.ts';
import type { Database } from '../../../src/db/database.ts';
import type {
  ApplicationType,
  Organization,
  Prisma,
  Resource,
  Role,
  Session,
  User,
  UserFactor,
  UserGrant,
  UserIdentity,
} from '../../../src/generated/prisma/client.ts';
import { newId } from '../../../src/ids.ts';
import { digestOf } from '../../../src/keys/digest.ts';

// As what is set up by a caller who can do everything.
const setterScopes = [...everything];

/** An application and its secret, as in a client's configuration. */
export interface TestClient {
  readonly id: string;
  readonly secret: string;
}

/** Writes directory records straight into the tables. */
export function seedDirectory(database: Database, clock: Clock) {
  const { prisma } = database;
  const stamps = () => ({ createdAt: clock.now(), updatedAt: clock.now() });
  let count = 0;
  const nextName = (kind: string) => {
    count += 1;
    return `${kind} ${count}`;
  };

  async function scopeIds(resource: Resource, names: readonly string[]) {
    const scopes = await prisma.scope.findMany({
      where: { resourceId: resource.id, name: { in: [...names] } },
      select: { id: true },
    });
    if (scopes.length !== names.length) throw new Error(`Not all of ${names} are on the resource.`);
    return scopes.map(({ id }) => id);
  }

  async function createRole(
    type: 'USER' | 'MACHINE_TO_MACHINE',
    resource: Resource,
    scopes: readonly string[],
  ) {
    const role = await prisma.role.create({
      data: { id: newId('Role'), name: nextName('Role'), type, setterScopes, ...stamps() },
    });
    const ids = await scopeIds(resource, scopes);
    await prisma.roleScope.createMany({
      data: ids.map((scopeId) => ({ roleId: role.id, scopeId })),
    });
    return role;
  }

  /** @param scopes Names of scopes by resource, and names of organization scopes, which are created if missing. */
  async function createOrganizationRole(
    type: 'USER' | 'MACHINE_TO_MACHINE',
    scopes: {
      resource?: Resource;
      resourceScopes?: readonly string[];
      organizationScopes?: readonly string[];
    },
  ) {
    const role = await prisma.organizationRole.create({
      data: {
        id: newId('OrganizationRole'),
        name: nextName('Organization role'),
        type,
        ...stamps(),
      },
    });
    if (scopes.resource) {
      const ids = await scopeIds(scopes.resource, scopes.resourceScopes ?? []);
      await prisma.organizationRoleResourceScope.createMany({
        data: ids.map((scopeId) => ({ organizationRoleId: role.id, scopeId })),
      });
    }
    for (const name of scopes.organizationScopes ?? []) {
      const scope = await prisma.organizationScope.upsert({
        where: { name },
        create: { id: newId('OrganizationScope'), name, ...stamps() },
        update: {},
      });
      await prisma.organizationRoleScope.create({
        data: { organizationRoleId: role.id, organizationScopeId: scope.id },
      });
    }
    return role;
  }

  return {
    createUser: (values: Partial<Prisma.UserUncheckedCreateInput> = {}): Promise<User> =>
      prisma.user.create({ data: { id: newId('User'), setterScopes, ...stamps(), ...values } }),

    async createClient(
      values: Partial<Prisma.ApplicationUncheckedCreateInput> = {},
      secret: { value?: string; expiresAt?: Date } = {},
    ): Promise<TestClient> {
      const id = newId('Application');
      const type: ApplicationType = 'MACHINE_TO_MACHINE';
      await prisma.application.create({
        data: {
          id,
          name: nextName('Application'),
          type,
          setterScopes,
          ...stamps(),
          ...values,
        },
      });
      return { id, secret: await this.createSecret(id, secret) };
    },

    async createSecret(
      applicationId: string,
      { value = generateSecret(), expiresAt }: { value?: string; expiresAt?: Date } = {},
    ): Promise<string> {
      await prisma.applicationSecret.create({
        data: {
          id: newId('ApplicationSecret'),
          applicationId,
          name: nextName('Secret'),
          digest: digestOf(value),
          expiresAt: expiresAt ?? null,
          setterScopes,
          createdAt: clock.now(),
        },
      });
      return value;
    },

    async createResource(
      scopes: readonly string[],
      values: Partial<Prisma.ResourceUncheckedCreateInput> = {},
    ): Promise<Resource> {
      const id = newId('Resource');
      const indicator = values.indicator ?? `https://${id.replace('_', '-')}.example.com/api`;
      const resource = await prisma.resource.create({
        data: {
          id,
          name: nextName('Resource'),
          indicator,
          canonicalIndicator: canonicalIndicator(indicator),
          ...stamps(),
          ...values,
        },
      });
      await prisma.scope.createMany({
        data: scopes.map((name) => ({ id: newId('Scope'), resourceId: id, name, ...stamps() })),
      });
      return resource;
    },

    /** A role for users, without scopes. */
    createRoleOf: (name: string): Promise<Role> =>
      prisma.role.create({
        data: { id: newId('Role'), name, type: 'USER', setterScopes, ...stamps() },
      }),

    /** Gives scopes of a resource to a role. */
    async addScopes(roleId: string, resource: Resource, scopes: readonly string[]): Promise<void> {
      const ids = await scopeIds(resource, scopes);
      await prisma.roleScope.createMany({ data: ids.map((scopeId) => ({ roleId, scopeId })) });
    },

    /** A session as a sign-in leaves it, without a browser. */
    createSession: (userId: string): Promise<Session> => {
      const now = clock.now();
      return prisma.session.create({
        data: {
          id: newId('Session'),
          userId,
          ip: '192.0.2.1',
          createdAt: now,
          lastActiveAt: now,
          expiresAt: new Date(now.getTime() + 3_600_000),
        },
      });
    },

    /** An authenticator app as its enrolment leaves it, without its secret. */
    createFactor: (
      userId: string,
      values: Partial<Prisma.UserFactorUncheckedCreateInput> = {},
    ): Promise<UserFactor> =>
      prisma.userFactor.create({
        data: { id: newId('UserFactor'), userId, type: 'TOTP', createdAt: clock.now(), ...values },
      }),

    /** An identity as a federated sign-in leaves it. */
    createIdentity: (
      userId: string,
      identityProviderId: string,
      values: Partial<Pick<UserIdentity, 'issuer' | 'subject' | 'email'>> = {},
    ): Promise<UserIdentity> =>
      prisma.userIdentity.create({
        data: {
          id: newId('UserIdentity'),
          userId,
          identityProviderId,
          issuer: 'https://provider.example.com',
          subject: nextName('subject'),
          linkedAt: clock.now(),
          ...values,
        },
      }),

    /** A user's consent to an application. */
    createGrant: (userId: string, applicationId: string): Promise<UserGrant> =>
      prisma.userGrant.create({
        data: { id: newId('UserGrant'), userId, applicationId, createdAt: clock.now() },
      }),

    createOrganization: (): Promise<Organization> =>
      prisma.organization.create({
        data: { id: newId('Organization'), name: nextName('Organization'), ...stamps() },
      }),

    /** Gives a user scopes of a resource through a role. */
    async allowUser(user: User, resource: Resource, scopes: readonly string[]): Promise<void> {
      const role = await createRole('USER', resource, scopes);
      await prisma.userRole.create({ data: { userId: user.id, roleId: role.id, setterScopes } });
    },

    /** Gives an application scopes of a resource through a role. */
    async allowClient(
      client: TestClient,
      resource: Resource,
      scopes: readonly string[],
    ): Promise<void> {
      const role = await createRole('MACHINE_TO_MACHINE', resource, scopes);
      const given = { applicationId: client.id, roleId: role.id, setterScopes };
      await prisma.applicationRole.create({ data: given });
    },

    /** Makes a user a member of an organization, with a role of these scopes. */
    async addMember(
      organization: Organization,
      user: User,
      scopes: Parameters<typeof createOrganizationRole>[1] = {},
    ): Promise<void> {
      const key = { organizationId: organization.id, userId: user.id };
      await prisma.organizationUser.create({ data: { ...key, createdAt: clock.now() } });
      const role = await createOrganizationRole('USER', scopes);
      await prisma.organizationUserRole.create({
        data: { ...key, organizationRoleId: role.id, setterScopes },
      });
    },

    /** Makes an application a member of an organization, with a role of these scopes. */
    async addClient(
      organization: Organization,
      client: TestClient,
      scopes: Parameters<typeof createOrganizationRole>[1] = {},
    ): Promise<void> {
      const key = { organizationId: organization.id, applicationId: client.id };
      await prisma.organizationApplication.create({ data: { ...key, createdAt: clock.now() } });
      const role = await createOrganizationRole('MACHINE_TO_MACHINE', scopes);
      await prisma.organizationApplicationRole.create({
        data: { ...key, organizationRoleId: role.id, setterScopes },
      });
    },
  };
}
