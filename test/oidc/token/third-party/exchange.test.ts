import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import type { AccessTokenClaims } from '../../../../src/auth/access-token.ts';
import { seedDirectory, type TestClient } from '../../../support/operations/directory.ts';
import { ask, graphql } from '../../../support/operations/graphql.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { createSignInFixture, refresh } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';
import { accessTokenType, exchange, isActive, userToken } from '../../../support/tokens.ts';
import { eventually } from '../../../support/wait.ts';
import { consentDriver, type Pair } from '../../consent/driver.ts';

const service = await startService();
const { database } = service.app.services;
const directory = seedDirectory(database, service.clock);
const token = await service.managementToken();
const { done } = createMaker(overGraphQL(service, token));

const orders = await directory.createResource(['read', 'write']);
const alice = await directory.createUser();
await directory.allowUser(alice, orders, ['read', 'write']);
const own = await directory.createClient({ type: 'SPA' });
const shop = await directory.createClient({ type: 'SPA', isThirdParty: true });
const registered = await directory.createClient({
  type: 'NATIVE',
  isThirdParty: true,
  origin: 'DYNAMIC_REGISTRATION',
});
const careful = await directory.createClient({ allowTokenExchange: true });
const open = { allowTokenExchange: true, exchangeThirdPartySubjectTokens: true } as const;
const [first, second] = [await directory.createClient(open), await directory.createClient(open)];

const swap = (
  by: TestClient,
  subject_token: unknown,
  parameters: Record<string, string | undefined> = {},
) =>
  exchange(service, by, {
    subject_token: String(subject_token),
    resource: orders.indicator,
    scope: 'read write',
    ...parameters,
  });
const claimsOf = (answer: { body: Record<string, unknown> }) =>
  decodeJwt<AccessTokenClaims>(String(answer.body['access_token']));
const refused = {
  status: 400,
  body: {
    error: 'invalid_request',
    error_description: 'subject_token is refused: issued to a third-party application',
  },
};
const switched = (client: TestClient, exchangeThirdPartySubjectTokens: boolean | null) =>
  done('updateApplication', { id: client.id, exchangeThirdPartySubjectTokens });

describe('a token that was issued to a third-party application', () => {
  test.each([
    ['an administrator’s', shop],
    ['one that registered itself', registered],
  ])('is refused: %s', async (_which, client) => {
    const subject = await userToken(service, alice.id, client, { scope: 'read' });
    expect(await swap(careful, subject)).toMatchObject(refused);
    const answer = await swap(careful, await userToken(service, alice.id, own));
    expect(answer).toMatchObject({ status: 200, body: { scope: 'read write' } });
    expect(claimsOf(answer).act).toEqual({ sub: careful.id });
  });

  test('is exchanged with the setting, and `act` names the third party innermost', async () => {
    const answer = await swap(first, await userToken(service, alice.id, shop));
    expect(answer).toMatchObject({ status: 200, body: { scope: 'read write' } });
    expect(claimsOf(answer)).toMatchObject({
      sub: alice.id,
      client_id: first.id,
      act: { sub: first.id, act: { sub: shop.id } },
    });
  });

  test('is refused at any distance: each application needs the setting', async () => {
    const near = await swap(first, await userToken(service, alice.id, shop));
    const far = await swap(second, near.body['access_token']);
    expect(claimsOf(far).act).toEqual({
      sub: second.id,
      act: { sub: first.id, act: { sub: shop.id } },
    });
    const farther = await swap(first, far.body['access_token']);
    expect(farther).toMatchObject({ status: 200 });
    for (const { body } of [near, far, farther])
      expect(await swap(careful, body['access_token'])).toMatchObject(refused);
  });

  test('obeys the setting at once', async () => {
    const client = await directory.createClient({ allowTokenExchange: true });
    const subject = await userToken(service, alice.id, shop);
    for (const [isOn, expected] of [
      [false, refused],
      [true, { status: 200 }],
      [null, refused],
    ] as const) {
      await switched(client, isOn);
      expect(await swap(client, subject)).toMatchObject(expected);
    }
  });

  test('counts as an actor of the chain, of which there are no more than eight', async () => {
    let subject: unknown = await userToken(service, alice.id, shop);
    for (let actors = 1; actors < 8; actors += 1) {
      const answer = await swap(first, subject);
      expect(answer).toMatchObject({ status: 200 });
      subject = answer.body['access_token'];
    }
    expect(await swap(first, subject)).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
  });

  test('keeps its organization', async () => {
    const organization = await directory.createOrganization();
    await directory.addMember(organization, alice, { resource: orders, resourceScopes: ['read'] });
    const subject = await userToken(service, alice.id, shop, { organization_id: organization.id });
    expect(await swap(careful, subject)).toMatchObject(refused);
    expect(claimsOf(await swap(first, subject))).toMatchObject({
      organization_id: organization.id,
      act: { sub: first.id, act: { sub: shop.id } },
    });
  });

  test.each(['urn:signet:account', 'urn:signet:management'])(
    'never leads to %s, at any distance',
    async (resource) => {
      const near = await swap(first, await userToken(service, alice.id, shop));
      const gateway = await directory.createClient({
        ...open,
        exchangeResources: [resource, orders.indicator],
      });
      for (const one of [await userToken(service, alice.id, shop), near.body['access_token']]) {
        expect(await swap(gateway, one)).toMatchObject({ status: 200 });
        expect(await swap(gateway, one, { resource, scope: 'account:read all' })).toMatchObject({
          status: 400,
          body: { error: 'invalid_target' },
        });
      }
      const ours = await userToken(service, alice.id, own);
      expect(await swap(gateway, ours, { resource, scope: '' })).toMatchObject({ status: 200 });
      const asked = { applicationId: gateway.id, userId: alice.id, subjectClientId: shop.id };
      const explained = await ask({ url: service.url, token }, Explain, { ...asked, resource });
      expect(
        explained.explainTokenExchange.rules.filter(({ isMet }) => isMet === false),
      ).toMatchObject([{ rule: 'RESOURCE_REACHED', error: 'invalid_target' }]);
    },
  );

  test('says nothing to whom it is not due: the secret and the token come first', async () => {
    const subject = await userToken(service, alice.id, shop);
    expect(await swap({ ...careful, secret: 'wrong' }, subject)).toMatchObject({ status: 401 });
    const off = await directory.createClient();
    expect(await swap(off, subject)).toMatchObject({ body: { error: 'unauthorized_client' } });
    const forged = await swap(careful, `${subject}x`);
    expect(String(forged.body['error_description'])).not.toMatch(/third-party/);
  });
});

describe('what an application is, is asked now', () => {
  test('one that becomes a third party’s, wherever it is in the chain', async () => {
    const [client, middle] = [
      await directory.createClient({ type: 'TRADITIONAL' }),
      await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true }),
    ];
    const subject = await userToken(service, alice.id, client);
    const passed = await swap(middle, subject);
    const further = await swap(careful, passed.body['access_token']);
    expect(further).toMatchObject({ status: 200 });
    const isThirdParty = true;
    await done('updateApplication', { id: middle.id, allowTokenExchange: false, isThirdParty });
    for (const { body } of [passed, further])
      expect(await swap(careful, body['access_token'])).toMatchObject(refused);
    expect(await swap(careful, subject)).toMatchObject({ status: 200 });
    await done('updateApplication', { id: client.id, isThirdParty });
    expect(await swap(careful, subject)).toMatchObject(refused);
    expect(await swap(first, passed.body['access_token'])).toMatchObject({ status: 200 });
  });

  test('one that exchanged the token for another actor', async () => {
    const agent = await directory.createClient();
    const client = await directory.createClient({
      type: 'TRADITIONAL',
      allowTokenExchange: true,
      mayActFor: [agent.id],
    });
    const passed = await swap(client, await userToken(service, alice.id, own), {
      actor_token: await userToken(service, alice.id, agent),
      actor_token_type: accessTokenType,
    });
    const further = await swap(careful, passed.body['access_token']);
    expect(claimsOf(further).act).toEqual({
      sub: careful.id,
      act: { sub: alice.id, client_id: agent.id },
    });
    await done('updateApplication', {
      id: client.id,
      allowTokenExchange: false,
      mayActFor: [],
      isThirdParty: true,
    });
    for (const { body } of [passed, further])
      expect(await swap(careful, body['access_token'])).toMatchObject(refused);
  });

  test('one that ceases to be', async () => {
    const client = await directory.createClient({ type: 'TRADITIONAL', isThirdParty: true });
    const subject = await userToken(service, alice.id, client);
    const passed = await swap(first, subject);
    await done('updateApplication', { id: client.id, isThirdParty: false });
    for (const one of [subject, passed.body['access_token']])
      expect(await swap(careful, one)).toMatchObject({ status: 200 });
  });

  test('one that is deleted ends all that comes from its token', async () => {
    const client = await directory.createClient({ type: 'TRADITIONAL', isThirdParty: true });
    const subject = await userToken(service, alice.id, client);
    const passed = await swap(first, subject);
    await done('deleteApplication', { id: client.id });
    for (const one of [subject, passed.body['access_token']])
      expect(await swap(second, one)).toMatchObject({ status: 400 });
    expect(await isActive(service, first, passed.body['access_token'])).toBe(false);
  });
});

describe('after a sign-in', async () => {
  const fixture = await createSignInFixture(service);
  const { createPair, begin, redeem, grantsOf } = consentDriver(service, fixture);

  /** What an application gets for a person who allows it. */
  async function allowed(pair: Pair) {
    const { browser, visit, verifier } = await begin(pair, {
      scope: 'openid offline_access read',
      resource: fixture.resource.indicator,
    });
    return redeem(pair, await browser.submit(visit, {}), verifier);
  }
  const parameters = { resource: fixture.resource.indicator, scope: 'read' };

  test('a refreshed token is as the first one', async () => {
    const pair = await createPair();
    const tokens = await allowed(pair);
    const refreshed = await refresh(service, pair.client, String(tokens.refresh_token));
    for (const { access_token } of [tokens, refreshed]) {
      expect(await swap(careful, access_token, parameters)).toMatchObject(refused);
      const answer = await swap(first, access_token, parameters);
      expect(answer).toMatchObject({ status: 200, body: { scope: 'read' } });
      expect(claimsOf(answer).act).toEqual({ sub: first.id, act: { sub: pair.client.id } });
    }
  });

  test('consent that is withdrawn ends what was exchanged', async () => {
    const pair = await createPair();
    const { access_token } = await allowed(pair);
    const passed = await swap(first, access_token, parameters);
    expect(passed).toMatchObject({ status: 200 });
    const [grant] = await grantsOf(pair.user);
    await done('revokeUserGrant', { userId: pair.user.id, grantId: grant?.id });
    expect(await isActive(service, first, passed.body['access_token'])).toBe(false);
    for (const one of [access_token, passed.body['access_token']])
      expect(await swap(second, one, parameters)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', error_description: expect.stringMatching(/revoked/) },
      });
  });

  test('an MCP server that is its own application calls the API behind it', async () => {
    const server = await directory.createResource(['tools']);
    const pair = await createPair({ type: 'NATIVE', origin: 'DYNAMIC_REGISTRATION' });
    const mcp = await directory.createClient({
      ...open,
      exchangeSubjectAudiences: [server.indicator],
      exchangeResources: [orders.indicator],
    });
    const subject = await userToken(service, alice.id, pair.client, {
      aud: server.indicator,
      scope: 'tools',
    });
    const answer = await swap(mcp, subject);
    expect(answer).toMatchObject({ status: 200, body: { scope: 'read write' } });
    expect(claimsOf(answer)).toMatchObject({
      sub: alice.id,
      act: { sub: mcp.id, act: { sub: pair.client.id } },
    });
    const elsewhere = await userToken(service, alice.id, pair.client, { scope: 'tools' });
    expect(await swap(mcp, elsewhere)).toMatchObject({ status: 400 });
  });
});

describe('who may switch it on', () => {
  test.each(['SPA', 'NATIVE'])('no application of type %s', async (type) => {
    const input = { name: 'x', type, exchangeThirdPartySubjectTokens: true };
    await expect(done('createApplication', input)).rejects.toThrow(/cannot exchange tokens/);
  });

  test('no third party itself', async () => {
    const input = { name: 'x', type: 'TRADITIONAL', isThirdParty: true };
    await expect(
      done('createApplication', { ...input, exchangeThirdPartySubjectTokens: true }),
    ).rejects.toThrow(/third-party application may not exchange/);
  });
});

test('the refusal’s event and the explanation name the rule', async () => {
  expect(await swap(careful, await userToken(service, alice.id, shop))).toMatchObject(refused);
  const events = await eventually(async () => {
    const found = await database.prisma.event.findMany({ where: { type: 'Token.Refused' } });
    const mine = found.map(({ data }) => data).filter((data) => isOf(data));
    expect(mine).not.toEqual([]);
    return mine;
  });
  expect(events[0]).toMatchObject({
    rule: 'SUBJECT_CONSENT',
    error: 'invalid_request',
    applicationId: careful.id,
    userId: alice.id,
    resource: orders.indicator,
  });
  const explained = async (applicationId: string, subjectClientId: string | null) => {
    const variables = { applicationId, subjectClientId };
    const { explainTokenExchange } = await ask({ url: service.url, token }, Explain, {
      userId: alice.id,
      resource: orders.indicator,
      ...variables,
    });
    const { rules, isGranted } = explainTokenExchange;
    return { isGranted, broken: rules.filter(({ isMet }) => isMet === false) };
  };
  const broken = {
    rule: 'SUBJECT_CONSENT',
    error: 'invalid_request',
    errorDescription: refused.body.error_description,
  };
  expect(await explained(careful.id, shop.id)).toMatchObject({
    isGranted: false,
    broken: [broken],
  });
  expect(await explained(first.id, shop.id)).toEqual({ isGranted: true, broken: [] });
  for (const subject of [own.id, null])
    expect(await explained(careful.id, subject)).toEqual({ isGranted: true, broken: [] });
  expect(await explained(careful.id, 'app_01h455vb4pex5vsknk084sn02q')).toMatchObject({
    isGranted: false,
    broken: [{ rule: 'SUBJECT_TOKEN' }],
  });
});

const isOf = (data: unknown) => (data as { rule?: unknown }).rule === 'SUBJECT_CONSENT';

const Explain = graphql(`
  query ExplainThirdParty($applicationId: ID!, $userId: ID!, $resource: String!, $subjectClientId: ID) {
    explainTokenExchange(
      applicationId: $applicationId, userId: $userId, resource: $resource, subjectClientId: $subjectClientId
    ) { isGranted rules { rule isMet error errorDescription } }
  }
`);
