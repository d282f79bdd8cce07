import { generateKeyPair, generateProof } from 'dpop';
import { describe, expect, test } from 'vitest';
import { seedDirectory, type TestClient } from '../../support/operations/directory.ts';
import { ask as askGraphQL, graphql, send } from '../../support/operations/graphql.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { callRest } from '../../support/operations/rest.ts';
import { startService } from '../../support/service.ts';
import { exchange, type TokenAnswer, userToken } from '../../support/tokens.ts';

const service = await startService();
const { database } = service.app.services;
const { prisma } = database;
const directory = seedDirectory(database, service.clock);
const token = await service.managementToken();
const { done } = createMaker(overGraphQL(service, token));

const Explain = graphql(`
  query ExplainExchange(
    $applicationId: ID!, $userId: ID!, $resource: String!, $scopes: [String!], $organizationId: ID,
    $subjectTokenType: SubjectTokenType, $subjectAudience: String, $subjectOrganizationId: ID,
    $isSubjectBound: Boolean, $provenKey: ProvenKey, $actorId: ID, $actorClientId: ID, $isActorBound: Boolean,
    $mayActSub: ID, $mayActClientId: ID, $subjectClientId: ID
  ) {
    explainTokenExchange(
      applicationId: $applicationId, userId: $userId, resource: $resource, scopes: $scopes,
      organizationId: $organizationId, subjectTokenType: $subjectTokenType, subjectAudience: $subjectAudience,
      subjectOrganizationId: $subjectOrganizationId, isSubjectBound: $isSubjectBound, provenKey: $provenKey,
      actorId: $actorId, actorClientId: $actorClientId, isActorBound: $isActorBound,
      mayActSub: $mayActSub, mayActClientId: $mayActClientId, subjectClientId: $subjectClientId
    ) {
      isGranted error errorDescription scope expiresIn
      rules { rule isMet error errorDescription }
      scopes { name outcome sources { counts role { id name } organizationRole { id } organization { id } } }
    }
  }
`);

const orders = await directory.createResource(['read', 'write', 'refund', 'close'], {
  accessTokenTtlSeconds: 600,
});
const management = await prisma.resource.findUniqueOrThrow({
  where: { indicator: 'urn:signet:management' },
});
const frontend = await directory.createClient({ type: 'SPA' });
const backend = await directory.createClient({ allowTokenExchange: true });
const off = await directory.createClient();
const narrow = await directory.createClient({
  allowTokenExchange: true,
  exchangeSubjectAudiences: ['https://gateway.example.com/api'],
  exchangeResources: ['https://other.example.com'],
});
const user = await directory.createUser();
await directory.allowUser(user, orders, ['read']);
const [berlin, paris] = [
  await directory.createOrganization(),
  await directory.createOrganization(),
];
await directory.addMember(berlin, user, {
  resource: orders,
  resourceScopes: ['write'],
  organizationScopes: ['bill'],
});
await directory.addMember(paris, user, {
  resource: orders,
  resourceScopes: ['refund'],
  organizationScopes: ['invite'],
});
const suspended = await directory.createUser({ isSuspended: true });

type Question = {
  applicationId?: string;
  userId?: string;
  resource?: string;
  scopes?: string[];
  organizationId?: string;
  subjectTokenType?:
    | 'ACCESS_TOKEN'
    | 'ASSERTED_ACCESS_TOKEN'
    | 'SUBJECT_TOKEN'
    | 'PERSONAL_ACCESS_TOKEN';
  subjectAudience?: string;
  subjectOrganizationId?: string;
  isSubjectBound?: boolean;
  provenKey?: 'NONE' | 'SUBJECT_KEY' | 'ACTOR_KEY' | 'OTHER_KEY';
  actorId?: string;
  actorClientId?: string;
  isActorBound?: boolean;
  mayActSub?: string;
  mayActClientId?: string;
  subjectClientId?: string;
};
const explain = async (question: Question = {}) =>
  (
    await askGraphQL({ url: service.url, token }, Explain, {
      applicationId: backend.id,
      userId: user.id,
      resource: orders.indicator,
      ...question,
    })
  ).explainTokenExchange;
const brokenIn = async (question: Question) =>
  (await explain(question)).rules.filter(({ isMet }) => isMet === false).map(({ rule }) => rule);

test('names each scope, and the roles behind it', async () => {
  const { isGranted, scope, expiresIn, scopes, rules } = await explain({
    organizationId: berlin.id,
  });
  expect(rules.every(({ isMet }) => isMet)).toBe(true);
  expect({ isGranted, scope, expiresIn }).toEqual({
    isGranted: true,
    scope: 'read write',
    expiresIn: 600,
  });
  expect(scopes).toEqual([
    { name: 'close', outcome: 'NOT_HELD', sources: [] },
    {
      name: 'read',
      outcome: 'GRANTED',
      sources: [
        { counts: true, role: expect.any(Object), organizationRole: null, organization: null },
      ],
    },
    {
      name: 'refund',
      outcome: 'HELD_ELSEWHERE',
      sources: [
        {
          counts: false,
          role: null,
          organizationRole: { id: expect.stringMatching(/^orgrole_/) },
          organization: { id: paris.id },
        },
      ],
    },
    {
      name: 'write',
      outcome: 'GRANTED',
      sources: [
        expect.objectContaining({ counts: true, organization: { id: berlin.id }, role: null }),
      ],
    },
  ]);
});

test('keeps to the scopes that it is asked about', async () => {
  const { scope, scopes } = await explain({ scopes: ['write', 'nothing', 'read'] });
  expect(scope).toBe('write read');
  expect(scopes.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['write', 'GRANTED'],
    ['nothing', 'UNKNOWN'],
    ['read', 'GRANTED'],
  ]);
});

test("explains an organization's own token", async () => {
  const { scope, expiresIn, scopes } = await explain({
    resource: `urn:signet:organization:${berlin.id}`,
  });
  expect({ scope, expiresIn }).toEqual({ scope: 'bill', expiresIn: 3600 });
  expect(scopes.map(({ name, outcome }) => [name, outcome])).toEqual([
    ['bill', 'GRANTED'],
    ['invite', 'HELD_ELSEWHERE'],
  ]);
});

test('names few of many roles, those that count first', async () => {
  const busy = await directory.createUser();
  for (let i = 0; i < 25; i += 1) {
    const organization = i === 24 ? berlin : await directory.createOrganization();
    await directory.addMember(organization, busy, { resource: orders, resourceScopes: ['read'] });
  }
  const { scopes } = await explain({
    userId: busy.id,
    scopes: ['read'],
    organizationId: berlin.id,
  });
  expect(scopes[0]?.sources).toHaveLength(20);
  expect(scopes[0]?.sources[0]).toMatchObject({ counts: true, organization: { id: berlin.id } });
});

describe('each rule', () => {
  test.each<[string, Question, string[]]>([
    [
      'a stranger for an application',
      { applicationId: 'app_01h455vb4pex5vsknk084sn02q' },
      ['APPLICATION_SECRET', 'EXCHANGE_ALLOWED'],
    ],
    ['an exchange that is off', { applicationId: off.id }, ['EXCHANGE_ALLOWED']],
    ['an application without a server', { applicationId: frontend.id }, ['EXCHANGE_ALLOWED']],
    [
      'impersonation that is off',
      { subjectTokenType: 'SUBJECT_TOKEN' },
      ['SUBJECT_TOKEN_TYPE_ALLOWED'],
    ],
    [
      'personal tokens that are off',
      { subjectTokenType: 'PERSONAL_ACCESS_TOKEN' },
      ['SUBJECT_TOKEN_TYPE_ALLOWED'],
    ],
    ['a suspended user', { userId: suspended.id }, ['USER_ACTIVE']],
    ['no user', { userId: 'a\0b' }, ['USER_ACTIVE']],
    ['no resource', { resource: 'https://unknown.example.com' }, ['RESOURCE']],
    ['no URI', { resource: 'orders' }, ['RESOURCE']],
    [
      'an organization of others',
      { organizationId: 'org_01h455vb4pex5vsknk084sn02q' },
      ['ORGANIZATION'],
    ],
    [
      "another organization than the subject token's",
      { organizationId: berlin.id, subjectOrganizationId: paris.id },
      ['ORGANIZATION'],
    ],
    ['a resource beside the list', { applicationId: narrow.id }, ['RESOURCE_ALLOWED']],
    ["Signet's own API", { resource: 'urn:signet:management' }, ['RESOURCE_ALLOWED']],
    [
      "Signet's own API for an agent",
      { resource: 'urn:signet:management', subjectTokenType: 'SUBJECT_TOKEN' },
      ['SUBJECT_TOKEN_TYPE_ALLOWED', 'RESOURCE_ALLOWED', 'RESOURCE_REACHED'],
    ],
    [
      "Signet's own API for a token that came by an assertion",
      { resource: 'urn:signet:management', subjectTokenType: 'ASSERTED_ACCESS_TOKEN' },
      ['RESOURCE_ALLOWED', 'RESOURCE_REACHED'],
    ],
    [
      'an audience beside the list',
      { applicationId: narrow.id, subjectAudience: 'https://x.example.com' },
      ['SUBJECT_AUDIENCE', 'RESOURCE_ALLOWED'],
    ],
    [
      'another key than the bound token’s',
      { isSubjectBound: true, provenKey: 'OTHER_KEY' },
      ['SUBJECT_KEY_PROVEN'],
    ],
    [
      'no key for a bound token',
      { isSubjectBound: true, provenKey: 'NONE' },
      ['SUBJECT_KEY_PROVEN', 'BINDING_KEPT'],
    ],
    ['two words for a scope', { scopes: ['read', 'a b'] }, ['SCOPE_GRAMMAR']],
    ['a scope with a quote', { scopes: ['"'] }, ['SCOPE_GRAMMAR']],
  ])('reports %s', async (_what, question, broken) => {
    expect(await brokenIn(question)).toEqual(broken);
    expect((await explain(question)).isGranted).toBe(false);
  });

  test('knows who may change the key of a token, and that nobody may take it away', async () => {
    const rebinding = await directory.createClient({
      allowTokenExchange: true,
      mayRebindTokens: true,
    });
    const question = { applicationId: rebinding.id, isSubjectBound: true } as const;
    expect(await brokenIn({ ...question, provenKey: 'OTHER_KEY' })).toEqual([]);
    expect(await brokenIn({ ...question, provenKey: 'NONE' })).toEqual(['BINDING_KEPT']);
    expect(await brokenIn({ isSubjectBound: true, provenKey: 'SUBJECT_KEY' })).toEqual([]);
    expect(await brokenIn({ isSubjectBound: false, provenKey: 'NONE' })).toEqual([]);
  });

  test('knows who may act, by which token', async () => {
    const acting = await directory.createClient({
      allowTokenExchange: true,
      mayActFor: [frontend.id],
    });
    const [applicationId, actorId] = [acting.id, user.id];
    const byActor = { applicationId, actorId, actorClientId: frontend.id } as const;
    expect(await brokenIn(byActor)).toEqual([]);
    expect(await brokenIn({ applicationId, actorId })).toEqual([]);
    expect(await brokenIn({ ...byActor, actorClientId: off.id })).toEqual(['ACTOR_ALLOWED']);
    const bound = { ...byActor, isActorBound: true } as const;
    expect(await brokenIn(bound)).toEqual(['ACTOR_KEY_PROVEN']);
    expect(await brokenIn({ ...bound, provenKey: 'ACTOR_KEY' })).toEqual([]);
    expect(await brokenIn({ ...byActor, mayActSub: user.id })).toEqual([]);
    expect(await brokenIn({ ...byActor, mayActClientId: frontend.id })).toEqual([]);
    expect(await brokenIn({ ...byActor, mayActSub: frontend.id })).toEqual(['MAY_ACT']);
    expect(await brokenIn({ applicationId, mayActSub: user.id })).toEqual(['MAY_ACT']);
    expect(await brokenIn({ applicationId, mayActClientId: applicationId })).toEqual([]);
  });

  test('is open where the subject token decides', async () => {
    const { rules } = await explain({ applicationId: narrow.id });
    expect(rules.find(({ rule }) => rule === 'SUBJECT_AUDIENCE')?.isMet).toBeNull();
  });
});

/** What the token endpoint does. */
async function outcomeOf(
  client: TestClient,
  question: Required<Pick<Question, 'scopes'>> & Question,
) {
  const { status, body } = await exchange(service, client, {
    subject_token: await userToken(service, question.userId ?? user.id, frontend, {
      aud: question.subjectAudience ?? 'https://gateway.example.com/api',
      ...(question.subjectOrganizationId === undefined
        ? {}
        : { organization_id: question.subjectOrganizationId }),
    }),
    resource: question.resource ?? orders.indicator,
    scope: question.scopes.join(' '),
    organization_id: question.organizationId,
  });
  return outcomeIn({ status, body });
}

/** What an explanation has to say for this answer of the token endpoint. */
const outcomeIn = ({ status, body }: Pick<TokenAnswer, 'status' | 'body'>) =>
  status === 200
    ? { isGranted: true, error: null, errorDescription: null, scope: body['scope'] }
    : { isGranted: false, error: body['error'], errorDescription: body['error_description'] };

test.each([
  ['a service', backend],
  ['one that may not', off],
  ['one without a secret', frontend],
  ['one with bounds', narrow],
])('agrees with the token endpoint about %s', async (_which, client) => {
  const userIds = [user.id, suspended.id];
  const targets = [
    {},
    { organizationId: berlin.id },
    { organizationId: 'org_01h455vb4pex5vsknk084sn02q' },
    { subjectOrganizationId: paris.id },
    { subjectOrganizationId: 'org_01h455vb4pex5vsknk084sn02q' },
    { organizationId: berlin.id, subjectOrganizationId: paris.id },
    { resource: 'URN:Signet:management' },
    { resource: 'https://unknown.example.com' },
    { resource: 'orders#' },
    { resource: management.indicator },
    { resource: `${service.app.services.baseUrl}/api` },
    { organizationId: '' },
    { organizationId: '', subjectOrganizationId: paris.id },
    { resource: `urn:signet:organization:${paris.id}` },
    { resource: `urn:signet:organization:${paris.id}`, organizationId: berlin.id },
  ];
  const scopeLists = [['read', 'write', 'refund', 'invite'], ['"']];
  const audiences = ['https://gateway.example.com/api', 'https://x.example.com'];
  for (const target of targets)
    for (const userId of userIds)
      for (const scopes of scopeLists)
        for (const subjectAudience of audiences) {
          const question = { userId, scopes, subjectAudience, ...target };
          const explained = await explain({ applicationId: client.id, ...question });
          expect(explained, JSON.stringify(question)).toMatchObject(
            await outcomeOf(client, question),
          );
        }
});

test('knows the management API by its URLs, in any spelling', async () => {
  const console = await directory.createClient({
    allowTokenExchange: true,
    exchangeResources: [management.indicator],
  });
  const admin = await directory.createUser();
  await directory.allowUser(admin, management, ['users:read']);
  const { baseUrl } = service.app.services;
  for (const url of [`${baseUrl}/graphql`, `${baseUrl.replace('http', 'HTTP')}/api`]) {
    const question = { resource: url, userId: admin.id, scopes: ['users:read'] };
    const outcome = await outcomeOf(console, question);
    expect(outcome).toMatchObject({ isGranted: true, scope: 'users:read' });
    expect(await explain({ applicationId: console.id, ...question })).toMatchObject(outcome);
  }
});

test('agrees about an agent’s token', async () => {
  const support = await directory.createClient({
    allowTokenExchange: true,
    allowImpersonation: true,
    exchangeResources: [management.indicator, orders.indicator],
  });
  for (const resource of [orders.indicator, management.indicator]) {
    const { token: subject } = await done('createSubjectToken', {
      userId: user.id,
      reason: 'A ticket',
    });
    const { status, body } = await exchange(service, support, {
      subject_token: subject,
      subject_token_type: 'urn:signet:params:oauth:token-type:subject_token',
      resource,
      scope: 'read',
    });
    const explained = await explain({
      applicationId: support.id,
      resource,
      scopes: ['read'],
      subjectTokenType: 'SUBJECT_TOKEN',
    });
    expect(explained).toMatchObject(
      status === 200
        ? { isGranted: true, scope: body['scope'] }
        : { error: body['error'], errorDescription: body['error_description'] },
    );
  }
});

test.each(['SUBJECT_TOKEN', 'PERSONAL_ACCESS_TOKEN'] as const)(
  'of a %s, goes by the application through which a user created it',
  async (subjectTokenType) => {
    const all = {
      allowTokenExchange: true,
      allowImpersonation: true,
      allowPersonalAccessTokens: true,
    };
    const { id: careful } = await directory.createClient(all);
    const { id: open } = await directory.createClient({
      ...all,
      exchangeThirdPartySubjectTokens: true,
      exchangeResources: ['urn:signet:management', orders.indicator],
    });
    const { id: shop } = await directory.createClient({ type: 'SPA', isThirdParty: true });
    const by = (applicationId: string, subjectClientId?: string, resource?: string) =>
      brokenIn({
        applicationId,
        subjectTokenType,
        ...(subjectClientId ? { subjectClientId } : {}),
        ...(resource ? { resource } : {}),
      });
    expect(await by(careful, shop)).toEqual(['SUBJECT_CONSENT']);
    expect(await by(careful, frontend.id)).toEqual([]);
    expect(await by(careful)).toEqual([]);
    expect(await by(open, shop)).toEqual([]);
    expect(await by(open, shop, 'urn:signet:management')).toEqual(['RESOURCE_REACHED']);
  },
);

const personalTokenType = 'urn:signet:params:oauth:token-type:personal_access_token';
const inAnHour = () => new Date(service.clock.now().getTime() + 3_600_000).toISOString();
const allTypes = {
  allowTokenExchange: true,
  allowImpersonation: true,
  allowPersonalAccessTokens: true,
} as const;

test('of a subject token that came through an application that is gone, says that it is refused', async () => {
  const { id: applicationId } = await directory.createClient(allTypes);
  const question = { applicationId, subjectClientId: 'app_01h455vb4pex5vsknk084sn02q' } as const;
  expect(await brokenIn(question)).toEqual(['SUBJECT_TOKEN']);
  expect(await brokenIn({ ...question, subjectTokenType: 'SUBJECT_TOKEN' })).toEqual([
    'SUBJECT_TOKEN',
  ]);
});

test('of a personal access token that came through one, too, leaves it open: it ends with a third party only', async () => {
  const client = await directory.createClient(allTypes);
  const admin = await directory.createUser();
  await directory.allowUser(admin, orders, ['read']);
  await directory.allowUser(admin, management, ['all']);
  const own = await directory.createClient({ type: 'SPA' });
  const claims = { aud: management.indicator, scope: 'all' };
  const signedIn = overGraphQL(service, await userToken(service, admin.id, own, claims));
  const { token: personal } = await createMaker(signedIn).done('createPersonalAccessToken', {
    userId: admin.id,
    name: 'of an application that goes',
    expiresAt: inAnHour(),
  });
  await done('deleteApplication', { id: own.id });
  const outcome = outcomeIn(
    await exchange(service, client, {
      subject_token: personal,
      subject_token_type: personalTokenType,
      resource: orders.indicator,
      scope: 'read',
    }),
  );
  expect(outcome).toMatchObject({ isGranted: true, scope: 'read' });
  const explained = await explain({
    applicationId: client.id,
    userId: admin.id,
    scopes: ['read'],
    subjectTokenType: 'PERSONAL_ACCESS_TOKEN',
    subjectClientId: own.id,
  });
  expect(explained).toMatchObject(outcome);
  expect(explained.rules.find(({ rule }) => rule === 'SUBJECT_TOKEN')?.isMet).toBeNull();
});

test('agrees about a personal access token, for whichever API it is', async () => {
  const client = await directory.createClient({
    ...allTypes,
    exchangeResources: [management.indicator, orders.indicator],
  });
  const holder = await directory.createUser();
  await directory.allowUser(holder, orders, ['read']);
  await directory.allowUser(holder, management, ['users:read']);
  const scopesOf = { [orders.indicator]: ['read'], [management.indicator]: ['users:read'] };
  for (const itsResource of [undefined, orders.indicator, management.indicator])
    for (const resource of [orders.indicator, management.indicator]) {
      const scopes = scopesOf[resource] ?? [];
      const { token: personal } = await done('createPersonalAccessToken', {
        userId: holder.id,
        name: `${itsResource} ${resource}`,
        expiresAt: inAnHour(),
        ...(itsResource ? { resource: itsResource, scopes: scopesOf[itsResource] } : {}),
      });
      const answer = await exchange(service, client, {
        subject_token: personal,
        subject_token_type: personalTokenType,
        resource,
        scope: scopes.join(' '),
      });
      const explained = await explain({
        applicationId: client.id,
        userId: holder.id,
        resource,
        scopes,
        subjectTokenType: 'PERSONAL_ACCESS_TOKEN',
        ...(itsResource ? { subjectAudience: itsResource } : {}),
      });
      expect(explained, `${itsResource} ${resource}`).toMatchObject(outcomeIn(answer));
    }
});

test('agrees about an application that gets no token without a proof', async () => {
  const strict = await directory.createClient({ allowTokenExchange: true, requireDpop: true });
  const url = `${service.app.services.issuer}/token`;
  const proof = await generateProof(await generateKeyPair('ES256'), url, 'POST');
  for (const [provenKey, headers] of [
    ['NONE', {}],
    ['OTHER_KEY', { dpop: proof }],
  ] as const) {
    const answer = await exchange(
      service,
      strict,
      {
        subject_token: await userToken(service, user.id, frontend),
        resource: orders.indicator,
        scope: 'read',
      },
      headers,
    );
    expect(answer.status).toBe(provenKey === 'NONE' ? 400 : 200);
    const explained = await explain({ applicationId: strict.id, scopes: ['read'], provenKey });
    expect(explained).toMatchObject(outcomeIn(answer));
  }
});

test('agrees about what the secrets of an application open of Signet’s own APIs', async () => {
  const admin = await directory.createUser();
  await directory.allowUser(admin, management, ['users:read', 'roles:read']);
  const client = await directory.createClient({
    allowTokenExchange: true,
    exchangeResources: [management.indicator],
  });
  const question = {
    resource: management.indicator,
    userId: admin.id,
    scopes: ['users:read', 'roles:read'],
  };
  const asked = { applicationId: client.id, ...question };
  await prisma.applicationSecret.updateMany({
    where: { applicationId: client.id },
    data: { setterScopes: ['users:read'] },
  });
  const outcome = await outcomeOf(client, question);
  expect(outcome).toMatchObject({ scope: 'users:read' });
  const explained = await explain(asked);
  expect(explained).toMatchObject(outcome);
  expect(explained.scopes[1]).toMatchObject({ name: 'roles:read', outcome: 'LIMITED' });
  // Of several secrets, one that opens it is enough.
  const secret = await directory.createSecret(client.id);
  const byOther = await outcomeOf({ ...client, secret }, question);
  expect(byOther).toMatchObject({ scope: 'users:read roles:read' });
  expect(await explain(asked)).toMatchObject(byOther);
});

test.each([[['']], [['', 'read']], [['', '']]])(
  'agrees about the scopes %j, as they are sent',
  async (scopes) => {
    const explained = await explain({ scopes });
    expect(explained).toMatchObject(await outcomeOf(backend, { scopes }));
  },
);

const areas = ['applications', 'users', 'resources', 'roles', 'organizations'];
const document = `{ explainTokenExchange(applicationId: "${backend.id}", userId: "${user.id}", resource: "x") { isGranted } }`;

test.each(areas)('needs %s:read', async (area) => {
  const scope = areas
    .filter((other) => other !== area)
    .map((other) => `${other}:read`)
    .join(' ');
  const answer = await send(
    { url: service.url, token: await service.managementToken(scope) },
    document,
  );
  expect(answer).toMatchObject({ status: 403 });
});

test('needs no more than to read', async () => {
  const scope = areas.map((area) => `${area}:read`).join(' ');
  const answer = await send(
    { url: service.url, token: await service.managementToken(scope) },
    document,
  );
  expect(answer).toMatchObject({ data: { explainTokenExchange: { isGranted: false } } });
});

test('refuses more scopes than it reads', async () => {
  const scopes = Array.from({ length: 101 }, (_, i) => `s${i}`);
  const answer = await send({ url: service.url, token }, Explain, {
    applicationId: backend.id,
    userId: user.id,
    resource: orders.indicator,
    scopes,
  });
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('is a GET over REST', async () => {
  const query = new URLSearchParams([
    ['userId', user.id],
    ['resource', orders.indicator],
    ['scopes', 'read'],
    ['scopes', 'close'],
  ]);
  const path = `/applications/${backend.id}/token-exchange`;
  const { status, body } = await callRest({ url: service.url, token }, 'GET', `${path}?${query}`);
  expect(status).toBe(200);
  expect(body.explainTokenExchange).toMatchObject({
    isGranted: true,
    scope: 'read',
    scopes: [
      { name: 'read', outcome: 'GRANTED', sources: [{ roleId: expect.any(String) }] },
      { name: 'close', outcome: 'NOT_HELD' },
    ],
  });
  expect(await callRest({ url: service.url, token }, 'GET', path)).toMatchObject({ status: 400 });
});
