import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { managementIndicator } from '../../../../src/auth/scopes.ts';
import type { TestClient } from '../../../support/operations/directory.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { createSignInFixture } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';
import { exchange, isActive, userToken } from '../../../support/tokens.ts';
import { consentDriver } from '../../consent/driver.ts';

// An agent lets a third party manage people, which then acts for one of them.
const service = await startService();
const fixture = await createSignInFixture(service);
const { directory, resource, database } = fixture;
const { done } = createMaker(overGraphQL(service, await service.managementToken()));
const { createPair, begin, redeem, grantsOf } = consentDriver(service, fixture);

const management = await database.prisma.resource.findUniqueOrThrow({
  where: { indicator: managementIndicator },
});
const pair = await createPair();
const { user: agent, client: shop } = pair;
await directory.allowUser(agent, management, ['users:write']);
const customer = await fixture.createUser();
await directory.allowUser(customer, resource, ['read', 'write']);

const switches = { allowTokenExchange: true, allowImpersonation: true } as const;
const careful = await directory.createClient(switches);
const open = await directory.createClient({ ...switches, exchangeThirdPartySubjectTokens: true });
const target = { resource: resource.indicator, scope: 'read write' };
const refused = {
  status: 400,
  body: { error_description: 'subject_token is refused: issued to a third-party application' },
};

/** The token for the management API that the agent allowed the third party. */
async function allowed(): Promise<string> {
  const { browser, visit, verifier } = await begin(pair, {
    scope: 'openid users:write',
    resource: managementIndicator,
  });
  const done = /\/consent$/.test(visit.url.pathname) ? await browser.submit(visit, {}) : visit;
  return (await redeem(pair, done, verifier)).access_token;
}
const act = async (token: string): Promise<string> => {
  const input = { userId: customer.id, reason: 'A ticket' };
  return (await createMaker(overGraphQL(service, token)).done('createSubjectToken', input)).token;
};
const use = (by: TestClient, subject_token: string) =>
  exchange(service, by, {
    subject_token,
    subject_token_type: 'urn:signet:params:oauth:token-type:subject_token',
    ...target,
  });
const swap = (by: TestClient, token: unknown) =>
  exchange(service, by, { subject_token: String(token), ...target });

describe('a subject token that an agent created through a third party', () => {
  test('is a third party’s, along the chain, which names it innermost', async () => {
    const subject = await act(await allowed());
    expect(await use(careful, subject)).toMatchObject(refused);
    const { status, body } = await use(open, subject);
    expect({ status, body }).toMatchObject({ status: 200, body: { scope: 'read write' } });
    const chain = { sub: open.id, act: { sub: agent.id, act: { sub: shop.id } } };
    expect(decodeJwt(String(body['access_token']))['act']).toEqual(chain);
    expect(await swap(careful, body['access_token'])).toMatchObject(refused);
    const further = await swap(open, body['access_token']);
    expect(decodeJwt(String(further.body['access_token']))['act']).toEqual({
      sub: open.id,
      act: chain,
    });
    expect(await swap(careful, further.body['access_token'])).toMatchObject(refused);
  });

  test('ends with the consent, and so does what was issued for it', async () => {
    const token = await allowed();
    const waiting = await act(token);
    const { body } = await use(open, await act(token));
    const [grant] = await grantsOf(agent);
    await done('revokeUserGrant', { userId: agent.id, grantId: grant?.id });
    expect(await isActive(service, open, body['access_token'])).toBe(false);
    expect(await use(open, waiting)).toMatchObject({ status: 400 });
  });
});

test('an application counts as what it is now', async () => {
  const tool = await directory.createClient({ type: 'SPA' });
  const byTool = () =>
    userToken(service, agent.id, tool, { aud: managementIndicator, scope: 'users:write' });
  const [first, second, third] = [
    await act(await byTool()),
    await act(await byTool()),
    await act(await byTool()),
  ];
  const { status, body } = await use(careful, first);
  expect(status).toBe(200);
  expect(decodeJwt(String(body['access_token']))['act']).toEqual({
    sub: careful.id,
    act: { sub: agent.id },
  });
  await done('updateApplication', { id: tool.id, isThirdParty: true });
  expect(await use(careful, second)).toMatchObject(refused);
  const named = await use(open, second);
  expect(decodeJwt(String(named.body['access_token']))['act']).toEqual({
    sub: open.id,
    act: { sub: agent.id, act: { sub: tool.id } },
  });
  await done('updateApplication', { id: tool.id, isThirdParty: false });
  expect(await use(careful, third)).toMatchObject({ status: 200 });
  expect(await swap(careful, named.body['access_token'])).toMatchObject({ status: 200 });
});
