import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { describe, expect, test } from 'vitest';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { newId } from '../../../src/ids.ts';
import { purgeSubjectTokens } from '../../../src/subject-tokens/purge.ts';
import { basic } from '../../support/client-credentials.ts';
import { seedDirectory, type TestClient } from '../../support/operations/directory.ts';
import { send } from '../../support/operations/graphql.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import {
  accessTokenType,
  exchange,
  exchangeGrantType,
  isActive,
  userToken,
} from '../../support/tokens.ts';

const subjectTokenType = 'urn:signet:params:oauth:token-type:subject_token';

const service = await startService();
const { services } = service.app;
const node = await startSecondNode(service);
const { prisma } = services.database;
const directory = seedDirectory(services.database, service.clock);
const call = overGraphQL(service, await service.managementToken());
const { done } = createMaker(call);

const orders = await directory.createResource(['read', 'write']);
const support = await directory.createClient({
  allowTokenExchange: true,
  allowImpersonation: true,
});
const backend = await directory.createClient({ allowTokenExchange: true });
const management = await prisma.resource.findUniqueOrThrow({
  where: { indicator: 'urn:signet:management' },
});

async function customer() {
  const user = await directory.createUser();
  await directory.allowUser(user, orders, ['read']);
  return user;
}
const user = await customer();

const create = (input: object = {}) =>
  done('createSubjectToken', { userId: user.id, reason: 'Ticket 7', ...input });
const redeem = (
  token: string,
  parameters: Record<string, string | undefined> = {},
  client: TestClient = support,
  at: { url: string } = service,
) =>
  exchange(at, client, {
    subject_token: token,
    subject_token_type: subjectTokenType,
    resource: orders.indicator,
    scope: 'read write',
    ...parameters,
  });
const refused = (error = 'invalid_request') => ({ status: 400, body: { error } });
const isLive = (token: string) => isActive(service, support, token);

test('is exchanged for a token that names the agent', async () => {
  const { token, subjectToken } = await create();
  const { status, body } = await redeem(token);
  expect(status).toBe(200);
  expect(body).toMatchObject({ issued_token_type: accessTokenType, scope: 'read' });
  const claims = decodeJwt(String(body['access_token']));
  expect(claims).toMatchObject({
    sub: user.id,
    aud: orders.indicator,
    client_id: support.id,
    act: { sub: support.id, act: { sub: service.admin.id } },
    // The agent's token, and its application.
    'urn:signet:lineage': [subjectToken.id, expect.any(String), service.admin.id],
  });
  const row = await prisma.subjectToken.findUniqueOrThrow({ where: { id: subjectToken.id } });
  expect(claims.exp).toBe(Math.floor(row.expiresAt.getTime() / 1000));
  expect(body['expires_in']).toBeLessThanOrEqual(600);
  expect(row).toMatchObject({ reason: 'Ticket 7', usedById: support.id, usedAt: expect.any(Date) });
  expect(await isLive(String(body['access_token']))).toBe(true);
});

test('is stored as a digest, and logged without its value', async () => {
  const { token } = await create({ reason: 'A reason for the log' });
  await redeem(token);
  const rows = JSON.stringify(await prisma.$queryRaw`SELECT t::text FROM "SubjectToken" t`);
  expect(rows).not.toContain(token);
  const log = JSON.stringify(service.logged);
  expect(log).not.toContain(token);
  expect(log).toContain('A reason for the log');
});

test('tells who acted as whom, and why', async () => {
  const one = await customer();
  const { token } = await create({ userId: one.id, context: { ticket: 7 } });
  await redeem(token);
  const { data } = await send<Record<string, unknown>>(
    { url: service.url, token: await service.managementToken('users:read applications:read') },
    `{ user(id: "${one.id}") { subjectTokens(first: 5) { totalCount nodes: edges { node {
      userId applicationId reason context usedById usedAt expiresAt createdAt
      actor { type id ... on ApplicationActor { application { id } } } } } } } }`,
  );
  expect(data).toMatchObject({
    user: {
      subjectTokens: {
        totalCount: 1,
        nodes: [
          {
            node: {
              userId: one.id,
              applicationId: null,
              reason: 'Ticket 7',
              context: { ticket: 7 },
              usedById: support.id,
              actor: { type: 'APPLICATION', application: { id: service.admin.id } },
            },
          },
        ],
      },
    },
  });
});

describe('an agent who is a user', async () => {
  const agent = await directory.createUser();
  await directory.allowUser(agent, management, ['users:write']);
  const tool = await directory.createClient({
    allowTokenExchange: true,
    exchangeResources: [management.indicator],
  });
  const spa = await directory.createClient({ type: 'SPA' });
  /** A token for the management API, which a support tool got for the agent. */
  const agentToken = async () =>
    String(
      (
        await exchange(service, tool, {
          subject_token: await userToken(service, agent.id, spa),
          resource: management.indicator,
          scope: 'users:write',
        })
      ).body['access_token'],
    );
  const createAs = async () =>
    createMaker(overGraphQL(service, await agentToken())).done('createSubjectToken', {
      userId: user.id,
      reason: 'A call',
    });

  test('is in the chain with the tool it used', async () => {
    const { body } = await redeem((await createAs()).token);
    expect(decodeJwt(String(body['access_token']))['act']).toEqual({
      sub: support.id,
      act: { sub: agent.id, act: { sub: tool.id } },
    });
  });

  test('loses the token by a sign-out or a suspension', async () => {
    service.clock.advance(1_000);
    const beforeSignOut = await createAs();
    await done('signOutUser', { id: agent.id });
    expect(await redeem(beforeSignOut.token)).toMatchObject(refused());
    service.clock.advance(1_000);
    const beforeSuspension = await createAs();
    await done('updateUserSuspensionStatus', { id: agent.id, isSuspended: true });
    expect(await redeem(beforeSuspension.token)).toMatchObject(refused());
    await done('updateUserSuspensionStatus', { id: agent.id, isSuspended: false });
    service.clock.advance(1_000);
  });

  test.each([
    ['signOutUser', {}],
    ['updateUserSuspensionStatus', { isSuspended: true }],
    ['updateUserPassword', { password: 'long enough' }],
    ['deleteUser', {}],
  ])('loses what was issued by %s', async (operation, input) => {
    const { body } = await redeem((await createAs()).token);
    const issued = String(body['access_token']);
    const others = String((await redeem((await create()).token)).body['access_token']);
    expect(await isLive(issued)).toBe(true);
    await done(operation, { id: agent.id, ...input });
    expect(await isLive(issued)).toBe(false);
    expect(await isLive(others)).toBe(true);
    if ('isSuspended' in input) {
      await done(operation, { id: agent.id, isSuspended: false });
    }
    service.clock.advance(1_000);
  });
});

test('an agent that is an application ends with what was issued', async () => {
  const agent = await directory.createClient();
  await directory.allowClient(agent, management, ['users:write']);
  const asAgent = overGraphQL(service, await service.managementToken('users:write', agent));
  const begin = () =>
    createMaker(asAgent).done('createSubjectToken', { userId: user.id, reason: 'A call' });
  const unused = await begin();
  const issued = String((await redeem((await begin()).token)).body['access_token']);
  expect(await isLive(issued)).toBe(true);
  await done('deleteApplication', { id: agent.id });
  expect(await isLive(issued)).toBe(false);
  expect(await redeem(unused.token)).toMatchObject(refused());
});

describe('single use', () => {
  test('holds for many at once on two nodes', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { token } = await create();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          redeem(token, {}, support, i % 2 === 0 ? service : node),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 400)]);
      expect(await redeem(token)).toMatchObject(refused());
    }
  });

  test('is not spent by a refused exchange', async () => {
    const { token } = await create();
    for (const parameters of [
      { resource: 'https://unknown.example.com' },
      { scope: 'a  b' },
      { audience: 'https://other.example.com' },
      { requested_token_type: 'x' },
      { organization_id: 'org_01h455vb4pex5vsknk084sn02q' },
    ]) {
      expect((await redeem(token, parameters)).status).toBe(400);
    }
    expect((await redeem(token, {}, { ...support, secret: 'wrong' })).status).toBe(401);
    expect((await redeem(token)).status).toBe(200);
  });
});

describe('is refused', () => {
  test('by an application that does not allow impersonation', async () => {
    const { token } = await create();
    expect(await redeem(token, {}, backend)).toMatchObject(refused('unauthorized_client'));
    expect((await redeem(token)).status).toBe(200);
  });

  test('by an application for which the exchange is off', async () => {
    const off = await directory.createClient({ allowImpersonation: true });
    expect(await redeem((await create()).token, {}, off)).toMatchObject(
      refused('unauthorized_client'),
    );
  });

  test('by another application than the one it names', async () => {
    const other = await directory.createClient({
      allowTokenExchange: true,
      allowImpersonation: true,
    });
    const { token } = await create({ applicationId: other.id });
    expect(await redeem(token)).toMatchObject(refused());
    expect((await redeem(token, {}, other)).status).toBe(200);
  });

  test('as another type of token', async () => {
    const { token } = await create();
    for (const subject_token_type of [
      accessTokenType,
      'urn:signet:params:oauth:token-type:personal_access_token',
      'urn:ietf:params:oauth:token-type:jwt',
    ]) {
      const { status } = await redeem(token, { subject_token_type });
      expect(status).toBe(400);
    }
    const jwt = await userToken(service, user.id, backend);
    expect(await redeem(jwt)).toMatchObject(refused());
  });

  test.each(['x', 'subtoken_', 'a\0b', '\u{1f600}', `subtoken_${'x'.repeat(10_000)}`])(
    'when it is hostile: %#',
    async (token) => {
      expect(await redeem(token)).toMatchObject(refused());
    },
  );

  test("for Signet's own APIs, listed or not", async () => {
    const listed = await directory.createClient({
      allowTokenExchange: true,
      allowImpersonation: true,
      exchangeResources: [management.indicator, orders.indicator],
    });
    const { token } = await create();
    expect(await redeem(token, { resource: management.indicator }, listed)).toMatchObject(
      refused('invalid_target'),
    );
    expect((await redeem(token, {}, listed)).status).toBe(200);
  });

  test("for Signet's own APIs by a detour over another", async () => {
    const relay = await directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [management.indicator, 'urn:signet:account', orders.indicator],
    });
    let subject = String((await redeem((await create()).token)).body['access_token']);
    for (let step = 0; step < 2; step += 1) {
      for (const resource of [management.indicator, 'urn:signet:account']) {
        expect(await exchange(service, relay, { subject_token: subject, resource })).toMatchObject(
          refused('invalid_target'),
        );
      }
      const { body } = await exchange(service, relay, {
        subject_token: subject,
        resource: orders.indicator,
      });
      subject = String(body['access_token']);
    }
  });

  test('after ten minutes', async () => {
    const { token } = await create();
    service.clock.advance(600_000);
    expect(await redeem(token)).toMatchObject(refused());
  });
});

describe('what is issued', () => {
  const issue = async () => {
    const one = await customer();
    const { token } = await create({ userId: one.id });
    const unused = await create({ userId: one.id });
    const { body } = await redeem(token);
    return { id: one.id, issued: String(body['access_token']), unused: unused.token };
  };

  test.each([
    ['signOutUser', {}],
    ['updateUserSuspensionStatus', { isSuspended: true }],
    ['updateUserPassword', { password: 'long enough' }],
    ['deleteUser', {}],
  ])('ends with %s, and so does an unused token', async (operation, input) => {
    const { id, issued, unused } = await issue();
    expect(await isLive(issued)).toBe(true);
    await done(operation, { id, ...input });
    expect(await isLive(issued)).toBe(false);
    expect(await redeem(unused)).toMatchObject(refused());
  });

  test('is exchanged further, and revoked with all below', async () => {
    const { issued } = await issue();
    const next = await exchange(service, backend, {
      subject_token: issued,
      resource: orders.indicator,
    });
    const below = String(next.body['access_token']);
    expect(decodeJwt(below)['act']).toEqual({
      sub: backend.id,
      act: { sub: support.id, act: { sub: service.admin.id } },
    });
    await fetch(`${service.url}/oidc/token/revocation`, {
      method: 'POST',
      headers: { authorization: basic(support.id, support.secret) },
      body: new URLSearchParams({ token: issued }),
    });
    expect(await isLive(below)).toBe(false);
  });
});

describe('createSubjectToken refuses', () => {
  test.each([
    ['a suspended user', async () => ({ userId: (await suspended()).id })],
    ['an application without impersonation', async () => ({ applicationId: backend.id })],
  ])('%s', async (_what, input) => {
    const before = await prisma.subjectToken.count();
    const outcome = await call('createSubjectToken', {
      userId: user.id,
      reason: 'Ticket 7',
      ...(await input()),
    });
    expect(outcome.code).toBe('NOT_ALLOWED');
    expect(await prisma.subjectToken.count()).toBe(before);
  });
  const suspended = () => directory.createUser({ isSuspended: true });
});

test('at most 100 wait for a user, on two nodes at once', async () => {
  const one = await customer();
  await prisma.subjectToken.createMany({
    data: Array.from({ length: 100 }, (_, i) => ({
      id: newId('SubjectToken'),
      userId: one.id,
      digest: new Uint8Array(randomBytes(32)),
      reason: 'Ticket 7',
      actor: {},
      act: {},
      createdAt: service.clock.now(),
      expiresAt: new Date(service.clock.now().getTime() + (i === 0 ? -1 : 60_000)),
      usedAt: i === 1 ? service.clock.now() : null,
    })),
  });
  const elsewhere = overGraphQL(node, await service.managementToken());
  const input = { userId: one.id, reason: 'Ticket 8' };
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, i) => (i % 2 ? elsewhere : call)('createSubjectToken', input)),
  );
  expect(outcomes.map(({ code }) => code).sort()).toEqual([
    ...Array(6).fill('NOT_ALLOWED'),
    'OK',
    'OK',
  ]);
  // One that is used makes room, and so do those that expire.
  const [made] = outcomes.filter(({ code }) => code === 'OK');
  expect((await redeem(made?.payload.token)).status).toBe(200);
  await create(input);
  await expect(create(input)).rejects.toThrow('NOT_ALLOWED');
  service.clock.advance(61_000);
  await create(input);
});

describe('client libraries', () => {
  const server: oauth.AuthorizationServer = {
    issuer: services.issuer,
    token_endpoint: `${service.url}/oidc/token`,
  };

  test('openid-client exchanges it', async () => {
    const configuration = new openid.Configuration(
      server,
      support.id,
      undefined,
      openid.ClientSecretPost(support.secret),
    );
    openid.allowInsecureRequests(configuration);
    const answer = await openid.genericGrantRequest(configuration, exchangeGrantType, {
      subject_token: (await create()).token,
      subject_token_type: subjectTokenType,
      resource: orders.indicator,
      scope: 'read',
    });
    expect(answer).toMatchObject({ token_type: 'bearer', scope: 'read' });
  });

  test('oauth4webapi exchanges it', async () => {
    const client: oauth.Client = { client_id: support.id };
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      oauth.ClientSecretBasic(support.secret),
      exchangeGrantType,
      {
        subject_token: (await create()).token,
        subject_token_type: subjectTokenType,
        resource: orders.indicator,
      },
      { [oauth.allowInsecureRequests]: true },
    );
    const answer = await oauth.processGenericTokenEndpointResponse(server, client, response);
    expect(answer).toMatchObject({ token_type: 'bearer', scope: '' });
  });
});

test('expired ones are purged as events are', async () => {
  const { subjectToken } = await create();
  const where = { id: subjectToken.id };
  const keptMs = services.config.eventRetentionDays * 24 * 60 * 60 * 1000;
  // The database's clock counts too, which no test moves.
  for (const [late, left] of [
    [-60_000, 1],
    [60_000, 0],
  ] as const) {
    const expiresAt = new Date(Date.now() - keptMs - late);
    await prisma.subjectToken.update({ where, data: { expiresAt } });
    await quietTransaction(services.database, purgeSubjectTokens(services));
    expect(await prisma.subjectToken.count({ where })).toBe(left);
  }
});
