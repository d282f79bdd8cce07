import { describe, expect, test } from 'vitest';
import { send } from '../../support/operations/graphql.ts';
import { asPage, step } from '../../support/people/experience.ts';
import { createSignInFixture, password, refresh } from '../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { exchange, isActive } from '../../support/tokens.ts';
import { answerOf, asksConsent, consentDriver, type Pair } from './driver.ts';

const service = await startService();
const { prisma } = service.app.services.database;
const fixture = await createSignInFixture(service);
const { resource } = fixture;
const { createPair, begin, signedIn, redeem, grantsOf } = consentDriver(service, fixture);
const backend = await fixture.directory.createClient({
  allowTokenExchange: true,
  exchangeThirdPartySubjectTokens: true,
});
const otherNode = await startSecondNode(service);

/** The tokens of an application that a person has just allowed. */
async function allowed(pair: Pair) {
  const { browser, visit, verifier } = await begin(pair, {
    scope: 'openid offline_access read',
    resource: resource.indicator,
  });
  const done = await browser.submit(visit, {});
  return { browser, tokens: await redeem(pair, done, verifier) };
}

const mutate = async (document: string, variables: Record<string, string>, node = service) =>
  send<Record<string, { __typename: string; [field: string]: unknown }>, Record<string, string>>(
    { url: node.url, token: await service.managementToken() },
    document,
    variables,
  );

const revoke = (userId: string, grantId: string, node = service) =>
  mutate(
    `mutation ($userId: ID!, $grantId: ID!) { revokeUserGrant(input: { userId: $userId, grantId: $grantId }) {
       __typename ... on RevokeUserGrantPayload { grant { id scopes application { name } } } } }`,
    { userId, grantId },
    node,
  );

const isLive = (token: string, node = service) => isActive(node, backend, token);

/** Everything that the application has got is dead. */
async function expectEnded(pair: Pair, tokens: Awaited<ReturnType<typeof allowed>>['tokens']) {
  for (const node of [service, otherNode])
    expect(await isLive(tokens.access_token, node)).toBe(false);
  expect(
    await exchange(service, backend, {
      subject_token: tokens.access_token,
      resource: resource.indicator,
    }),
  ).toMatchObject({ status: 400 });
  await expect(refresh(service, pair.client, String(tokens.refresh_token))).rejects.toMatchObject({
    error: 'invalid_grant',
  });
}

test('ends all tokens at once, on every node, and asks again', async () => {
  const pair = await createPair();
  const { browser, tokens } = await allowed(pair);
  expect(await isLive(tokens.access_token)).toBe(true);
  const exchanged = await exchange(service, backend, {
    subject_token: tokens.access_token,
    resource: resource.indicator,
  });
  const [grant] = await grantsOf(pair.user);
  const { data } = await revoke(pair.user.id, grant?.id ?? '', otherNode);
  expect(data?.['revokeUserGrant']).toEqual({
    __typename: 'RevokeUserGrantPayload',
    grant: {
      id: grant?.id,
      scopes: ['offline_access', 'openid', 'read'],
      application: { name: 'Garden Shop' },
    },
  });
  await expectEnded(pair, tokens);
  expect(await isLive(String(exchanged.body['access_token']))).toBe(false);
  const again = await begin(pair, {}, browser);
  expect(asksConsent(again.visit)).toBe(true);
});

test('refuses a code that was issued before', async () => {
  const pair = await createPair();
  const { browser, visit, verifier } = await begin(pair);
  const done = await browser.submit(visit, {});
  const [grant] = await grantsOf(pair.user);
  await revoke(pair.user.id, grant?.id ?? '');
  await expect(redeem(pair, done, verifier)).rejects.toMatchObject({ error: 'invalid_grant' });
});

test('ends an application whose access token has expired, and is listed still', async () => {
  const pair = await createPair();
  const { tokens } = await allowed(pair);
  service.clock.advance(2 * 3_600_000);
  const [grant] = await grantsOf(pair.user);
  const { data } = await revoke(pair.user.id, grant?.id ?? '');
  expect(data?.['revokeUserGrant']?.__typename).toBe('RevokeUserGrantPayload');
  await expectEnded(pair, tokens);
});

test('a refresh that meets it leaves nothing alive', async () => {
  for (let time = 0; time < 5; time += 1) {
    const pair = await createPair();
    const { tokens } = await allowed(pair);
    const [grant] = await grantsOf(pair.user);
    const again = (token = tokens.refresh_token) =>
      refresh(service, pair.client, String(token), { resource: resource.indicator }).catch(
        () => undefined,
      );
    const [, ...refreshed] = await Promise.all([
      revoke(pair.user.id, grant?.id ?? '', otherNode),
      ...Array.from({ length: 3 }, () => again()),
    ]);
    for (const answer of refreshed) {
      if (!answer) continue;
      expect(await isLive(answer.access_token)).toBe(false);
      expect(await again(answer.refresh_token)).toBeUndefined();
    }
  }
});

test("leaves other people's and other applications' tokens alone", async () => {
  const pair = await createPair();
  const other = { user: pair.user, client: (await createPair()).client };
  const stranger = { user: (await createPair()).user, client: pair.client };
  const [, beside, apart] = [await allowed(pair), await allowed(other), await allowed(stranger)];
  const grant = (await grantsOf(pair.user)).find((one) => one.applicationId === pair.client.id);
  await revoke(pair.user.id, grant?.id ?? '');
  expect(await isLive(beside.tokens.access_token)).toBe(true);
  expect(await isLive(apart.tokens.access_token)).toBe(true);
});

test("does not find another person's grant", async () => {
  const pair = await createPair();
  await allowed(pair);
  const [grant] = await grantsOf(pair.user);
  const { data } = await revoke(fixture.user.id, grant?.id ?? '');
  expect(data?.['revokeUserGrant']?.__typename).toBe('NotFoundError');
  expect(await grantsOf(pair.user)).toHaveLength(1);
});

test('never lets a token outlive a concurrent revocation', async () => {
  const pair = await createPair();
  const { browser } = await allowed(pair);
  const [grant] = await grantsOf(pair.user);
  const [{ visit, verifier }] = await Promise.all([
    begin(pair, { scope: 'openid offline_access' }, browser),
    revoke(pair.user.id, grant?.id ?? '', otherNode),
  ]);
  if (asksConsent(visit)) return;
  await expect(redeem(pair, visit, verifier)).rejects.toMatchObject({ error: 'invalid_grant' });
});

describe('an application that is deleted', () => {
  test('takes the consents with it', async () => {
    const pair = await createPair();
    const { tokens } = await allowed(pair);
    await mutate('mutation ($id: ID!) { deleteApplication(input: { id: $id }) { __typename } }', {
      id: pair.client.id,
    });
    expect(await grantsOf(pair.user)).toEqual([]);
    expect(await isLive(tokens.access_token)).toBe(false);
  });
});

test('deletes the consents of a deleted user', async () => {
  const pair = await createPair();
  await allowed(pair);
  await mutate('mutation ($id: ID!) { deleteUser(input: { id: $id }) { __typename } }', {
    id: pair.user.id,
  });
  expect(await prisma.userGrant.count({ where: { applicationId: pair.client.id } })).toBe(0);
  expect(await prisma.userGrantScope.count({ where: { grant: { userId: pair.user.id } } })).toBe(0);
});

test('ends what an application got before it became a third party', async () => {
  const pair = await createPair({ isThirdParty: false });
  const { browser, visit, verifier } = await begin(pair, {
    scope: 'openid offline_access read',
    resource: resource.indicator,
  });
  expect(answerOf(visit)).toHaveProperty('code');
  const tokens = await redeem(pair, visit, verifier);
  await mutate(
    'mutation ($id: ID!) { updateApplication(input: { id: $id, isThirdParty: true }) { __typename } }',
    { id: pair.client.id },
  );
  await expectEnded(pair, tokens);
  expect(asksConsent((await begin(pair, {}, browser)).visit)).toBe(true);
});

test('a sign-in of somebody else, after a revocation, is recorded', async () => {
  const pair = await createPair();
  const other = await fixture.createUser();
  const { browser } = await begin(pair, {}, await signedIn(pair));
  const page = asPage(service, browser);
  await step(page, 'grantConsent');
  const { redirectTo } = await step(page, 'submitInteraction');
  const [grant] = await grantsOf(pair.user);
  await revoke(pair.user.id, grant?.id ?? '');
  // Asked again, and somebody else goes on.
  await browser.open(redirectTo);
  await step(page, 'signInWithPassword', { identifier: other.username, password });
  await step(page, 'grantConsent');
  const submitted = await step(page, 'submitInteraction');
  const replaced = await browser.open(submitted['redirectTo']);
  expect(answerOf(await browser.submit(replaced, {}))).toHaveProperty('code');
  expect(await prisma.session.count({ where: { userId: other.id } })).toBe(1);
  expect(await prisma.event.count({ where: { type: 'PostSignIn', subjectId: other.id } })).toBe(1);
});

test('lists what a user has allowed', async () => {
  const pair = await createPair();
  await allowed(pair);
  const { data } = await mutate(
    'query ($id: ID!) { user(id: $id) { __typename grants { totalCount nodes: edges { node { scopes application { id } } } } } }',
    { id: pair.user.id },
  );
  expect(data?.['user']).toMatchObject({
    grants: {
      totalCount: 1,
      nodes: [
        {
          node: {
            scopes: ['offline_access', 'openid', 'read'],
            application: { id: pair.client.id },
          },
        },
      ],
    },
  });
});
