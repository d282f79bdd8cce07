import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { basic } from '../../support/client-credentials.ts';
import { send } from '../../support/operations/graphql.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { exchange, formOf } from '../../support/tokens.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { client, resource, directory, user, database } = fixture;
// A second node on the same database.
const node = await startApp({
  config: readConfig({ PORT: '0', BASE_URL: service.app.services.baseUrl }),
  log: pino({ level: 'silent' }),
  clock: service.clock,
  opened: { database, secret: 'a secret for tests only' },
});
afterAll(() => node.stop());

const management = await database.prisma.resource.findUniqueOrThrow({
  where: { indicator: 'urn:signet:management' },
});
await directory.allowUser(user, management, ['users:read']);
const backends = await Promise.all(
  Array.from({ length: 3 }, () =>
    directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [resource.indicator, management.indicator],
    }),
  ),
);
const forApi = { resource: resource.indicator, scope: 'openid offline_access read' };

const post = async (
  path: string,
  parameters: Record<string, string>,
  by = client,
  url = service.url,
) => {
  const response = await fetch(`${url}/oidc/${path}`, {
    method: 'POST',
    headers: { authorization: basic(by.id, by.secret) },
    body: formOf(parameters),
  });
  const text = await response.text();
  return { status: response.status, body: text ? JSON.parse(text) : {} };
};
const isActive = async (token: string) => {
  const { status, body } = await post('token/introspection', { token });
  expect(status).toBe(200);
  return body.active as boolean;
};

/** The token of a sign-in, and what each backend in turn makes of the one before. */
async function chainFrom(subject: string): Promise<string[]> {
  const chain = [subject];
  for (const backend of backends) {
    const { status, body } = await exchange(service, backend, {
      subject_token: chain.at(-1) as string,
      resource: resource.indicator,
    });
    expect(status).toBe(200);
    chain.push(String(body['access_token']));
  }
  return chain;
}
const states = async (chain: readonly string[]) => Promise.all(chain.map(isActive));

test('a revoked token ends only its descendants', async () => {
  const chain = await chainFrom((await fixture.signIn(forApi)).access_token);
  expect(await states(chain)).toEqual([true, true, true, true]);
  await post('token/revocation', { token: chain[1] as string }, backends[0]);
  expect(await states(chain)).toEqual([true, false, false, false]);
  const again = await exchange(service, backends[2] as never, {
    subject_token: chain[2] as string,
    resource: resource.indicator,
  });
  expect(again).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  await post('token/revocation', { token: chain[0] as string });
  expect(await states(chain)).toEqual([false, false, false, false]);
});

test('a revoked or reused refresh token ends the whole chain', async () => {
  for (const end of ['revoked', 'used twice']) {
    const tokens = await fixture.signIn(forApi);
    const chain = await chainFrom(tokens.access_token);
    const token = tokens.refresh_token ?? '';
    if (end === 'revoked') await post('token/revocation', { token });
    else {
      const use = () => post('token', { grant_type: 'refresh_token', refresh_token: token });
      const { body } = await use();
      chain.push(body.access_token);
      expect((await use()).status).toBe(400);
    }
    expect(new Set(await states(chain)), end).toEqual(new Set([false]));
  }
});

test('an exchanged token for the management API ends there too', async () => {
  const tokens = await fixture.signIn(forApi);
  const { body } = await exchange(service, backends[0] as never, {
    subject_token: tokens.access_token,
    resource: management.indicator,
    scope: 'users:read',
  });
  const ask = () =>
    send({ url: service.url, token: String(body['access_token']) }, '{ users { totalCount } }');
  expect((await ask()).status).toBe(200);
  await post('token/revocation', { token: tokens.refresh_token ?? '' });
  expect((await ask()).status).toBe(401);
});

describe.each([
  ['a resource', forApi],
  ['user info', { scope: 'openid offline_access' }],
])('a code for %s', (_what, parameters) => {
  test('concurrent redemption on two nodes leaves no live token', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { url, verifier } = await authorize(service, client, parameters);
      const browser = openBrowser(service.app.services.baseUrl);
      const page = await browser.open(url);
      const visit = await browser.submit(page, { identifier: 'Ada', password });
      const code = visit.url.searchParams.get('code') ?? '';
      const answers = await Promise.all(
        [service.url, node.url, service.url].map((at) =>
          post(
            'token',
            {
              grant_type: 'authorization_code',
              code,
              code_verifier: verifier,
              redirect_uri: redirectUri,
            },
            client,
            at,
          ),
        ),
      );
      const issued = answers.filter(({ status }) => status === 200);
      expect(issued.length).toBeLessThanOrEqual(1);
      for (const { body } of issued) {
        expect(await states([body.access_token, body.refresh_token])).toEqual([false, false]);
      }
      // The session goes on: the next sign-in has a grant of its own.
      const next = await fixture.signIn({ browser, ...parameters });
      expect(await isActive(next.access_token)).toBe(true);
    }
  });
});
