import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConfigurationKind } from '../generated/graphql.ts';
import {
  apply,
  askApply,
  askPlan,
  plan,
  readConfiguration,
} from '../support/operations/configuration.ts';
import { startService } from '../support/service.ts';

const services = [
  await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' }),
  await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' }),
] as const;
const [here, there] = await Promise.all(
  services.map(async (service) => ({
    url: service.url,
    token: await service.managementToken(),
  })),
);
if (!here || !there) throw new Error('There are two services.');
const { prisma } = services[0].app.services.database;

const everyKind: ConfigurationKind[] = [
  'RESOURCE',
  'SCOPE',
  'ROLE',
  'ORGANIZATION_SCOPE',
  'ORGANIZATION_ROLE',
  'APPLICATION',
  'TRUSTED_ISSUER',
  'CROSS_APP_CONNECTION',
  'WEBHOOK',
  'IDENTITY_PROVIDER',
  'MESSAGE_SENDER',
  'SIGN_IN_EXPERIENCE',
];

const letters = fc.constantFrom('a', 'b', 'c', 'd');
const described = { description: fc.option(fc.string({ maxLength: 20 }).filter(isClean)) };
const named = <Values extends object>(values: fc.Arbitrary<Values>, name = letters) =>
  fc
    .uniqueArray(fc.record({ name, values }), { selector: ({ name: one }) => one, maxLength: 3 })
    .map((records) => records.map(({ name: one, values: own }) => ({ name: one, ...own })));

// What no text field takes.
function isClean(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text) && text.trim() === text;
}

// The type of a record cannot change: it follows from the name.
const roleType = ({ name }: { name: string }) => (name < 'c' ? 'USER' : 'MACHINE_TO_MACHINE');
const applicationType = ({ name }: { name: string }) => (name < 'c' ? 'SPA' : 'MACHINE_TO_MACHINE');

const trustedIssuers = named(
  fc.oneof(
    fc.record({
      kind: fc.constant('WORKLOAD'),
      claimRules: fc.tuple(fc.record({ claim: letters, equals: letters })),
      maxLifetimeSeconds: fc.integer({ min: 1, max: 3_600 }),
      requireJti: fc.boolean(),
      issuer: fc.constantFrom('https://ci.example', 'spiffe://mesh.example'),
      jwksUri: fc.constantFrom('http://127.0.0.1:9/jwks', 'http://127.0.0.1:9/keys'),
    }),
    fc.record({
      kind: fc.constant('IDENTITY'),
      claimRules: fc.constant([]),
      maxLifetimeSeconds: fc.integer({ min: 1, max: 300 }),
      requireJti: fc.constant(true),
      issuer: fc.constantFrom('https://ci.example', 'https://id.example'),
      jwksUri: fc.constant('http://127.0.0.1:9/jwks'),
    }),
  ),
);
const crossAppConnections = fc.uniqueArray(
  fc.record({
    issuer: fc.constantFrom('https://a.example', 'https://b.example', 'https://c.example'),
    clientId: letters,
    scopes: fc.subarray(['read', 'write']),
  }),
  { selector: ({ issuer }) => issuer, maxLength: 2 },
);

/** A document whose records name only each other. */
const worlds = fc
  .record({
    resources: named(
      fc.record({
        accessTokenTtlSeconds: fc.integer({ min: 1, max: 10_000 }),
        scopes: named(fc.record(described)),
      }),
    ),
    organizationScopes: named(fc.record(described)),
    roles: named(fc.record({ ...described, isDefault: fc.constant(false) })),
    organizationRoles: named(fc.record(described)),
    applications: named(fc.record({ ...described, trustedIssuers, crossAppConnections })),
    webhooks: named(
      fc.record({
        url: fc.constantFrom('http://127.0.0.1:9/', 'http://127.0.0.1:9/other?a=b'),
        events: fc.subarray(['USER_CREATED', 'ROLE_DELETED', 'POST_SIGN_IN']),
        enabled: fc.boolean(),
        maxInFlight: fc.integer({ min: 1, max: 20 }),
      }),
    ),
    identityProviders: named(
      fc.record({
        kind: fc.constantFrom('SOCIAL', 'ENTERPRISE'),
        issuer: fc.constant('http://127.0.0.1:9'),
        clientId: letters,
        enabled: fc.boolean(),
      }),
    ),
    signInExperience: fc.record({
      signUpEnabled: fc.boolean(),
      passwordPolicy: fc.record({ minLength: fc.integer({ min: 8, max: 64 }) }),
      branding: fc.record({
        productName: letters,
        termsUrl: fc.constantFrom(null, 'https://a.example/'),
      }),
    }),
    pick: fc.infiniteStream(fc.boolean()),
  })
  .map(({ pick, ...world }) => {
    const some = <T>(items: readonly T[]): T[] => items.filter(() => pick.next().value);
    const indicatorOf = (name: string) => `https://${name}.example`;
    const scopesOf = () =>
      Object.fromEntries(
        world.resources.flatMap(({ name, scopes }) => {
          const names = some(scopes.map((scope) => scope.name));
          return names.length > 0 ? [[indicatorOf(name), names]] : [];
        }),
      );
    return {
      ...world,
      resources: world.resources.map((one) => ({ ...one, indicator: indicatorOf(one.name) })),
      roles: world.roles.map((role) => ({ ...role, type: roleType(role), scopes: scopesOf() })),
      applications: world.applications.map(
        ({ trustedIssuers: trusted, crossAppConnections: connected, ...one }) => {
          const type = applicationType(one);
          // Only what authenticates trusts others, and is trusted by them.
          const trust = { trustedIssuers: trusted, crossAppConnections: connected };
          return { ...one, type, ...(type === 'SPA' ? {} : trust) };
        },
      ),
      organizationRoles: world.organizationRoles.map((role) => ({
        ...role,
        type: roleType(role),
        scopes: some(world.organizationScopes.map(({ name }) => name)),
        resourceScopes: scopesOf(),
      })),
    };
  });

const counted = () => prisma.event.count();

test('an export makes any service the same, and changes nothing where it is', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, worlds, async (one, other) => {
      const prune = { prune: everyKind };
      await apply(here, one, prune);
      await apply(there, other, prune);
      const { document, digest } = await readConfiguration(here);
      const events = await counted();
      expect(await apply(here, document, prune)).toMatchObject({ changes: [], events: [], digest });
      expect(await counted()).toBe(events);

      const planned = await plan(there, document, prune);
      const applied = await apply(there, document, prune);
      expect(applied).toEqual(planned);
      expect((await readConfiguration(there)).document).toBe(document);
    }),
    { numRuns: 8 },
  );
});

test('a fault anywhere changes nothing', async () => {
  await apply(here, {}, { prune: everyKind });
  const faults = fc.constantFrom<object>(
    { resources: [{ indicator: 'none', name: 'x' }] },
    { roles: [{ name: 'fault', scopes: { 'https://none.example': ['x'] } }] },
    { organizationRoles: [{ name: 'fault', type: 'GOD' }] },
    { applications: [{ name: 'fault' }] },
    {
      applications: [
        {
          name: 'fault',
          type: 'MACHINE_TO_MACHINE',
          trustedIssuers: [
            {
              name: 'x',
              kind: 'WORKLOAD',
              issuer: 'https://x.example',
              jwksUri: 'http://127.0.0.1:9/',
            },
          ],
        },
      ],
    },
    { webhooks: [{ name: 'fault', url: 'nowhere' }] },
    { identityProviders: [{ name: 'fault', kind: 'SOCIAL', issuer: 'nowhere', clientId: 'x' }] },
    { messageSenders: { email: { smtp: { host: '127.0.0.1' } } } },
    { signInExperience: { passwordPolicy: { minLength: 1 } } },
  );
  await fc.assert(
    fc.asyncProperty(worlds, faults, async (world, fault) => {
      const { digest } = await readConfiguration(here);
      const events = await counted();
      const [[section, faulty]] = Object.entries(fault) as [[keyof typeof world, unknown]];
      const whole = world[section];
      const document = {
        ...world,
        [section]: Array.isArray(whole) ? [...whole, ...(faulty as unknown[])] : faulty,
      };
      for (const answer of [await askPlan(here, document), await askApply(here, document)]) {
        expect(answer).toMatchObject({ __typename: 'InvalidInputError' });
      }
      expect((await readConfiguration(here)).digest).toBe(digest);
      expect(await counted()).toBe(events);
    }),
    { numRuns: 8 },
  );
});
