import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { accountIndicator, managementIndicator } from '../../../../src/auth/scopes.ts';
import type { TestClient } from '../../../support/operations/directory.ts';
import { ask, graphql } from '../../../support/operations/graphql.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { createSignInFixture } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';
import { exchange, isActive, userToken } from '../../../support/tokens.ts';
import { consentDriver, type Pair } from '../../consent/driver.ts';

// A person lets a third party manage people, which then makes personal access tokens.
const service = await startService();
const fixture = await createSignInFixture(service);
const { directory, resource, database } = fixture;
const token = await service.managementToken();
const make = createMaker(overGraphQL(service, token));
const { createPair, begin, redeem, grantsOf } = consentDriver(service, fixture);

const management = await database.prisma.resource.findUniqueOrThrow({
  where: { indicator: managementIndicator },
});
const customer = await fixture.createUser();
await directory.allowUser(customer, resource, ['read', 'write']);

const switches = { allowTokenExchange: true, allowPersonalAccessTokens: true } as const;
const careful = await directory.createClient(switches);
const open = await directory.createClient({ ...switches, exchangeThirdPartySubjectTokens: true });
const gateway = await directory.createClient({
  ...switches,
  exchangeThirdPartySubjectTokens: true,
  exchangeResources: [accountIndicator, managementIndicator],
});
const target = { resource: resource.indicator, scope: 'read write' };
const refused = {
  status: 400,
  body: { error_description: 'subject_token is refused: issued to a third-party application' },
};
const unreached = {
  status: 400,
  body: {
    error_description: 'resource is not one that the subject token may be exchanged for',
  },
};
const unknown = {
  status: 400,
  body: { error_description: 'subject_token is refused: unknown token' },
};

/** A person who manages people, and a third party. */
async function createManagement(): Promise<Pair> {
  const pair = await createPair();
  await directory.allowUser(pair.user, management, ['users:write']);
  return pair;
}

/** The token for the management API that a person allows a third party. */
async function allowed(pair: Pair): Promise<string> {
  const { browser, visit, verifier } = await begin(pair, {
    scope: 'openid users:write',
    resource: managementIndicator,
  });
  const done = /\/consent$/.test(visit.url.pathname) ? await browser.submit(visit, {}) : visit;
  return (await redeem(pair, done, verifier)).access_token;
}
const personalBy = (by: string, values: { userId: string; resource?: string; scopes?: string[] }) =>
  createMaker(overGraphQL(service, by)).done('createPersonalAccessToken', {
    name: make.next('token'),
    expiresAt: new Date(service.clock.now().getTime() + 86_400_000).toISOString(),
    ...values,
  });
const use = (by: TestClient, subject_token: string, parameters: object = {}) =>
  exchange(service, by, {
    subject_token,
    subject_token_type: 'urn:signet:params:oauth:token-type:personal_access_token',
    ...target,
    ...parameters,
  });
const swap = (by: TestClient, subject: unknown) =>
  exchange(service, by, { subject_token: String(subject), ...target });
const actOf = ({ body }: { body: Record<string, unknown> }) =>
  decodeJwt(String(body['access_token']))['act'];
const changes = async () =>
  (await database.prisma.event.findMany({ where: { type: 'User.Credential.Updated' } })).map(
    ({ data }) => data,
  );
const removalOf = ({ id }: { id: string }) =>
  expect.objectContaining({ userId: customer.id, credentialId: id, change: 'REMOVED' });

describe('a personal access token that a person created through a third party', () => {
  test.each([
    ['a customer', () => customer.id],
    ['the person', ({ user }: Pair) => user.id],
  ])('is a third party’s, along the chain, which names it innermost: for %s', async (_, of) => {
    const pair = await createManagement();
    const { token: personal } = await personalBy(await allowed(pair), { userId: of(pair) });
    expect(await use(careful, personal)).toMatchObject(refused);
    const near = await use(open, personal);
    expect(near).toMatchObject({ status: 200 });
    const chain = { sub: open.id, act: { sub: pair.client.id } };
    expect(actOf(near)).toEqual(chain);
    expect(await swap(careful, near.body['access_token'])).toMatchObject(refused);
    const far = await swap(open, near.body['access_token']);
    expect(actOf(far)).toEqual({ sub: open.id, act: chain });
    expect(await swap(careful, far.body['access_token'])).toMatchObject(refused);
  });

  test.each([accountIndicator, managementIndicator])('never leads to %s', async (indicator) => {
    const pair = await createManagement();
    const asked = { resource: indicator, scope: '' };
    const { token: personal } = await personalBy(await allowed(pair), { userId: customer.id });
    expect(await use(gateway, personal, asked)).toMatchObject(unreached);
  });

  test('never leads to the management API, be it for that', async () => {
    const pair = await createManagement();
    const { token: personal } = await personalBy(await allowed(pair), {
      userId: pair.user.id,
      resource: managementIndicator,
      scopes: ['users:write'],
    });
    const asked = { resource: managementIndicator, scope: 'users:write' };
    expect(await use(gateway, personal, asked)).toMatchObject(unreached);
  });

  test('names the application that made it', async () => {
    const pair = await createManagement();
    const { personalAccessToken } = await personalBy(await allowed(pair), { userId: customer.id });
    const { personalAccessToken: own } = await personalBy(token, { userId: customer.id });
    const { node } = await ask({ url: service.url, token }, Tokens, { id: customer.id });
    const edges = node?.__typename === 'User' ? node.personalAccessTokens.edges : [];
    const clientOf = (id: string) => edges.find((edge) => edge.node.id === id)?.node.clientId;
    expect(clientOf(personalAccessToken.id)).toBe(pair.client.id);
    expect(clientOf(own.id)).toBeNull();
  });
});

const ends: Readonly<Record<string, (pair: Pair) => Promise<unknown>>> = {
  'the consent': async ({ user }) => {
    const [grant] = await grantsOf(user);
    await make.done('revokeUserGrant', { userId: user.id, grantId: grant?.id });
  },
  'the application': ({ client: { id } }) => make.done('deleteApplication', { id }),
  'the person who allowed it': ({ user: { id } }) => make.done('deleteUser', { id }),
};

describe('ends with', () => {
  test.each(Object.entries(ends))('%s, and so does what was issued for it', async (_, end) => {
    const pair = await createManagement();
    const other = await createManagement();
    const { token: personal, personalAccessToken } = await personalBy(await allowed(pair), {
      userId: customer.id,
    });
    const { token: others } = await personalBy(await allowed(other), { userId: customer.id });
    const { body } = await use(open, personal);
    const { body: ofOthers } = await use(open, others);
    await end(pair);
    expect(await use(open, personal)).toMatchObject(unknown);
    expect(await isActive(service, open, body['access_token'])).toBe(false);
    expect(await changes()).toContainEqual(removalOf(personalAccessToken));
    expect(await use(open, others)).toMatchObject({ status: 200 });
    expect(await isActive(service, open, ofOthers['access_token'])).toBe(true);
  });

  test('the consent alone: the session in which it was made may end', async () => {
    const pair = await createManagement();
    const { token: personal } = await personalBy(await allowed(pair), { userId: customer.id });
    await make.done('signOutUser', { id: pair.user.id });
    expect(await use(open, personal)).toMatchObject({ status: 200 });
  });

  test('the consent for good: one that is given again is another', async () => {
    const pair = await createManagement();
    const { token: personal } = await personalBy(await allowed(pair), { userId: customer.id });
    await ends['the consent']?.(pair);
    const { token: later } = await personalBy(await allowed(pair), { userId: customer.id });
    expect(await use(open, personal)).toMatchObject({ status: 400 });
    expect(await use(open, later)).toMatchObject({ status: 200 });
  });
});

describe('through an application of the operator', async () => {
  const { user: manager } = await createManagement();
  const byTool = async ({ id }: Pick<TestClient, 'id'>) =>
    personalBy(
      await userToken(
        service,
        manager.id,
        { id },
        {
          aud: managementIndicator,
          scope: 'users:write',
        },
      ),
      { userId: customer.id },
    );

  test('it is exchanged as any other, and outlives the application', async () => {
    const tool = await directory.createClient({ type: 'SPA' });
    const { token: personal } = await byTool(tool);
    const answer = await use(careful, personal);
    expect(answer).toMatchObject({ status: 200, body: { scope: 'read write' } });
    expect(actOf(answer)).toEqual({ sub: careful.id });
    await make.done('deleteApplication', { id: tool.id });
    const { status, body } = await use(careful, personal);
    expect(status).toBe(200);
    expect(await isActive(service, careful, body['access_token'])).toBe(true);
  });

  test('the application counts as what it is now', async () => {
    const tool = await directory.createClient({ type: 'SPA' });
    const { token: personal } = await byTool(tool);
    const before = await use(careful, personal);
    const setThirdParty = (isThirdParty: boolean) =>
      make.done('updateApplication', { id: tool.id, isThirdParty });
    await setThirdParty(true);
    expect(await use(careful, personal)).toMatchObject(refused);
    expect(await swap(careful, before.body['access_token'])).toMatchObject(refused);
    expect(actOf(await use(open, personal))).toEqual({ sub: open.id, act: { sub: tool.id } });
    await setThirdParty(false);
    expect(await use(careful, personal)).toMatchObject({ status: 200 });
  });

  test('it ends with the application if that has become a third party’s', async () => {
    const tool = await directory.createClient({ type: 'SPA' });
    const { token: personal, personalAccessToken } = await byTool(tool);
    const { body } = await use(careful, personal);
    await make.done('updateApplication', { id: tool.id, isThirdParty: true });
    await make.done('deleteApplication', { id: tool.id });
    expect(await use(open, personal)).toMatchObject(unknown);
    expect(await isActive(service, careful, body['access_token'])).toBe(false);
    expect(await changes()).toContainEqual(removalOf(personalAccessToken));
  });

  test('a third party whom the person allows nothing gets none', async () => {
    const shop = await directory.createClient({ type: 'SPA', isThirdParty: true });
    await expect(byTool(shop)).rejects.toThrow(/allows the application nothing/);
  });
});

const Tokens = graphql(`
  query TokensAndTheirClients($id: ID!) {
    node(id: $id) {
      __typename
      ... on User { personalAccessTokens(first: 100) { edges { node { id clientId } } } }
    }
  }
`);
