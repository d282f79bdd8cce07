import { decodeJwt } from 'jose';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { deleteApplication } from '../../../src/applications/operations.ts';
import { authenticate } from '../../../src/auth/caller.ts';
import { readConfig } from '../../../src/config.ts';
import { quietTransaction } from '../../../src/db/transaction.ts';
import { signCompact } from '../../../src/keys/compact-jws.ts';
import { revokeGrantsWithin } from '../../../src/oidc/provider/storage/adapter.ts';
import { systemActor } from '../../../src/services.ts';
import { createSubjectToken } from '../../../src/subject-tokens/subject-token.ts';
import { basic } from '../../support/client-credentials.ts';
import { testCall } from '../../support/log.ts';
import { send } from '../../support/operations/graphql.ts';
import { openBrowser } from '../../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { exchange, formOf, userClaims, userToken } from '../../support/tokens.ts';

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
async function chainFrom(subject: string, through = backends): Promise<string[]> {
  const chain = [subject];
  for (const backend of through) {
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
      const use = (refresh_token: string) =>
        post('token', { grant_type: 'refresh_token', refresh_token });
      const { body } = await use(token);
      chain.push(body.access_token, (await use(body.refresh_token)).body.access_token);
      expect((await use(token)).status).toBe(400);
    }
    expect(new Set(await states(chain)), end).toEqual(new Set([false]));
  }
});

test('a token of before, with `lineage`, ends as one of now does, and so does what comes from it', async () => {
  const { keys } = service.app.services;
  const { algorithm, kid, privateKey } = keys.current();
  const grant = 'the-reference-of-a-grant';
  const claims = userClaims(service, user.id, client, { aud: resource.indicator });
  const ofBefore = await signCompact(
    { algorithm, key: privateKey },
    { alg: algorithm, typ: 'at+jwt', kid },
    { ...claims, lineage: [grant] },
  );
  const chain = await chainFrom(ofBefore);
  expect(decodeJwt(chain.at(-1) as string)['urn:signet:lineage']).toContain(grant);
  expect(await Promise.all(chain.map(isActive))).toEqual(chain.map(() => true));
  await quietTransaction(database, (tx) => revokeGrantsWithin(tx, service, [grant]));
  expect(await Promise.all(chain.map(isActive))).toEqual(chain.map(() => false));
  expect(
    await exchange(service, backends[0] as never, {
      subject_token: ofBefore,
      resource: resource.indicator,
    }),
  ).toMatchObject({
    status: 400,
    body: { error: 'invalid_request' },
  });
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

describe('a deleted application', () => {
  const context = { ...service.app.services, actor: systemActor, ...testCall };
  const createBackend = () =>
    directory.createClient({
      allowTokenExchange: true,
      allowImpersonation: true,
      exchangeResources: [resource.indicator, management.indicator],
    });

  test('ends what others made of its tokens, and nothing before it', async () => {
    const [first, deleted, last] = [
      await createBackend(),
      await createBackend(),
      await createBackend(),
    ];
    const chain = await chainFrom((await fixture.signIn(forApi)).access_token, [
      first,
      deleted,
      last,
    ]);
    const { body } = await exchange(service, last, {
      subject_token: chain[2] as string,
      resource: management.indicator,
      scope: 'users:read',
    });
    const ask = () =>
      send({ url: service.url, token: String(body['access_token']) }, '{ users { totalCount } }');
    expect((await ask()).status).toBe(200);
    await deleteApplication(context, await createBackend());
    expect(await states(chain)).toEqual([true, true, true, true]);

    await deleteApplication(context, deleted);
    expect(await states(chain)).toEqual([true, true, false, false]);
    expect((await ask()).status).toBe(401);
    const again = (subject_token: string | undefined) =>
      exchange(service, first, { subject_token, resource: resource.indicator });
    expect(await again(chain[3])).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect(await again(chain[1])).toMatchObject({ status: 200 });
  });

  test('ends what others made of the token of a sign-in to it', async () => {
    const application = await fixture.createApplication();
    const chain = await chainFrom(
      (await fixture.signIn({ client: application, ...forApi })).access_token,
    );
    expect(await states(chain)).toEqual([true, true, true, true]);
    await deleteApplication(context, application);
    expect(await states(chain)).toEqual([false, false, false, false]);
  });

  test('ends it where its grant is not known any more', async () => {
    const application = await fixture.createApplication();
    const chain = await chainFrom(await userToken(service, user.id, application));
    expect(await states(chain)).toEqual([true, true, true, true]);
    await deleteApplication(context, application);
    expect(await states(chain)).toEqual([false, false, false, false]);
  });

  test('ends what an agent does who signed in to it', async () => {
    const application = await fixture.createApplication();
    const support = await createBackend();
    const agent = await fixture.createUser();
    await directory.allowUser(agent, management, ['all']);
    const { access_token: token } = await fixture.signIn({
      username: agent.username ?? '',
      client: application,
      resource: management.indicator,
      scope: 'openid offline_access all',
    });
    const caller = await authenticate(service.app.services, {
      authorization: `Bearer ${token}`,
      proof: undefined,
      method: 'POST',
      url: `${service.url}/graphql`,
    });
    const act = async () => {
      const agents = { ...context, actor: caller.actor, caller };
      const input = { userId: user.id, reason: 'A ticket' };
      return (await createSubjectToken(agents, input)).token;
    };
    const use = (subject_token: string) =>
      exchange(service, support, {
        subject_token,
        subject_token_type: 'urn:signet:params:oauth:token-type:subject_token',
        resource: resource.indicator,
      });
    const { body } = await use(await act());
    const waiting = await act();
    expect(await isActive(String(body['access_token']))).toBe(true);
    await deleteApplication(context, application);
    expect(await isActive(String(body['access_token']))).toBe(false);
    expect(await use(waiting)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
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
