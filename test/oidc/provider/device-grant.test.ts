import * as oidc from 'openid-client';
import { expect, test } from 'vitest';
import { deviceGrantType } from '../../../src/oidc/provider/device/grant.ts';
import { events, settledEvents } from '../../support/events.ts';
import {
  assertionParameters,
  createClientKey,
  signAssertion,
} from '../../support/keys/client-keys.ts';
import type { TestClient } from '../../support/operations/directory.ts';
import { send } from '../../support/operations/graphql.ts';
import { askForCodes } from '../../support/people/device.ts';
import {
  type Browser,
  decodeText,
  discover,
  openBrowser,
  type Visit,
} from '../../support/people/sign-in.ts';
import { createSignInFixture, password } from '../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService, type TestService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const service = await startService();
const { baseUrl, issuer } = service.app.services;
const fixture = await createSignInFixture(service);
const { resource } = fixture;
const { prisma } = fixture.database;
const node = await startSecondNode(service);

const mutate = async (document: string, variables: Record<string, unknown>) => {
  const endpoint = { url: service.url, token: await service.managementToken() };
  const answer = await send<Record<string, object>, Record<string, unknown>>(
    endpoint,
    document,
    variables,
  );
  return Object.values(answer.data ?? {})[0];
};

const change = ({ id }: TestClient, values: object) =>
  mutate(
    `mutation ($input: UpdateApplicationInput!) { changed: updateApplication(input: $input) { __typename } }`,
    { input: { id, ...values } },
  );

const createDeviceApp = (values: Parameters<typeof fixture.createApplication>[0] = {}) =>
  fixture.createApplication({
    type: 'NATIVE',
    redirectUris: [],
    allowDeviceGrant: true,
    name: 'Harbour TV',
    ...values,
  });
const client = await createDeviceApp();
const clientOf = ({ id }: TestClient) => ({ id });

async function begin(parameters: Record<string, string> = {}, from: TestClient = client) {
  const { status, body } = await askForCodes(service, from, parameters);
  expect(status).toBe(200);
  return { deviceCode: String(body['device_code']), userCode: String(body['user_code']) };
}

async function poll(
  deviceCode: string,
  { at = service, from = client }: { at?: TestService; from?: TestClient } = {},
) {
  const response = await fetch(`${at.url}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: deviceGrantType,
      device_code: deviceCode,
      client_id: from.id,
    }),
  });
  const body = (await response.json()) as Record<string, string>;
  return { status: response.status, body, error: body['error'] };
}

const newBrowser = () => openBrowser(baseUrl);

/** Types a code. */
const type = async (browser: Browser, userCode: string): Promise<Visit> =>
  browser.submit(await browser.open('/device'), { user_code: userCode });

/** Signs in where the page asks for that. */
const signInAt = (browser: Browser, visit: Visit, username = 'Ada'): Promise<Visit> =>
  browser.submit(visit, { identifier: username, password });

/** Types a code, goes on, and signs in. */
async function connect(userCode: string, username = 'Ada', browser = newBrowser()) {
  const visit = await browser.submit(await type(browser, userCode), { confirm: 'yes' });
  return signInAt(browser, visit, username);
}

const textOf = ({ body }: Visit): string => decodeText(body.replace(/<[^>]*>/g, ' '));

test('openid-client gets tokens for a person who types the code', async () => {
  const config = await discover(service, clientOf(client));
  expect(config.serverMetadata()).toMatchObject({
    device_authorization_endpoint: `${issuer}/device/auth`,
    grant_types_supported: expect.arrayContaining([deviceGrantType]),
  });
  const scope = 'openid offline_access read';
  const asked = await oidc.initiateDeviceAuthorization(config, {
    scope,
    resource: resource.indicator,
  });
  expect(asked).toMatchObject({
    user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
    verification_uri: `${baseUrl}/device`,
    verification_uri_complete: `${baseUrl}/device?user_code=${asked.user_code}`,
    expires_in: 600,
    interval: 5,
  });
  const browser = newBrowser();
  const question = await type(browser, asked.user_code.toLowerCase().replace('-', ''));
  expect(question.status).toBe(200);
  expect(textOf(question)).toContain('Connect Harbour TV?');
  expect(textOf(question)).toContain(asked.user_code);
  expect(textOf(question)).toContain('Did somebody send you this code or this page?');
  const page = await browser.submit(question, { confirm: 'yes' });
  expect(page.url.pathname).toMatch(/^\/sign-in\//);
  const done = await signInAt(browser, page);
  expect([done.status, textOf(done)]).toEqual([
    200,
    expect.stringContaining('Your device is connected'),
  ]);

  const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...asked, interval: 0 });
  expect(tokens).toMatchObject({
    token_type: 'bearer',
    scope: 'openid offline_access read',
  });
  expect(tokens.claims()?.sub).toBe(fixture.user.id);
  const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '');
  expect(refreshed.access_token).not.toBe(tokens.access_token);
});

test('a link brings the code, in the language of who follows it', async () => {
  const { userCode } = await begin();
  const browser = newBrowser();
  const headers = { 'accept-language': 'de' };
  const page = await browser.open(`/oidc/device?user_code=${userCode}`, { headers });
  expect(textOf(page)).toContain('Gerät verbinden');
  expect(page.body).toContain(`value="${userCode}"`);
  // Nothing is looked up, and nothing goes on by itself.
  expect(page.body).not.toContain('<script');
  const question = await browser.submit(page, { user_code: userCode }, headers);
  expect(textOf(question)).toContain('Harbour TV verbinden?');
  expect(textOf(question)).toContain('Hat Ihnen jemand diesen Code oder diese Seite geschickt?');
  expect(question.headers.get('x-frame-options')).toBe('DENY');
  const declined = await browser.submit(question, { abort: 'yes' }, headers);
  expect(textOf(declined)).toContain('Nicht verbunden');
});

test('the language of the address holds for all pages', async () => {
  const { userCode } = await begin();
  const browser = newBrowser();
  const page = await browser.open(`/device?user_code=${userCode}&ui_locales=de`);
  const question = await browser.submit(page, { user_code: userCode });
  expect(textOf(question)).toContain('Harbour TV verbinden?');
});

test('who declines refuses the device, once', async () => {
  const { deviceCode, userCode } = await begin();
  const browser = newBrowser();
  const declined = await browser.submit(await type(browser, userCode), { abort: 'yes' });
  expect(textOf(declined)).toContain('Not connected');
  expect(await poll(deviceCode)).toMatchObject({ status: 400, error: 'access_denied' });
  expect(await poll(deviceCode)).toMatchObject({ status: 400, error: 'invalid_grant' });
  expect((await type(newBrowser(), userCode)).status).toBe(422);
});

test('who cancels the sign-in refuses the device too', async () => {
  const { deviceCode, userCode } = await begin();
  const browser = newBrowser();
  const page = await browser.submit(await type(browser, userCode), { confirm: 'yes' });
  const declined = await browser.submit(page, { cancel: 'yes' });
  expect(textOf(declined)).toContain('Not connected');
  expect((await poll(deviceCode)).error).toBe('access_denied');
});

test('who is signed in only confirms, and the session and the event are those of a sign-in', async () => {
  const user = await fixture.createUser();
  const browser = newBrowser();
  const first = await begin();
  await connect(first.userCode, user.username ?? '', browser);
  const sessions = await prisma.session.findMany({ where: { userId: user.id } });
  expect(sessions).toHaveLength(1);
  const [session] = sessions;
  expect(session?.applicationIds).toEqual([client.id]);
  const signIns = async () =>
    (await settledEvents(service, await service.managementToken())).filter(
      ({ name, data }) => name === 'PostSignIn' && JSON.stringify(data).includes(user.id),
    );
  expect(await signIns()).toMatchObject([
    { data: { applicationId: client.id, sessionId: session?.id } },
  ]);

  const second = await begin();
  const done = await browser.submit(await type(browser, second.userCode), { confirm: 'yes' });
  expect(textOf(done)).toContain('Your device is connected');
  expect(await prisma.session.count({ where: { userId: user.id } })).toBe(1);
  expect(await signIns()).toHaveLength(1);
  for (const { deviceCode } of [first, second]) expect((await poll(deviceCode)).status).toBe(200);
});

test('another person than the one who is signed in replaces them', async () => {
  const { username } = await fixture.createUser();
  const browser = newBrowser();
  await connect((await begin()).userCode, 'Ada', browser);
  // The session is from a while ago, and not so long that it is over.
  const loginTs = Math.floor(service.clock.now().getTime() / 1000) - 600;
  await prisma.$executeRaw`
    UPDATE "OidcRecord" SET "payload" = "payload" || ${JSON.stringify({ loginTs })}::jsonb
     WHERE "model" = 'Session' AND "accountId" = ${fixture.user.id}`;
  const { deviceCode, userCode } = await begin({ scope: 'openid', max_age: '60' });
  const page = await browser.submit(await type(browser, userCode), { confirm: 'yes' });
  const change = await signInAt(browser, page, username ?? '');
  expect(textOf(change)).toContain('Continue as another person');
  const done = await browser.submit(change, {});
  expect(textOf(done)).toContain('Your device is connected');
  expect((await poll(deviceCode)).status).toBe(200);
});

test('a third party’s application asks for consent, each time', async () => {
  const shop = await createDeviceApp({ isThirdParty: true, name: 'Garden Shop' });
  const user = await fixture.createUser();
  await fixture.directory.allowUser(user, resource, ['read']);
  const browser = newBrowser();
  const asked = { scope: 'openid read', resource: resource.indicator };
  for (const isSignedIn of [false, true]) {
    const { deviceCode, userCode } = await begin(asked, shop);
    const page = await browser.submit(await type(browser, userCode), { confirm: 'yes' });
    const consent = isSignedIn ? page : await signInAt(browser, page, user.username ?? '');
    expect(textOf(consent)).toContain('Allow Garden Shop?');
    expect(textOf(consent)).toContain('Your device then gets this access.');
    const done = await browser.submit(consent, {});
    expect(textOf(done)).toContain('Your device is connected');
    expect(await poll(deviceCode, { from: shop })).toMatchObject({
      status: 200,
      body: { scope: 'openid read' },
    });
  }
  const { deviceCode, userCode } = await begin(asked, shop);
  const consent = await browser.submit(await type(browser, userCode), { confirm: 'yes' });
  expect(textOf(await browser.submit(consent, { cancel: 'yes' }))).toContain('Not connected');
  expect((await poll(deviceCode, { from: shop })).error).toBe('access_denied');
});

test('a code works once, and its second use ends the tokens', async () => {
  const { deviceCode, userCode } = await begin({ scope: 'openid offline_access' });
  await connect(userCode);
  const answers = await Promise.all([poll(deviceCode), poll(deviceCode, { at: node })]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  expect((await poll(deviceCode)).error).toBe('invalid_grant');
  const { refresh_token: refreshToken = '' } =
    answers.find(({ status }) => status === 200)?.body ?? {};
  const refreshed = oidc.refreshTokenGrant(await discover(service, clientOf(client)), refreshToken);
  await expect(refreshed).rejects.toMatchObject({ error: 'invalid_grant' });
});

test('of two browsers that confirm a code at once, one goes on', async () => {
  const { deviceCode, userCode } = await begin();
  const browsers = [newBrowser(), newBrowser(), newBrowser()];
  const questions = await Promise.all(browsers.map((browser) => type(browser, userCode)));
  const pages = await Promise.all(
    browsers.map((browser, i) => browser.submit(questions[i] as Visit, { confirm: 'yes' })),
  );
  const wentOn = pages.filter(({ url }) => url.pathname.startsWith('/sign-in/'));
  expect(wentOn).toHaveLength(1);
  for (const page of pages.filter((one) => !wentOn.includes(one))) {
    expect(page.status).toBe(422);
    expect(textOf(page)).toContain('was used already');
  }
  const winner = browsers[pages.indexOf(wentOn[0] as Visit)] as Browser;
  // Nobody else declines it either.
  expect((await type(newBrowser(), userCode)).status).toBe(422);
  expect((await poll(deviceCode)).error).toBe('authorization_pending');
  await signInAt(winner, wentOn[0] as Visit);
  expect((await poll(deviceCode)).status).toBe(200);
});

test('a form of another browser confirms nothing', async () => {
  const { deviceCode, userCode } = await begin();
  const question = await type(newBrowser(), userCode);
  const forged = await newBrowser().submit(question, { confirm: 'yes' });
  expect([forged.status, forged.url.pathname]).toEqual([403, '/oidc/device']);
  expect(textOf(forged)).toContain('open for too long');
  expect((await poll(deviceCode)).error).toBe('authorization_pending');
});

test('after a wrong code the same form takes the right one', async () => {
  const { userCode } = await begin();
  const browser = newBrowser();
  const wrong = await type(browser, 'BBBB-BBBB');
  expect(wrong.status).toBe(422);
  const empty = await browser.submit(wrong, { user_code: '' });
  expect(empty.status).toBe(422);
  const right = await browser.submit(empty, { user_code: userCode });
  expect(textOf(right)).toContain('Connect Harbour TV?');
});

test('only the application that asked gets an answer, and others do not slow it down', async () => {
  const other = await createDeviceApp();
  const { deviceCode, userCode } = await begin();
  const restart = service.clock.freeze();
  for (let i = 0; i < 3; i += 1)
    expect((await poll(deviceCode, { from: other })).error).toBe('invalid_grant');
  expect((await poll(deviceCode)).error).toBe('authorization_pending');
  restart();
  await connect(userCode);
  expect((await poll(deviceCode, { from: other })).error).toBe('invalid_grant');
  expect((await poll(deviceCode)).status).toBe(200);
});

test('a device that polls too soon is slowed down, over all nodes, and still gets its tokens', async () => {
  const { deviceCode, userCode } = await begin();
  const restart = service.clock.freeze();
  const pollAfter = async (seconds: number, at = service) => {
    service.clock.advance(seconds * 1000);
    return (await poll(deviceCode, { at })).error;
  };
  expect(await pollAfter(0)).toBe('authorization_pending');
  expect(await pollAfter(5, node)).toBe('authorization_pending');
  expect(await pollAfter(1)).toBe('slow_down');
  // Ten seconds from now on.
  expect(await pollAfter(6, node)).toBe('slow_down');
  expect(await pollAfter(15)).toBe('authorization_pending');
  const both = await Promise.all([pollAfter(15), pollAfter(0, node)]);
  expect(both.sort()).toEqual(['authorization_pending', 'slow_down']);
  restart();
  await connect(userCode);
  expect((await poll(deviceCode, { at: node })).status).toBe(200);
});

test('an expired code is expired for the device, and worth nothing to a person', async () => {
  const { deviceCode, userCode } = await begin();
  const confirmed = await begin();
  const browser = newBrowser();
  const page = await browser.submit(await type(browser, confirmed.userCode), { confirm: 'yes' });
  service.clock.advance(600_000);
  expect(await poll(deviceCode)).toMatchObject({ status: 400, error: 'expired_token' });
  const wrong = await type(newBrowser(), userCode);
  expect([wrong.status, textOf(wrong)]).toEqual([422, expect.stringContaining('has expired')]);
  const late = await signInAt(browser, page);
  expect([late.status, textOf(late)]).toEqual([
    422,
    expect.stringContaining('cannot be used any more'),
  ]);
  expect((await poll(confirmed.deviceCode)).error).toBe('expired_token');
});

test('the sign-in that is over leads back to the page for codes', async () => {
  const { userCode } = await begin();
  const browser = newBrowser();
  const page = await browser.submit(await type(browser, userCode), { confirm: 'yes' });
  await signInAt(browser, page);
  const over = await browser.open(page.url);
  expect(over.status).toBe(404);
  expect(textOf(await browser.submit(over, {}))).toContain('Enter the code that your device shows');
});

test('an application without the switch gets no code, and one that lost it no tokens', async () => {
  const plain = await fixture.createApplication({ type: 'NATIVE' });
  expect(await askForCodes(service, plain)).toMatchObject({
    status: 400,
    body: { error: 'unauthorized_client' },
  });
  expect((await poll('anything', { from: plain })).status).toBe(400);
  const shortLived = await createDeviceApp();
  const open = await begin({}, shortLived);
  const allowed = await begin({}, shortLived);
  await connect(allowed.userCode);
  await change(shortLived, { allowDeviceGrant: false });
  expect((await type(newBrowser(), open.userCode)).status).toBe(422);
  for (const { deviceCode } of [open, allowed])
    expect((await poll(deviceCode, { from: shortLived })).error).toBe('unauthorized_client');
});

test('the switch is for applications with people, and off by default', async () => {
  const create = (type: string, allowDeviceGrant?: boolean) =>
    mutate(
      `mutation ($input: CreateApplicationInput!) { created: createApplication(input: $input) {
         __typename ... on CreateApplicationPayload { application { allowDeviceGrant } } } }`,
      { input: { name: 'A device', type, ...(allowDeviceGrant ? { allowDeviceGrant } : {}) } },
    );
  expect(await create('NATIVE')).toMatchObject({ application: { allowDeviceGrant: false } });
  expect(await create('NATIVE', true)).toMatchObject({ application: { allowDeviceGrant: true } });
  expect(await create('MACHINE_TO_MACHINE', true)).toEqual({ __typename: 'NotAllowedError' });
});

test('a confidential application shows its secret', async () => {
  const hub = await createDeviceApp({ type: 'TRADITIONAL' });
  const refused = await askForCodes(service, hub);
  expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } });
  const config = await discover(service, hub);
  const asked = await oidc.initiateDeviceAuthorization(config, { scope: 'openid' });
  await connect(asked.user_code);
  expect((await poll(asked.device_code, { from: hub })).status).toBe(401);
  const tokens = await oidc.pollDeviceAuthorizationGrant(config, { ...asked, interval: 0 });
  expect(tokens.claims()?.sub).toBe(fixture.user.id);
});

test('an application with keys shows an assertion, for the codes and for the tokens', async () => {
  const key = await createClientKey();
  const jwks = { keys: [key.publicJwk as Record<string, string>] };
  const hub = await createDeviceApp({ type: 'TRADITIONAL', jwks, allowSecrets: false });
  const proof = async () => assertionParameters(await signAssertion(service, hub.id, key));
  const { status, body } = await askForCodes(service, hub, await proof());
  expect(status).toBe(200);
  await connect(String(body['user_code']));
  const parameters = { grant_type: deviceGrantType, device_code: String(body['device_code']) };
  const response = await fetch(`${service.url}/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...parameters, ...(await proof()) }),
  });
  expect([response.status, await response.json()]).toMatchObject([200, { token_type: 'Bearer' }]);
});

test('the switch and pushed requests exclude each other', async () => {
  const create = (settings: object) =>
    mutate(
      `mutation ($input: CreateApplicationInput!) { created: createApplication(input: $input) {
         __typename ... on InvalidInputError { issues { path } } } }`,
      { input: { name: 'A hub', type: 'TRADITIONAL', allowDeviceGrant: true, ...settings } },
    );
  const key = await createClientKey();
  const jwks = { keys: [key.publicJwk] };
  for (const settings of [
    { requirePushedAuthorizationRequests: true },
    { securityProfile: 'FAPI_2_0', jwks },
  ])
    expect(await create(settings)).toEqual({
      __typename: 'InvalidInputError',
      issues: [{ path: ['allowDeviceGrant'] }],
    });
});

test('what is asked for is checked when the device asks', async () => {
  for (const [parameters, error] of [
    [{ resource: 'https://nowhere.example.com' }, 'invalid_target'],
    [{ ui_locales: 'd'.repeat(3000) }, 'invalid_request'],
    [{ scope: 'openid\u0000' }, 'invalid_request'],
  ] as const) {
    const { status, body } = await askForCodes(service, client, parameters);
    expect([status, body['error']]).toEqual([400, error]);
  }
});

test('a suspended person’s device gets nothing', async () => {
  const user = await fixture.createUser();
  const suspend = (isSuspended: boolean) =>
    mutate(
      `mutation ($id: ID!, $isSuspended: Boolean!) {
         done: updateUserSuspensionStatus(input: { id: $id, isSuspended: $isSuspended }) { __typename } }`,
      { id: user.id, isSuspended },
    );
  const allowed = await begin();
  await connect(allowed.userCode, user.username ?? '');
  const { deviceCode, userCode } = await begin();
  const browser = newBrowser();
  const page = await browser.submit(await type(browser, userCode), { confirm: 'yes' });
  await suspend(true);
  const wrong = await signInAt(browser, page, user.username ?? '');
  expect([wrong.status, wrong.url.pathname]).toEqual([422, page.url.pathname]);
  expect((await poll(deviceCode)).error).toBe('authorization_pending');
  await suspend(false);
  expect((await poll(allowed.deviceCode)).error).toBe('invalid_grant');
});

test('neither code is in the database, and what is there polls for nothing', async () => {
  const { deviceCode, userCode } = await begin();
  const browser = newBrowser();
  await browser.submit(await type(browser, userCode), { confirm: 'yes' });
  const records = await prisma.oidcRecord.findMany();
  const stored = JSON.stringify([records, await prisma.interaction.findMany()]);
  expect(stored).not.toContain(deviceCode);
  expect(stored).not.toContain(userCode);
  expect(stored).not.toContain(userCode.replace('-', ''));
  const known = records.filter(({ model }) => model === 'DeviceCode');
  expect(known.length).toBeGreaterThan(0);
  for (const { id } of known) {
    for (const name of [id, `row:${id}`]) expect((await poll(name)).error).toBe('invalid_grant');
  }
});

test('a device that waits for long neither shuts its address out nor is a refusal', async () => {
  const { deviceCode } = await begin();
  const restart = service.clock.freeze();
  for (let i = 0; i < 110; i += 1) {
    service.clock.advance(5_000);
    expect((await poll(deviceCode)).error).toBe('authorization_pending');
  }
  restart();
  service.clock.advance(601_000);
  expect((await poll(deviceCode)).error).toBe('expired_token');
  const token = await service.managementToken();
  const errors = await eventually(async () => {
    const refused = (await events({ url: service.url, token })).filter(
      ({ name }) => name === 'Token.Refused',
    );
    const found = refused.map(({ data }) => data['error']);
    expect(found).toContain('expired_token');
    return found;
  });
  expect(errors).not.toContain('authorization_pending');
  expect(errors).not.toContain('slow_down');
});

test('who tries codes is shut out', async () => {
  const { userCode } = await begin();
  const browser = newBrowser();
  let page = await browser.open('/device');
  let tries = 0;
  while (page.status !== 429 && tries < 200) {
    page = await browser.submit(page, { user_code: `BCDF-${String(tries).padStart(4, '0')}` });
    tries += 1;
  }
  expect(tries).toBeLessThanOrEqual(101);
  const right = await newBrowser().open('/oidc/device', {
    method: 'POST',
    body: new URLSearchParams({ user_code: userCode }),
  });
  expect(right.status).toBe(429);
  expect(textOf(right)).toContain('Please wait a moment');
  service.clock.advance(601_000);
  expect((await newBrowser().open('/device')).status).toBe(200);
});
