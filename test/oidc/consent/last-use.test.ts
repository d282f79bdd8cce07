import { expect, test } from 'vitest';
import { send } from '../../support/operations/graphql.ts';
import { createSignInFixture, refresh } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { consentDriver, type Pair } from './driver.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { createPair, begin, redeem, grantsOf } = consentDriver(service, fixture);
const hour = 3_600_000;

const scope = 'openid offline_access';
async function allow(pair: Pair) {
  const { browser, visit, verifier } = await begin(pair, { scope });
  return redeem(pair, await browser.submit(visit, {}), verifier);
}
const lastUseOf = async ({ user }: Pair) => (await grantsOf(user))[0]?.lastUsedAt;
const now = () => service.clock.now();
// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
const ask = async (document: string, variables: object = {}, of = 'all'): Promise<any> =>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  send<any, object>(
    { url: service.url, token: await service.managementToken(of) },
    document,
    variables,
  );
const aboutDocument = `query ($id: ID!) { application(id: $id) { lastUsedAt
  grants { totalCount edges { node { lastUsedAt scopes user { id } } } } } }`;

test('is noted with the first token, and with later ones once an hour', async () => {
  service.clock.freeze();
  const pair = await createPair();
  const { browser, visit, verifier } = await begin(pair, { scope });
  const done = await browser.submit(visit, {});
  expect(await lastUseOf(pair)).toBeNull();
  let { refresh_token: token = '' } = await redeem(pair, done, verifier);
  const first = now();
  expect(await lastUseOf(pair)).toEqual(first);
  const again = async () => {
    ({ refresh_token: token = '' } = await refresh(service, pair.client, token));
  };
  service.clock.advance(hour);
  await again();
  expect(await lastUseOf(pair)).toEqual(first);
  service.clock.advance(1);
  await again();
  expect(await lastUseOf(pair)).toEqual(now());
});

test('a refused request is no use', async () => {
  const pair = await createPair();
  const { refresh_token: token = '' } = await allow(pair);
  const before = await lastUseOf(pair);
  service.clock.advance(2 * hour);
  await expect(refresh(service, pair.client, `${token}x`)).rejects.toThrow();
  expect(await lastUseOf(pair)).toEqual(before);
});

test('an application has the last of all people, and lists them', async () => {
  const pair = await createPair();
  const { user: other } = await createPair();
  await allow(pair);
  const { client, user } = pair;
  service.clock.advance(2 * hour);
  await allow({ client, user: other });
  const { data } = await ask(aboutDocument, { id: client.id });
  const at = (await lastUseOf({ client, user: other }))?.toISOString();
  expect(data.application).toMatchObject({
    lastUsedAt: at,
    grants: {
      totalCount: 2,
      edges: [
        { node: { scopes: ['offline_access', 'openid'], user: { id: user.id } } },
        { node: { lastUsedAt: at, user: { id: other.id } } },
      ],
    },
  });
  const { data: none } = await ask(aboutDocument, { id: fixture.client.id });
  expect(none.application).toEqual({ lastUsedAt: null, grants: { totalCount: 0, edges: [] } });
});

test('who may not read users sees none of them', async () => {
  const { client } = await createPair();
  const { errors } = await ask(aboutDocument, { id: client.id }, 'applications:read');
  expect(errors).toMatchObject([
    { extensions: { code: 'FORBIDDEN', requiredScope: 'users:read' } },
  ]);
  const { data } = await ask(
    `query ($id: ID!) { application(id: $id) { lastUsedAt } }`,
    { id: client.id },
    'applications:read',
  );
  expect(data.application).toEqual({ lastUsedAt: null });
});

test('applications are found by how they came to be, and by the host of their document', async () => {
  const { client: own } = await createPair({ name: 'Own' });
  const metadataUrl = 'https://agent.garden.example/client.json';
  const { client: agent } = await createPair({ origin: 'METADATA_DOCUMENT', metadataUrl });
  const { client: registered } = await createPair({ origin: 'DYNAMIC_REGISTRATION' });
  const find = async (filter: object) => {
    const { data } = await ask(
      `query ($filter: ApplicationFilter) { applications(first: 100, filter: $filter) { edges { node { id } } } }`,
      { filter },
    );
    return data.applications.edges.map(({ node }: { node: { id: string } }) => node.id).sort();
  };
  expect(await find({ origins: ['METADATA_DOCUMENT', 'DYNAMIC_REGISTRATION'] })).toEqual(
    [agent.id, registered.id].sort(),
  );
  expect(await find({ origins: ['ADMINISTRATION'] })).toContain(own.id);
  expect(await find({ search: 'GARDEN.example' })).toEqual([agent.id]);
});
