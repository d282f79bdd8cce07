import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { newId } from '../../../src/ids.ts';
import { purgeSubjectTokens } from '../../../src/subject-tokens/purge.ts';
import { seedDirectory, type TestClient } from '../../support/operations/directory.ts';
import { send } from '../../support/operations/graphql.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { exchange, exchangeGrantType, isActive } from '../../support/tokens.ts';

const personalAccessTokenType = 'urn:signet:params:oauth:token-type:personal_access_token';

const service = await startService();
const { services } = service.app;
const node = await startSecondNode(service);
const { prisma } = services.database;
const directory = seedDirectory(services.database, service.clock);
const call = overGraphQL(service, await service.managementToken());
const { next, done } = createMaker(call);

const orders = await directory.createResource(['read', 'write', 'refund'], {
  accessTokenTtlSeconds: 600,
});
const other = await directory.createResource(['read']);
const management = await prisma.resource.findUniqueOrThrow({
  where: { indicator: 'urn:signet:management' },
});
const client = await directory.createClient({
  allowTokenExchange: true,
  allowPersonalAccessTokens: true,
});
const backend = await directory.createClient({ allowTokenExchange: true });

async function holder() {
  const user = await directory.createUser();
  await directory.allowUser(user, orders, ['read', 'write']);
  await directory.allowUser(user, other, ['read']);
  return user;
}
const user = await holder();

const inSeconds = (seconds: number) =>
  new Date(service.clock.now().getTime() + seconds * 1000).toISOString();
const create = (input: object = {}) =>
  done('createPersonalAccessToken', {
    userId: user.id,
    name: next('token'),
    expiresAt: inSeconds(86_400),
    ...input,
  });
const redeem = (
  token: string,
  parameters: Record<string, string | undefined> = {},
  by: TestClient = client,
  at: { url: string } = service,
) =>
  exchange(at, by, {
    subject_token: token,
    subject_token_type: personalAccessTokenType,
    resource: orders.indicator,
    scope: 'read write refund',
    ...parameters,
  });
const refused = (error = 'invalid_request') => ({ status: 400, body: { error } });
const isLive = (token: string) => isActive(service, client, token);

test('is exchanged again and again, on every node', async () => {
  const { token, personalAccessToken } = await create();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => redeem(token, {}, client, i % 2 ? node : service)),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const claims = answers.map(({ body }) => decodeJwt(String(body['access_token'])));
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(12);
  expect(claims[0]).toMatchObject({
    sub: user.id,
    aud: orders.indicator,
    client_id: client.id,
    scope: 'read write',
    act: { sub: client.id },
    'urn:signet:lineage': [personalAccessToken.id],
  });
  expect(claims[0]?.['act']).toEqual({ sub: client.id });
});

test('is shown once, and stored as a digest', async () => {
  const { token } = await create();
  const rows = JSON.stringify(await prisma.$queryRaw`SELECT t::text FROM "PersonalAccessToken" t`);
  expect(rows).not.toContain(token);
  expect(JSON.stringify(service.logged)).not.toContain(token);
});

test('is listed with its bounds and last use', async () => {
  const one = await holder();
  const { token, personalAccessToken } = await create({
    userId: one.id,
    name: 'For the terminal',
    scopes: ['read'],
    resource: orders.indicator,
  });
  const list = async () => {
    const { data } = await send<{ user: { personalAccessTokens: { edges: unknown[] } } }>(
      { url: service.url, token: await service.managementToken('users:read') },
      `{ user(id: "${one.id}") { personalAccessTokens { totalCount edges { node {
        id name scopes resource createdAt expiresAt lastUsedAt user { id } } } } } }`,
    );
    return data?.user.personalAccessTokens.edges[0] as { node: { lastUsedAt: string | null } };
  };
  expect(await list()).toMatchObject({
    node: {
      id: personalAccessToken.id,
      name: 'For the terminal',
      scopes: ['read'],
      resource: orders.indicator,
      lastUsedAt: null,
      user: { id: one.id },
    },
  });
  await redeem(token);
  const first = (await list()).node.lastUsedAt;
  expect(first).not.toBeNull();
  service.clock.advance(60_000);
  await redeem(token);
  expect((await list()).node.lastUsedAt).not.toBe(first);
});

describe('grants', () => {
  const granted = async (input: object) =>
    (await redeem((await create(input)).token)).body['scope'];

  test('at most its scopes, and what the user holds', async () => {
    expect(await granted({ scopes: ['read', 'refund'] })).toBe('read');
    expect(await granted({ scopes: [] })).toBe('');
    expect(await granted({ scopes: null })).toBe('read write');
  });

  test('nothing beyond its own expiry', async () => {
    const { token } = await create({ expiresAt: inSeconds(90) });
    const { body } = await redeem(token);
    expect(body['expires_in']).toBeLessThanOrEqual(90);
    service.clock.advance(91_000);
    expect(await redeem(token)).toMatchObject(refused());
  });

  test('only for its resource', async () => {
    const { token } = await create({ resource: orders.indicator });
    expect((await redeem(token)).status).toBe(200);
    expect(await redeem(token, { resource: other.indicator })).toMatchObject(
      refused('invalid_target'),
    );
  });

  test("for Signet's own APIs only where it names them", async () => {
    const listed = await directory.createClient({
      allowTokenExchange: true,
      allowPersonalAccessTokens: true,
      exchangeResources: [management.indicator],
    });
    const one = await holder();
    await directory.allowUser(one, management, ['users:read', 'users:write']);
    const parameters = { resource: management.indicator, scope: 'users:read users:write' };
    const any = await create({ userId: one.id });
    expect(await redeem(any.token, parameters, listed)).toMatchObject(refused('invalid_target'));
    const named = await create({
      userId: one.id,
      resource: management.indicator,
      scopes: ['users:read'],
    });
    expect(await redeem(named.token, parameters, listed)).toMatchObject({
      status: 200,
      body: { scope: 'users:read' },
    });
  });
});

test('bounds what its tokens are exchanged for, again and again', async () => {
  const relay = await directory.createClient({
    allowTokenExchange: true,
    exchangeResources: [orders.indicator, other.indicator, 'urn:signet:account'],
  });
  const again = (subject: unknown, resource = orders.indicator, scope = 'read write') =>
    exchange(service, relay, { subject_token: String(subject), resource, scope });
  const narrow = await redeem((await create({ scopes: ['read'] })).token);
  const second = await again(narrow.body['access_token']);
  expect(second).toMatchObject({ status: 200, body: { scope: 'read' } });
  expect(await again(second.body['access_token'])).toMatchObject({ body: { scope: 'read' } });
  expect(await again(second.body['access_token'], 'urn:signet:account')).toMatchObject(
    refused('invalid_target'),
  );
  const one = await redeem((await create({ resource: orders.indicator })).token);
  expect(await again(one.body['access_token'], other.indicator)).toMatchObject(
    refused('invalid_target'),
  );
});

describe('is refused', () => {
  test('by an application that does not allow such tokens', async () => {
    expect(await redeem((await create()).token, {}, backend)).toMatchObject(
      refused('unauthorized_client'),
    );
  });

  test.each(['x', 'pat_', 'a\0b', `pat_${'x'.repeat(10_000)}`])(
    'when it is hostile: %#',
    async (token) => {
      expect(await redeem(token)).toMatchObject(refused());
    },
  );

  test('as another type of token', async () => {
    const { token } = await create();
    for (const name of ['urn:ietf:params:oauth:token-type:access_token', 'urn:x']) {
      expect(await redeem(token, { subject_token_type: name })).toMatchObject(refused());
    }
  });
});

describe('ends, with all that was issued for it', () => {
  test.each([
    ['signOutUser', {}],
    ['updateUserSuspensionStatus', { isSuspended: true }],
    ['updateUserPassword', { password: 'long enough' }],
    ['deleteUser', {}],
  ])('by %s', async (operation, input) => {
    const one = await holder();
    const { token } = await create({ userId: one.id });
    const { body } = await redeem(token);
    const issued = String(body['access_token']);
    await done(operation, { id: one.id, ...input });
    expect(await isLive(issued)).toBe(false);
    expect(await redeem(token)).toMatchObject(refused());
    expect(await prisma.personalAccessToken.count({ where: { userId: one.id } })).toBe(0);
  });

  test('by its deletion; other tokens of the user go on', async () => {
    const [doomed, kept] = [await create(), await create()];
    const issue = async (token: string) => String((await redeem(token)).body['access_token']);
    const [ended, alive] = [await issue(doomed.token), await issue(kept.token)];
    const further = await exchange(service, backend, {
      subject_token: ended,
      resource: orders.indicator,
    });
    await done('deletePersonalAccessToken', { id: doomed.personalAccessToken.id });
    expect(await redeem(doomed.token)).toMatchObject(refused());
    expect(await isLive(ended)).toBe(false);
    expect(await isLive(String(further.body['access_token']))).toBe(false);
    expect(await isLive(alive)).toBe(true);
    expect((await redeem(kept.token)).status).toBe(200);
  });
});

describe('createPersonalAccessToken refuses', () => {
  test.each([
    ['a suspended user', 'NOT_ALLOWED', async () => ({ userId: (await suspended()).id })],
    [
      'an own API without scopes',
      'INVALID_INPUT',
      async () => ({ resource: management.indicator }),
    ],
  ])('%s', async (_what, code, input) => {
    const before = await prisma.personalAccessToken.count();
    const outcome = await call('createPersonalAccessToken', {
      userId: user.id,
      name: next('token'),
      expiresAt: inSeconds(60),
      ...(await input()),
    });
    expect(outcome.code).toBe(code);
    expect(await prisma.personalAccessToken.count()).toBe(before);
  });
  const suspended = () => directory.createUser({ isSuspended: true });

  test("a scope that Signet's own API does not have: it may come to have it", async () => {
    const token = await service.managementToken('users:write');
    const input = {
      ...{ userId: user.id, name: next('later'), expiresAt: inSeconds(60) },
      resource: management.indicator,
    };
    const asked = (scopes: string[]) =>
      call('createPersonalAccessToken', { ...input, scopes }, token);
    expect(await asked(['users:read', 'later:write'])).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['scopes', '1'] }],
    });
    expect(await asked(['users:read'])).toMatchObject({ code: 'OK' });
  });

  test('a resource that does not exist, and names the field', async () => {
    const before = await prisma.personalAccessToken.count();
    for (const resource of ['https://none.example.com', `${orders.indicator}/`]) {
      const outcome = await call('createPersonalAccessToken', {
        userId: user.id,
        name: next('token'),
        expiresAt: inSeconds(60),
        resource,
      });
      expect(outcome).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['resource'] }] });
    }
    expect(await prisma.personalAccessToken.count()).toBe(before);
  });
});

test('a user has at most 100, on two nodes at once', async () => {
  const one = await holder();
  const row = (i: number, expiresIn: number) => ({
    id: newId('PersonalAccessToken'),
    userId: one.id,
    name: `token ${i}`,
    digest: new Uint8Array(randomBytes(32)),
    createdAt: service.clock.now(),
    expiresAt: new Date(service.clock.now().getTime() + expiresIn),
  });
  await prisma.personalAccessToken.createMany({
    data: Array.from({ length: 100 }, (_, i) => row(i, i < 98 ? 86_400_000 : -1)),
  });
  const elsewhere = overGraphQL(node, await service.managementToken());
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      (i % 2 ? elsewhere : call)('createPersonalAccessToken', {
        userId: one.id,
        name: next('token'),
        expiresAt: inSeconds(60),
      }),
    ),
  );
  expect(outcomes.map(({ code }) => code).sort()).toEqual([
    ...Array(6).fill('NOT_ALLOWED'),
    'OK',
    'OK',
  ]);
  // The expired ones did not count, and what expires or is deleted makes room.
  expect(await prisma.personalAccessToken.count({ where: { userId: one.id } })).toBe(102);
  service.clock.advance(61_000);
  await create({ userId: one.id });
  const [{ id = '' } = {}] = await prisma.personalAccessToken.findMany({
    where: { userId: one.id },
    orderBy: { id: 'asc' },
    take: 1,
  });
  await create({ userId: one.id });
  await expect(create({ userId: one.id })).rejects.toThrow('NOT_ALLOWED');
  await done('deletePersonalAccessToken', { id });
  await create({ userId: one.id });
});

test('openid-client exchanges it', async () => {
  const configuration = new openid.Configuration(
    { issuer: services.issuer, token_endpoint: `${service.url}/oidc/token` },
    client.id,
    undefined,
    openid.ClientSecretPost(client.secret),
  );
  openid.allowInsecureRequests(configuration);
  const answer = await openid.genericGrantRequest(configuration, exchangeGrantType, {
    subject_token: (await create()).token,
    subject_token_type: personalAccessTokenType,
    resource: orders.indicator,
    scope: 'read',
  });
  expect(answer).toMatchObject({ token_type: 'bearer', scope: 'read' });
});

test('expired ones are purged as events are', async () => {
  const { personalAccessToken } = await create();
  const where = { id: personalAccessToken.id };
  const keptMs = services.config.eventRetentionDays * 24 * 60 * 60 * 1000;
  // The database's clock counts too, which no test moves.
  for (const [late, left] of [
    [-60_000, 1],
    [60_000, 0],
  ] as const) {
    const expiresAt = new Date(Date.now() - keptMs - late);
    await prisma.personalAccessToken.update({ where, data: { expiresAt } });
    await quietTransaction(services.database, purgeSubjectTokens(services));
    expect(await prisma.personalAccessToken.count({ where })).toBe(left);
  }
});
