import { describe, expect, test } from 'vitest';
import { startSecondNode, startService } from '../../support/service.ts';

const service = await startService();
const other = await startSecondNode(service);
const admin = await service.managementToken();
const { database } = service.app.services;
const { prisma } = database;

const createUser = `mutation ($username: String!) {
  createUser(input: { username: $username }) {
    __typename ... on CreateUserPayload { user { id username version } }
    ... on ConflictError { path }
  }
}`;

interface Options {
  readonly key?: string;
  readonly token?: string;
  readonly at?: { readonly url: string };
}

async function ask(query: string, variables: object, { key, token = admin, at }: Options = {}) {
  const response = await fetch(`${(at ?? service).url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ query, variables }),
  });
  const { status, headers } = response;
  // biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
  const { data, errors, extensions } = (await response.json()) as any;
  return {
    status,
    data,
    code: errors?.[0]?.extensions.code,
    dryRun: extensions?.dryRun,
    isReplayed: headers.get('idempotency-replayed') === 'true',
    retryAfter: headers.get('retry-after'),
  };
}

async function rest(method: string, path: string, body?: object, headers: object = {}) {
  const response = await fetch(`${service.url}/api${path}`, {
    method,
    headers: {
      authorization: `Bearer ${admin}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    isReplayed: response.headers.get('idempotency-replayed') === 'true',
    // biome-ignore lint/suspicious/noExplicitAny: each route's answer has a shape of its own.
    body: (text === '' ? undefined : JSON.parse(text)) as any,
  };
}

const usersNamed = (username: string) => prisma.user.count({ where: { username } });
const eventsAbout = (id: string) => prisma.event.count({ where: { subjectId: id } });

describe('Idempotency-Key', () => {
  test('makes one change of twenty requests at once, on two nodes', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        ask(createUser, { username: 'once' }, { key: 'twenty', at: i % 2 ? other : service }),
      ),
    );
    const ids = new Set(answers.map(({ data }) => data?.createUser.user.id));
    expect([...ids]).toEqual([expect.stringMatching(/^user_/)]);
    expect(answers.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(await eventsAbout([...ids][0])).toBe(1);
  });

  test('is the same key bare and as a string, and a caller’s own', async () => {
    const first = await ask(createUser, { username: 'quoted' }, { key: 'bare' });
    const again = await ask(createUser, { username: 'quoted' }, { key: '"bare"' });
    expect(again).toMatchObject({ isReplayed: true, data: first.data });
    const client = await ask(
      `mutation { createApplication(input: { name: "Another", type: MACHINE_TO_MACHINE }) {
        ... on CreateApplicationPayload { application { id } secret } } }`,
      {},
    );
    const { application, secret } = client.data.createApplication;
    const role = await prisma.role.findFirstOrThrow({
      where: { type: 'MACHINE_TO_MACHINE', scopes: { some: { scope: { name: 'all' } } } },
    });
    await ask(
      `mutation ($id: ID!, $role: ID!) {
        assignApplicationRoles(input: { applicationId: $id, roleIds: [$role] }) { __typename } }`,
      { id: application.id, role: role.id },
    );
    const token = await service.managementToken('all', { id: application.id, secret });
    const theirs = await ask(createUser, { username: 'quoted' }, { key: 'bare', token });
    expect(theirs.data.createUser).toMatchObject({ __typename: 'ConflictError' });
  });

  test('answers another selection over the first result', async () => {
    await ask(createUser, { username: 'selected' }, { key: 'selection' });
    const again = await ask(
      `mutation Renamed($username: String!) {
        made: createUser(input: { username: $username }) {
          ... on CreateUserPayload { user { createdAt roles(first: 1) { totalCount } } } } }`,
      { username: 'selected' },
      { key: 'selection' },
    );
    expect(again.isReplayed).toBe(true);
    expect(again.data.made.user).toEqual({
      createdAt: expect.any(String),
      roles: { totalCount: expect.any(Number) },
    });
  });

  test('is refused for another request', async () => {
    await ask(createUser, { username: 'first' }, { key: 'used' });
    const reused = await ask(createUser, { username: 'second' }, { key: 'used' });
    expect(reused).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await usersNamed('second')).toBe(0);
  });

  test('is no matter to an input that is nested too deeply', async () => {
    const nested = JSON.parse(`${'['.repeat(3500)}${']'.repeat(3500)}`);
    const refused = await ask(
      `mutation ($customData: JSONObject) { createUser(input: { customData: $customData }) {
        __typename ... on InvalidInputError { issues { path code } } } }`,
      { customData: { nested } },
      { key: 'deep' },
    );
    expect(refused.data.createUser).toMatchObject({
      issues: [{ path: ['customData'], code: 'TOO_DEEP' }],
    });
  });

  test('is free again after a refusal', async () => {
    await ask(createUser, { username: 'taken' });
    const refused = await ask(createUser, { username: 'taken' }, { key: 'refused' });
    expect(refused.data.createUser.path).toEqual(['username']);
    const done = await ask(createUser, { username: 'not_taken' }, { key: 'refused' });
    expect(done.data.createUser.user.username).toBe('not_taken');
  });

  test.each([
    ['', createUser],
    ['ü', createUser],
    ['"open', createUser],
    ['two words', createUser],
    ['x'.repeat(256), createUser],
    ['query', '{ users { totalCount } }'],
    [
      'two',
      `mutation ($username: String!) {
        createUser(input: { username: $username }) { __typename }
        ...other }
      fragment other on Mutation { second: createUser(input: {}) { __typename } }`,
    ],
  ])('%j is refused where it says nothing', async (key, document) => {
    const sent = /^[\x20-\x7e]*$/.test(key) ? key : Buffer.from(key).toString('latin1');
    const answer = await ask(document, { username: 'malformed' }, { key: sent });
    expect(answer).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' });
    expect(await usersNamed('malformed')).toBe(0);
  });

  test('gives secrets again, which nobody finds in the database', async () => {
    const { createApplication } = (
      await ask(
        `mutation { createApplication(input: { name: "Secret", type: MACHINE_TO_MACHINE }) {
          ... on CreateApplicationPayload { application { id } } } }`,
        {},
      )
    ).data;
    const create = `mutation ($id: ID!) {
      createApplicationSecret(input: { applicationId: $id, name: "Once" }) {
        ... on CreateApplicationSecretPayload { secret } } }`;
    const variables = { id: createApplication.application.id };
    const first = await ask(create, variables, { key: 'secret' });
    const again = await ask(create, variables, { key: 'secret' });
    const { secret } = first.data.createApplicationSecret;
    expect(secret).toEqual(expect.any(String));
    expect(again.data.createApplicationSecret.secret).toBe(secret);
    const kept = await prisma.keptResult.findMany();
    expect(kept.some(({ result }) => Buffer.from(result).includes(secret))).toBe(false);
    expect(
      kept.some(({ result }) =>
        Buffer.from(result).toString('base64').includes(Buffer.from(secret).toString('base64')),
      ),
    ).toBe(false);

    // Who holds less than then does not get it again.
    const narrow = await service.managementToken('applications:write');
    const refused = await ask(create, variables, { key: 'secret', token: narrow });
    expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });

  test('ends after a day', async () => {
    const first = await ask(createUser, { username: 'day' }, { key: 'day' });
    service.clock.advance(24 * 3_600_000 + 1);
    const token = await service.managementToken();
    const later = await ask(createUser, { username: 'next_day' }, { key: 'day', token });
    service.clock.advance(-24 * 3_600_000 - 1);
    expect(first.data.createUser.user.id).not.toBe(later.data.createUser.user.id);
  });

  test('holds for REST too', async () => {
    const headers = { 'idempotency-key': 'rest' };
    const first = await rest('POST', '/users', { username: 'rest_once' }, headers);
    const again = await rest('POST', '/users', { username: 'rest_once' }, headers);
    expect(first).toMatchObject({ status: 201, isReplayed: false });
    expect(again).toMatchObject({ status: 201, isReplayed: true, body: first.body });
    const reused = await rest('POST', '/users', { username: 'rest_other' }, headers);
    expect(reused).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
    const bad = await rest('POST', '/users', {}, { 'idempotency-key': 'a b' });
    expect(bad).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT' } });
  });
});

describe('a dry run', () => {
  test('is one transaction, in which later fields see the earlier', async () => {
    const { data, dryRun } = await ask(
      `mutation @dryRun {
        first: createUser(input: { username: "rehearsed" }) {
          ... on CreateUserPayload { user { id roles { totalCount } } } }
        second: createUser(input: { username: "rehearsed" }) { ... on ConflictError { path } }
        third: createUser(input: { username: "rehearsed_2" }) {
          ... on CreateUserPayload { user { username } } }
      }`,
      {},
    );
    expect(data.second).toEqual({ path: ['username'] });
    expect(data.third.user.username).toBe('rehearsed_2');
    const [one, two] = dryRun.events;
    expect(dryRun.events).toHaveLength(2);
    expect(one).toMatchObject({ type: 'User.Created', subjectId: data.first.user.id });
    expect(two).toMatchObject({ data: { username: 'rehearsed_2' } });
    expect(await usersNamed('rehearsed')).toBe(0);
  });

  test('keeps nothing under a key, and asks for the same rights', async () => {
    const document = createUser.replace('{', '@dryRun {');
    const dry = await ask(document, { username: 'dry' }, { key: 'dry' });
    expect(dry.dryRun.events).toHaveLength(1);
    const done = await ask(createUser, { username: 'dry' }, { key: 'dry' });
    expect(done).toMatchObject({ isReplayed: false, dryRun: undefined });
    const narrow = await service.managementToken('users:write');
    const told = await ask(document, { username: 'dry_3' }, { token: narrow });
    expect(told.dryRun.events).toMatchObject([{ type: 'User.Created', data: null }]);
    const token = await service.managementToken('roles:read');
    const refused = await ask(document, { username: 'dry_2' }, { token });
    expect(refused).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });

  test('is of nobody’s without a token: it would take a connection', async () => {
    const document = createUser.replace('{', '@dryRun {');
    const asked = (query: string) =>
      fetch(`${service.url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables: { username: 'nobody' } }),
      });
    expect((await asked(document)).status).toBe(401);
    expect((await asked('mutation @dryRun { __typename }')).status).toBe(401);
  });

  test('lists no records that the caller may not read', async () => {
    const made = await ask(
      `mutation {
        createUser(input: { username: "joined" }) { ... on CreateUserPayload { user { id } } }
        createOrganization(input: { name: "Joined" }) {
          ... on CreateOrganizationPayload { organization { id } } } }`,
      {},
    );
    const [id, organizationId] = [
      made.data.createUser.user.id,
      made.data.createOrganization.organization.id,
    ];
    await ask(
      `mutation ($organizationId: ID!, $id: ID!) {
        addOrganizationUsers(input: { organizationId: $organizationId, userIds: [$id] }) {
          __typename } }`,
      { organizationId, id },
    );
    const deletion =
      'mutation ($id: ID!) @dryRun { deleteUser(input: { id: $id }) { __typename } }';
    const shown = async (scope: string) => {
      const token = await service.managementToken(scope);
      return (await ask(deletion, { id }, { token })).dryRun.events.map(
        ({ type, data }: { type: string; data: unknown }) => [type, data !== null],
      );
    };
    expect(await shown('users:write')).toEqual([['User.Deleted', false]]);
    expect(await shown('users:write organizations:read')).toEqual([
      ['Organization.Membership.Updated', false],
      ['User.Deleted', false],
    ]);
    expect(await shown('users:write events:read')).toEqual([
      ['Organization.Membership.Updated', true],
      ['User.Deleted', true],
    ]);
  });

  test('counts nothing', async () => {
    const counted = async () =>
      (await (await fetch(`${service.url}/metrics`)).text()).match(/^signet_mutations_total.*$/gm);
    const before = await counted();
    await ask(createUser.replace('{', '@dryRun {'), { username: 'uncounted' });
    expect(await counted()).toEqual(before);
  });

  test('stands beside the record over REST', async () => {
    const made = await rest('POST', '/users?dryRun=true', { username: 'rest_dry' });
    expect(made).toMatchObject({
      status: 201,
      etag: null,
      body: { user: { username: 'rest_dry' }, dryRun: { events: [{ type: 'User.Created' }] } },
    });
    expect(await usersNamed('rest_dry')).toBe(0);
    const { body } = await rest('POST', '/users', { username: 'rest_kept' });
    const deleted = await rest('DELETE', `/users/${body.user.id}?dryRun=true`);
    expect(deleted).toMatchObject({ status: 200, body: { user: { id: body.user.id } } });
    expect(await usersNamed('rest_kept')).toBe(1);
    const wrong = await rest('POST', '/users?dryRun=maybe', {});
    expect(wrong).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT' } });
  });
});

describe('versions', () => {
  const update = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) {
    __typename ... on UpdateUserPayload { user { version } }
    ... on VersionConflictError { code currentVersion } } }`;

  test('one of two that expect the same wins', async () => {
    const { id } = (await ask(createUser, { username: 'raced' })).data.createUser.user;
    const answers = await Promise.all(
      [service, other, service, other].map((at, i) =>
        ask(update, { input: { id, name: `Name ${i}`, expectedVersion: 1 } }, { at }),
      ),
    );
    const results = answers.map(({ data }) => data.updateUser);
    expect(results.filter(({ user }) => user?.version === 2)).toHaveLength(1);
    expect(results.filter(({ code }) => code === 'VERSION_CONFLICT')).toHaveLength(3);
    expect(await eventsAbout(id)).toBe(2);
  });

  test('grow with changes of own fields, and with nothing else', async () => {
    const { id } = (await ask(createUser, { username: 'versioned' })).data.createUser.user;
    const version = async () => (await prisma.user.findUniqueOrThrow({ where: { id } })).version;
    await ask(update, { input: { id, username: 'versioned' } });
    expect(await version()).toBe(1);
    await ask(update, { input: { id, name: 'Changed' } });
    expect(await version()).toBe(2);
    const role = await prisma.role.create({
      data: { id: 'role_x', name: 'x', type: 'USER', createdAt: new Date(), updatedAt: new Date() },
    });
    const assign = `mutation ($id: ID!, $role: ID!) {
      assignUserRoles(input: { userId: $id, roleIds: [$role] }) { __typename } }`;
    await ask(assign, { id, role: role.id });
    await prisma.user.update({ where: { id }, data: { lastSignInAt: new Date() } });
    expect(await version()).toBe(2);
    const replace = `mutation ($id: ID!, $roles: [ID!]!) {
      replaceUserRoles(input: { userId: $id, roleIds: $roles, expectedVersion: 2 }) {
        ... on ReplaceUserRolesPayload { user { version } } } }`;
    const replaced = await ask(replace, { id, roles: [] });
    expect(replaced.data.replaceUserRoles.user.version).toBe(3);
  });

  test('are entity tags over REST', async () => {
    const made = await rest('POST', '/users', { username: 'tagged' });
    const path = `/users/${made.body.user.id}`;
    expect(made.etag).toBe('"1"');
    expect(await rest('GET', path, undefined, { 'if-none-match': '"1"' })).toMatchObject({
      status: 304,
      body: undefined,
    });
    const changed = await rest('PATCH', path, { name: 'Tagged' }, { 'if-match': '"1"' });
    expect(changed).toMatchObject({ status: 200, etag: '"2"' });
    const late = await rest('PATCH', path, { name: 'Late' }, { 'if-match': '"1"' });
    expect(late).toMatchObject({
      status: 412,
      body: { code: 'VERSION_CONFLICT', currentVersion: 2 },
    });
    expect((await rest('GET', path, undefined, { 'if-none-match': '"1"' })).status).toBe(200);
    expect((await rest('PATCH', path, { name: 'Any' }, { 'if-match': '*' })).status).toBe(200);
    expect((await rest('DELETE', path, undefined, { 'if-match': '"2"' })).status).toBe(412);
    expect((await rest('DELETE', path, undefined, { 'if-match': 'x' })).status).toBe(400);
    expect((await rest('DELETE', path, undefined, { 'if-match': '"3"' })).status).toBe(200);
  });
});
