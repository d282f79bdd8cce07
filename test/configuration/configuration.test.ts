import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { ConfigurationKind } from '../generated/graphql.ts';
import {
  apply,
  askApply,
  askPlan,
  expectFaultsAt,
  plan,
  readConfiguration,
} from '../support/operations/configuration.ts';
import { createFingerprint } from '../support/operations/fingerprint.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const { prisma } = service.app.services.database;
const admin = { url: service.url, token: await service.managementToken() };
const fingerprint = await createFingerprint(prisma);

let count = 0;
const name = (what: string) => {
  count += 1;
  return `${what}-${count}`;
};

/** A trusted issuer, as a document has it in its application. */
const trusted = {
  name: 'Pipelines',
  kind: 'WORKLOAD',
  issuer: 'https://ci.example.com',
  jwksUri: 'http://127.0.0.1:9/jwks',
  claimRules: [
    { claim: 'repository', equals: 'acme/shop' },
    { claim: 'ref', equals: 'refs/heads/main' },
  ],
};

/** A document with one record of each kind, each naming others. */
function everything() {
  const [api, role, orgRole, orgScope] = [name('api'), name('role'), name('in'), name('may')];
  const indicator = `https://${api}.example.com`;
  return {
    resources: [
      {
        indicator,
        name: api,
        accessTokenTtlSeconds: 600,
        signingAlg: 'ES384',
        scopes: [{ name: 'read', description: 'Reads.' }, { name: 'write' }],
      },
    ],
    roles: [{ name: role, type: 'MACHINE_TO_MACHINE', scopes: { [indicator]: ['read', 'write'] } }],
    organizationScopes: [{ name: orgScope }],
    organizationRoles: [
      { name: orgRole, scopes: [orgScope], resourceScopes: { [indicator]: ['read'] } },
    ],
    applications: [
      {
        name: name('service'),
        type: 'MACHINE_TO_MACHINE',
        allowTokenExchange: true,
        roles: [role],
        trustedIssuers: [trusted],
        crossAppConnections: [
          { issuer: 'https://id.example.com', clientId: 'service', scopes: ['write', 'read'] },
        ],
      },
      { name: name('web'), type: 'SPA', redirectUris: ['https://app.example.com/callback'] },
    ],
    webhooks: [
      {
        name: name('hook'),
        url: 'http://127.0.0.1:9/',
        events: ['USER_DELETED', 'USER_CREATED'],
        headers: { 'X-Key': 'hidden-header' },
        enabled: false,
      },
    ],
    identityProviders: [
      {
        name: name('provider'),
        kind: 'SOCIAL',
        issuer: 'http://127.0.0.1:9',
        clientId: 'signet',
        clientSecret: 'hidden-client-secret',
      },
    ],
    messageSenders: {
      email: {
        smtp: {
          host: '127.0.0.1',
          port: 2525,
          username: 'signet',
          password: 'hidden-password',
          from: 'a@example.com',
        },
      },
    },
    signInExperience: { branding: { productName: 'Acme' }, passwordPolicy: { minLength: 12 } },
  };
}

test('makes all of a document with its events, and a second time nothing', async () => {
  const document = everything();
  const planned = await plan(admin, document);
  const before = await readConfiguration(admin);
  expect(planned.digest).toBe(before.digest);
  expect(planned.changes.map(({ action, kind }) => `${action} ${kind}`)).toEqual([
    'CREATE RESOURCE',
    'CREATE SCOPE',
    'CREATE SCOPE',
    'CREATE ROLE',
    'CREATE ORGANIZATION_SCOPE',
    'CREATE ORGANIZATION_ROLE',
    'CREATE APPLICATION',
    'CREATE APPLICATION',
    'CREATE TRUSTED_ISSUER',
    'CREATE CROSS_APP_CONNECTION',
    'CREATE WEBHOOK',
    'CREATE IDENTITY_PROVIDER',
    'CREATE MESSAGE_SENDER',
    'UPDATE SIGN_IN_EXPERIENCE',
  ]);
  const applied = await apply(admin, document, { expectedDigest: planned.digest });
  expect(applied).toEqual(planned);
  expect(applied.events.map(({ type }) => type)).toEqual(
    expect.arrayContaining([
      'Resource.Created',
      'Role.Created',
      'Application.Roles.Updated',
      'TrustedIssuer.Created',
      'CrossAppConnection.Created',
    ]),
  );
  expect(JSON.stringify([planned, applied])).not.toContain('hidden');

  const print = await fingerprint();
  expect(await apply(admin, document)).toMatchObject({ changes: [], events: [], warnings: [] });
  expect(await fingerprint()).toEqual(print);
});

test('exports a document without secrets that changes nothing', async () => {
  await apply(admin, everything());
  const { document, digest } = await readConfiguration(admin);
  expect(document.startsWith('signet: 1\n')).toBe(true);
  expect(document).not.toContain('hidden');
  const parsed = parse(document);
  expect(parsed.identityProviders[0].clientSecret).toEqual({
    env: expect.stringMatching(/^PROVIDER_\d+_CLIENT_SECRET$/),
  });
  expect(parsed.messageSenders.email.smtp.password).toEqual({ env: 'EMAIL_PASSWORD' });
  const print = await fingerprint();
  const kinds: ConfigurationKind[] = [
    'RESOURCE',
    'SCOPE',
    'ROLE',
    'APPLICATION',
    'TRUSTED_ISSUER',
    'CROSS_APP_CONNECTION',
    'ORGANIZATION_ROLE',
    'ORGANIZATION_SCOPE',
    'WEBHOOK',
    'IDENTITY_PROVIDER',
    'MESSAGE_SENDER',
    'SIGN_IN_EXPERIENCE',
  ];
  expect(await apply(admin, document, { prune: kinds })).toMatchObject({ changes: [], digest });
  expect(await fingerprint()).toEqual(print);
});

test('an export makes an empty service the same', async () => {
  const { identityProviders, messageSenders, webhooks, ...rest } = everything();
  await apply(admin, { ...rest, identityProviders });
  await apply(
    admin,
    { messageSenders: {}, webhooks: [] },
    { prune: ['WEBHOOK', 'MESSAGE_SENDER'] },
  );
  const { document } = await readConfiguration(admin);
  const other = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
  const there = { url: other.url, token: await other.managementToken() };
  const { warnings } = await apply(there, document);
  expect(warnings[0]?.message).toMatch(/^The identity provider .* has no client secret: /);
  expect((await readConfiguration(there)).document).toBe(document);
  expect(await apply(there, document)).toMatchObject({ changes: [], events: [] });
});

test('changes what differs, tells both values, and keeps what is left out', async () => {
  const document = everything();
  const [api] = document.resources;
  await apply(admin, document);
  const changed = await apply(admin, {
    resources: [
      { indicator: api?.indicator, accessTokenTtlSeconds: 900, scopes: [{ name: 'read' }] },
    ],
    roles: [{ name: document.roles[0]?.name, scopes: { [api?.indicator ?? '']: ['read'] } }],
    identityProviders: [
      { name: document.identityProviders[0]?.name, clientSecret: 'hidden-and-new' },
    ],
  });
  expect(changed.changes).toEqual([
    {
      action: 'UPDATE',
      kind: 'RESOURCE',
      key: api?.indicator,
      fields: [{ path: ['accessTokenTtlSeconds'], before: 600, after: 900 }],
    },
    {
      action: 'UPDATE',
      kind: 'ROLE',
      key: document.roles[0]?.name,
      fields: [{ path: ['scopes', api?.indicator], before: ['read', 'write'], after: ['read'] }],
    },
    {
      action: 'UPDATE',
      kind: 'IDENTITY_PROVIDER',
      key: document.identityProviders[0]?.name,
      fields: [{ path: ['clientSecret'], before: '(secret)', after: '(another secret)' }],
    },
  ]);
  expect(changed.events.map(({ type }) => type)).toEqual([
    'Resource.Data.Updated',
    'Role.Scopes.Updated',
    'IdentityProvider.Data.Updated',
  ]);
});

test('prunes the kinds that are named, and nothing of its own', async () => {
  const document = everything();
  await apply(admin, document);
  const kept = document.applications.slice(0, 1);
  const { changes } = await apply(
    admin,
    { resources: document.resources, applications: kept, roles: document.roles },
    { prune: ['APPLICATION', 'ROLE'] },
  );
  expect(changes.every(({ action }) => action === 'DELETE')).toBe(true);
  expect(changes.map(({ key }) => key)).toContain(document.applications[1]?.name);
  const names = await prisma.role.findMany({ select: { name: true }, orderBy: { name: 'asc' } });
  expect(names.map(({ name: one }) => one)).toEqual([
    'Administrator',
    'Signet administrator',
    'Viewer',
    document.roles[0]?.name,
  ]);
  // The caller's own application is Signet's, and still works.
  const { changes: more } = await plan(admin, {}, { prune: ['RESOURCE'] });
  expect(more).toContainEqual(expect.objectContaining({ action: 'DELETE', kind: 'RESOURCE' }));
});

test('two records of one name need an id, here and on another service', async () => {
  const twin = name('twin');
  const hook = { name: twin, url: 'http://127.0.0.1:9/', enabled: false };
  await apply(admin, { webhooks: [hook] });
  await prisma.webhook.updateMany({ where: { name: twin }, data: { name: `${twin}-old` } });
  await apply(admin, { webhooks: [hook] });
  await prisma.webhook.updateMany({ where: { name: `${twin}-old` }, data: { name: twin } });
  const ambiguous = await askPlan(admin, { webhooks: [{ name: twin, maxInFlight: 3 }] });
  expectFaultsAt(ambiguous, ['webhooks.0.name']);

  const exported = parse((await readConfiguration(admin)).document);
  const twins = exported.webhooks.filter((webhook: { name: string }) => webhook.name === twin);
  expect(twins.map(({ id }: { id: string }) => id)).toEqual([
    expect.stringMatching(/^hook_/),
    expect.stringMatching(/^hook_/),
  ]);
  const [first] = twins;
  const { changes } = await apply(admin, { webhooks: [{ ...first, name: `${twin}-renamed` }] });
  expect(changes[0]?.fields).toEqual([{ path: ['name'], before: twin, after: `${twin}-renamed` }]);
  const foreign = ['hook_01h455vb4pex5vsknk084sn02q', 'hook_01h455vb4pex5vsknk084sn02r'];
  const others = foreign.map((id) => ({ ...hook, id, name: name('foreign') }));
  expect((await apply(admin, { webhooks: others })).changes).toHaveLength(2);
  expect((await apply(admin, { webhooks: others })).changes).toEqual([]);
});

test('whom an application trusts changes and goes with it, and stays with a namesake', async () => {
  const twin = name('twin');
  const one = { name: twin, type: 'MACHINE_TO_MACHINE', trustedIssuers: [trusted] };
  const connection = { issuer: 'https://id.example.com', clientId: 'a' };
  await apply(admin, { applications: [one] });
  const first = await prisma.application.findFirstOrThrow({ where: { name: twin } });
  await prisma.application.update({ where: { id: first.id }, data: { name: `${twin}-old` } });
  await apply(admin, { applications: [{ ...one, crossAppConnections: [connection] }] });
  const second = await prisma.application.findFirstOrThrow({ where: { name: twin } });
  await prisma.application.update({ where: { id: first.id }, data: { name: twin } });

  // Each of the two has an issuer of the same name: what stands in one is its own.
  const { document, digest } = await readConfiguration(admin);
  expect(await apply(admin, document)).toMatchObject({ changes: [], events: [], digest });
  const exported = parse(document).applications as (typeof one & { id: string })[];
  const twins = exported.filter((application) => application.name === twin);
  expect(twins.map(({ id }) => id)).toEqual([first.id, second.id]);
  const changed = twins.map((application) =>
    application.id === first.id
      ? application
      : {
          ...application,
          trustedIssuers: [{ name: trusted.name, claimRules: [{ claim: 'sub', equals: 'a' }] }],
          crossAppConnections: [{ ...connection, clientId: 'b' }],
        },
  );
  const { changes, events } = await apply(admin, { applications: changed });
  expect(changes).toEqual([
    {
      action: 'UPDATE',
      kind: 'TRUSTED_ISSUER',
      key: `${twin} ${trusted.name}`,
      fields: [
        {
          path: ['claimRules'],
          before: trusted.claimRules,
          after: [{ claim: 'sub', equals: 'a' }],
        },
      ],
    },
    {
      action: 'UPDATE',
      kind: 'CROSS_APP_CONNECTION',
      key: `${twin} ${connection.issuer}`,
      fields: [{ path: ['clientId'], before: 'a', after: 'b' }],
    },
  ]);
  expect(events.map(({ type }) => type)).toEqual([
    'TrustedIssuer.Data.Updated',
    'CrossAppConnection.Data.Updated',
  ]);
  expect(await prisma.trustedIssuer.findMany({ where: { applicationId: first.id } })).toMatchObject(
    [{ claimRules: trusted.claimRules }],
  );

  // The application of the first is named once, without its issuer; the second is not named at all.
  const kept = parse((await readConfiguration(admin)).document);
  const { trustedIssuers: _left, ...bare } = twins[0] ?? one;
  kept.applications = kept.applications.flatMap((application: { id?: string }) =>
    application.id === first.id ? [bare] : application.id === second.id ? [] : [application],
  );
  const pruned = await apply(admin, JSON.stringify(kept), {
    prune: ['APPLICATION', 'TRUSTED_ISSUER', 'CROSS_APP_CONNECTION'],
  });
  expect(pruned.changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`)).toEqual([
    `DELETE APPLICATION ${twin}`,
    `DELETE TRUSTED_ISSUER ${twin} ${trusted.name}`,
    `DELETE TRUSTED_ISSUER ${twin} ${trusted.name}`,
    `DELETE CROSS_APP_CONNECTION ${twin} ${connection.issuer}`,
  ]);
  expect(pruned.events.map(({ type }) => type).toSorted()).toEqual([
    'Application.Deleted',
    'Application.Secrets.Updated',
    'CrossAppConnection.Deleted',
    'TrustedIssuer.Deleted',
    'TrustedIssuer.Deleted',
  ]);
  expect(await prisma.application.findUnique({ where: { id: first.id } })).not.toBeNull();
});

describe('a fault', () => {
  let print: unknown;
  beforeAll(async () => {
    print = await fingerprint();
  });

  test.each<[string, string | object, string[]]>([
    ['that is no YAML', 'signet: [', ['document']],
    ['of a list', '- 1', ['document', 'signet']],
    ['of a bomb', `a: &a [1]\n${'b: *a\n'.repeat(2)}`, ['document']],
    ['of a missing version', '{}', ['signet']],
    ['of another version', 'signet: 2', ['signet']],
    ['of an unknown section', { users: [] }, ['users']],
    ['of an unknown field', { roles: [{ name: 'x', colour: 1 }] }, ['roles.0.colour']],
    ['of a record without a name', { roles: [{ type: 'USER' }] }, ['roles.0.name']],
    ['of a list that is none', { roles: { name: 'x' } }, ['roles']],
    ['of a name twice', { roles: [{ name: 'x' }, { name: 'x' }] }, ['roles.1.name']],
    [
      'of an unknown scope',
      { roles: [{ name: 'x', scopes: { 'https://none.example': ['read'] } }] },
      ['roles.0.scopes.https://none.example'],
    ],
    [
      'of a type',
      { resources: [{ indicator: 'https://x.example', name: 5 }] },
      ['resources.0.name'],
    ],
    ['of a value', { webhooks: [{ name: 'x', url: 'nowhere' }] }, ['webhooks.0.url']],
    ['of a missing value', { webhooks: [{ name: 'x' }] }, ['webhooks.0.url']],
    ['of an enum', { roles: [{ name: 'x', type: 'GOD' }] }, ['roles.0.type']],
    [
      'of several records',
      {
        resources: [{ indicator: 'none', name: 'x', scopes: [{ name: 'a' }] }],
        roles: [{ name: '' }, { name: 'long', description: 'x'.repeat(10_000) }],
      },
      ['roles.0.name'],
    ],
    [
      'of several operations',
      {
        resources: [{ indicator: 'none', name: 'x', scopes: [{ name: 'a' }] }],
        roles: [{ name: 'long', description: 'x'.repeat(10_000) }],
      },
      ['resources.0.indicator', 'roles.0.description'],
    ],
    [
      'of a header without a value',
      {
        webhooks: [{ name: 'x', url: 'http://127.0.0.1:9/', headers: { 'X-Key': { env: 'KEY' } } }],
      },
      ['webhooks.0.headers.X-Key'],
    ],
    [
      'of a password without a value',
      { messageSenders: { sms: { http: { url: 'http://127.0.0.1:9/', secret: { env: 'S' } } } } },
      ['messageSenders.sms.http.secret'],
    ],
    [
      'of a part',
      {
        applications: [
          {
            name: 'x',
            type: 'MACHINE_TO_MACHINE',
            trustedIssuers: [{ ...trusted, claimRules: [{ claim: 'iss', equals: 'x' }] }],
            crossAppConnections: [{ issuer: 'https://id.example.com' }, { clientId: 'x' }],
          },
        ],
      },
      ['applications.0.crossAppConnections.1.issuer'],
    ],
    [
      'of the operation of a part',
      {
        applications: [
          {
            name: 'x',
            type: 'MACHINE_TO_MACHINE',
            trustedIssuers: [{ ...trusted, claimRules: [{ claim: 'iss', equals: 'x' }] }],
            crossAppConnections: [{ issuer: 'nowhere', clientId: 'x' }],
          },
        ],
      },
      ['applications.0.trustedIssuers.0.claimRules', 'applications.0.crossAppConnections.0.issuer'],
    ],
    [
      'of a part twice',
      {
        applications: [{ name: 'x', type: 'SPA', trustedIssuers: [trusted, trusted] }],
      },
      ['applications.0.trustedIssuers.1.name'],
    ],
    [
      'of a group',
      { signInExperience: { passwordPolicy: { minLength: 1 } } },
      ['signInExperience.passwordPolicy.minLength'],
    ],
    [
      'of a thousand changes and one',
      { organizationScopes: Array.from({ length: 1_001 }, () => ({ name: name('one-of-many') })) },
      ['document'],
    ],
    ['of an unknown setting', { signInExperience: { nothing: 1 } }, ['signInExperience.nothing']],
  ])('%s has its path', async (_what, document, paths) => {
    for (const answer of [await askPlan(admin, document), await askApply(admin, document)]) {
      expectFaultsAt(answer, paths);
    }
  });

  test('undoes what came before it; none of them has changed anything', async () => {
    const { resources } = everything();
    const answer = await askApply(admin, {
      resources,
      signInExperience: { sessionPolicy: { idleSeconds: -1 } },
    });
    expectFaultsAt(answer, ['signInExperience.sessionPolicy.idleSeconds']);
    expect(await fingerprint()).toEqual(print);
  });
});

test('a stored secret goes to no other place', async () => {
  const document = everything();
  await apply(admin, document);
  const [hook] = document.webhooks;
  const headers = { 'X-Key': { env: 'KEY' } };
  expectFaultsAt(
    await askApply(admin, {
      webhooks: [{ name: hook?.name, url: 'http://127.0.0.2:9/', headers }],
    }),
    ['webhooks.0.headers.X-Key'],
  );
  expectFaultsAt(
    await askApply(admin, {
      messageSenders: { email: { smtp: { host: '127.0.0.2', password: { env: 'PASSWORD' } } } },
    }),
    ['messageSenders.email.smtp.password'],
  );
  const { clientId, ...provider } = document.identityProviders[0] ?? {};
  expectFaultsAt(
    await askApply(admin, {
      identityProviders: [
        { ...provider, issuer: 'http://127.0.0.2:9', clientSecret: { env: 'S' } },
      ],
    }),
    ['identityProviders.0.clientSecret'],
  );
  // At the same place they stay.
  const { changes } = await apply(admin, {
    webhooks: [{ name: hook?.name, headers: { ...headers, 'X-Other': 'hidden-too' } }],
    messageSenders: { email: { smtp: { from: 'b@example.com', password: { env: 'PASSWORD' } } } },
  });
  expect(changes.flatMap(({ fields }) => fields)).toEqual([
    { path: ['headers', 'X-Other'], before: null, after: '(secret)' },
    { path: ['smtp', 'from'], before: 'a@example.com', after: 'b@example.com' },
  ]);
});

describe('the digest', () => {
  test('that was planned with refuses another state', async () => {
    const document = everything();
    const { digest } = await plan(admin, document);
    await apply(admin, { organizationScopes: [{ name: name('meanwhile') }] });
    const print = await fingerprint();
    const answer = await askApply(admin, document, { expectedDigest: digest });
    expect(answer).toMatchObject({
      __typename: 'ConfigurationMovedError',
      code: 'VERSION_CONFLICT',
      currentDigest: (await readConfiguration(admin)).digest,
    });
    expect(await fingerprint()).toEqual(print);
  });

  test('moves with a secret alone', async () => {
    const document = everything();
    await apply(admin, document);
    const { digest } = await readConfiguration(admin);
    const [provider] = document.identityProviders;
    await apply(admin, {
      identityProviders: [{ name: provider?.name, clientSecret: 'hidden-new' }],
    });
    expect((await readConfiguration(admin)).digest).not.toBe(digest);
  });

  test('lets one of many win', async () => {
    const { digest } = await readConfiguration(admin);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => askApply(admin, everything(), { expectedDigest: digest })),
    );
    const names = answers.map(({ __typename }) => __typename).sort();
    expect(names).toEqual([
      'ApplyConfigurationPayload',
      ...Array.from({ length: 5 }, () => 'ConfigurationMovedError'),
    ]);
  });
});

describe('a caller', () => {
  const reads = [
    ...['resources:read', 'roles:read', 'organizations:read', 'applications:read'],
    ...['webhooks:read', 'experience:read'],
  ];
  const as = async (...scopes: string[]) => ({
    url: service.url,
    token: await service.managementToken(scopes.join(' ')),
  });

  test.each(reads)('without %s reads nothing', async (missing) => {
    const caller = await as(...reads.filter((scope) => scope !== missing));
    await expect(readConfiguration(caller)).rejects.toThrow(missing);
    await expect(plan(caller, {})).rejects.toThrow(missing);
  });

  test('who may only read plans no change, and applies none', async () => {
    const viewer = await as(...reads);
    const { document } = await readConfiguration(viewer);
    expect((await plan(viewer, document)).changes).toEqual([]);
    const print = await fingerprint();
    const { resources, roles } = everything();
    await expect(plan(viewer, { resources, roles })).rejects.toThrow('resources:write');
    await expect(apply(viewer, { resources, roles })).rejects.toThrow('resources:write');
    expect(await fingerprint()).toEqual(print);
  });

  test('who may only read cannot try secrets', async () => {
    const document = everything();
    await apply(admin, document);
    const viewer = await as(...reads);
    const [[hook], [provider], { email }] = [
      document.webhooks,
      document.identityProviders,
      document.messageSenders,
    ];
    const trying = (secret: string | undefined) => [
      { webhooks: [{ name: hook?.name, headers: { 'X-Key': secret ?? 'hidden-header' } }] },
      {
        identityProviders: [
          { name: provider?.name, clientSecret: secret ?? provider?.clientSecret },
        ],
      },
      {
        messageSenders: {
          email: { smtp: { ...email.smtp, password: secret ?? email.smtp.password } },
        },
      },
    ];
    for (const tried of [...trying(undefined), ...trying('a guess')]) {
      const scope = 'webhooks' in tried ? 'webhooks:write' : 'experience:write';
      await expect(plan(viewer, tried)).rejects.toThrow(scope);
    }
    expect((await plan(admin, document)).changes).toEqual([]);
  });

  test('gives no rights that it lacks', async () => {
    const writer = await as(...reads, 'roles:write', 'applications:write');
    const print = await fingerprint();
    const mighty = {
      roles: [
        {
          name: name('mighty'),
          type: 'MACHINE_TO_MACHINE',
          scopes: { 'urn:signet:management': ['all'] },
        },
      ],
    };
    for (const answer of [await askPlan(writer, mighty), await askApply(writer, mighty)]) {
      expect(answer).toMatchObject({ __typename: 'NotAllowedError' });
    }
    expect(await fingerprint()).toEqual(print);
  });
});
