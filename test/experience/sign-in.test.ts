import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { openBrowser, type Visit } from '../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  openSignInPage,
  password,
} from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
const { client, database } = fixture;

const codeOf = ({ url }: Visit) => url.searchParams.get('code');
const hasForm = ({ body }: Visit) => body.includes('<form');

/** The page without what changes from one request to the next. */
const withoutToken = ({ body }: Visit) =>
  body.replaceAll(/name="csrf" value="[^"]*"|\/sign-in\/[^"]*/g, '');

test('asks for identifier and password, and loads nothing foreign', async () => {
  const { visit } = await openSignInPage(service, client);
  expect(visit.status).toBe(200);
  const { headers, body } = visit;
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-frame-options')).toBe('DENY');
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  // The one script shows the password. It can send nothing anywhere.
  const [, script = ''] = body.match(/<script type="module">([^<]*)<\/script>/) ?? [];
  const digest = createHash('sha256').update(script).digest('base64');
  expect(headers.get('content-security-policy')).toContain(`script-src 'sha256-${digest}'`);
  expect(body.replace(script, '')).not.toMatch(
    /<script(?! type="module"><)|<link|<img|javascript:|\son\w+=/i,
  );
  expect(body).toMatch(/<html lang="en">/);
  for (const id of ['identifier', 'password']) {
    expect(body).toContain(`<label for="${id}">`);
    expect(body).toContain(`id="${id}"`);
  }
  expect(body).toContain('autocomplete="username"');
  expect(body).toContain('autocomplete="current-password"');
});

test.each([
  ['the user name', 'Ada'],
  ['the user name in another case', 'aDA'],
  ['the e-mail address', 'Ada@example.com'],
  ['the e-mail address in another case, with spaces around', ' ada@example.COM '],
])('takes %s', async (_case, identifier) => {
  const { browser, visit } = await openSignInPage(service, client);
  expect(codeOf(await browser.submit(visit, { identifier, password }))).toBeTypeOf('string');
});

test('answers every failed sign-in like a wrong password', async () => {
  await fixture.createUser({ username: 'suspended', isSuspended: true });
  await fixture.createUser({ username: 'passwordless', passwordDigest: null });
  const { browser, visit } = await openSignInPage(service, client);
  const attempts = [
    { identifier: 'same', password },
    { identifier: 'suspended', password },
    { identifier: 'passwordless', password: '' },
    { identifier: 'Ada', password: `${password} ` },
  ];
  const answers = [];
  for (const attempt of attempts) answers.push(await browser.submit(visit, attempt));
  const [first, ...others] = answers.map((answer, i) =>
    withoutToken(answer).replace(`value="${attempts[i]?.identifier}"`, ''),
  );
  expect(first).toContain('role="alert"');
  expect(others).toEqual(others.map(() => first));
  expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422]);

  const retried = await browser.submit(answers[3] ?? visit, { identifier: 'Ada', password });
  expect(codeOf(retried)).toBeTypeOf('string');
});

test('has the password to fill in again in focus, described by the error', async () => {
  const { browser, visit } = await openSignInPage(service, client);
  const { body } = await browser.submit(visit, { identifier: 'Ada', password: 'wrong' });
  expect(body).toMatch(/<input id="password"[^>]* autofocus aria-describedby="error"/);
  expect(body.match(/autofocus/g)).toHaveLength(1);
  expect(body.match(/aria-describedby="error"/g)).toHaveLength(2);
});

test('has the main button first, then the other ways, and Cancel last', async () => {
  const { body } = (await openSignInPage(service, client)).visit;
  const [main = ''] = /<main>.*<\/main>/s.exec(body) ?? [];
  const controls = [...main.matchAll(/<(?:button|a)[ >][^<]*?>([^<]+)</g)].map(([, name]) => name);
  expect(controls[0]).toBe('Forgot password?');
  expect(controls[1]).toBe('Sign in');
  expect(controls.at(-1)).toBe('Cancel');
  expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
});

test.each([
  ['an empty form', {}],
  ['a NUL character', { identifier: 'Ada\0', password }],
  ['a NUL character in the password', { identifier: 'Ada', password: `${password}\0` }],
  ['a password that is too long', { identifier: 'Ada', password: 'a'.repeat(10_000) }],
  ['a name with wildcards', { identifier: '%', password }],
])('treats %s as a wrong password', async (_case, values: Record<string, string>) => {
  const { browser, visit } = await openSignInPage(service, client);
  const answer = await browser.submit(visit, values);
  expect(answer.status).toBe(422);
  expect(hasForm(answer)).toBe(true);
});

test('escapes the values that it shows', async () => {
  const attack = '"><script>alert(1)</script>';
  const application = await fixture.createApplication({ name: attack });
  const { browser, visit } = await openSignInPage(service, application, { login_hint: attack });
  const failed = await browser.submit(visit, { identifier: `'${attack}`, password });
  for (const { body } of [visit, failed]) {
    expect(body).not.toContain('<script>');
    expect(body).toContain('&lt;script&gt;');
  }
});

test('fills in the identifier that the application expects', async () => {
  const { visit } = await openSignInPage(service, client, { login_hint: 'ada@example.com' });
  expect(visit.body).toContain('value="ada@example.com"');
});

test('tells the application when the user cancels', async () => {
  const { browser, visit } = await openSignInPage(service, client, { state: 'mine' });
  const { url } = await browser.submit(visit, { cancel: 'yes' });
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    error: 'access_denied',
    state: 'mine',
  });
});

test.each([
  ['a form from another site', { 'sec-fetch-site': 'cross-site' }, {}],
  ['a form from another subdomain', { 'sec-fetch-site': 'same-site' }, {}],
  ['a form from another origin', { origin: 'https://evil.example.com' }, {}],
  ['a form of an opaque origin', { origin: 'null' }, {}],
  ['a form without its token', {}, { csrf: '' }],
  ['a form with another token', {}, { csrf: 'A'.repeat(43) }],
])('refuses %s, and shows none of its values', async (_case, headers, values) => {
  const { browser, visit } = await openSignInPage(service, client);
  const answer = await browser.submit(
    visit,
    { identifier: 'Ada', password, ...values },
    headers as Record<string, string>,
  );
  expect(answer.status).toBe(403);
  expect(codeOf(answer)).toBeNull();
  expect(answer.body).not.toContain('Ada');
});

test('accepts its own form, as a browser sends it', async () => {
  const { browser, visit } = await openSignInPage(service, client);
  const headers = { 'sec-fetch-site': 'same-origin', origin: new URL(baseUrl).origin };
  expect(codeOf(await browser.submit(visit, { identifier: 'Ada', password }, headers))).toBeTypeOf(
    'string',
  );
});

test('works only in the browser that began the sign-in', async () => {
  const { visit } = await openSignInPage(service, client);
  const stranger = openBrowser(service.app.services.baseUrl);
  expect((await stranger.open(visit.url)).status).toBe(404);
  const answer = await stranger.submit(visit, { identifier: 'Ada', password });
  expect(answer.status).toBe(404);
});

test('refuses the token of another sign-in in the same browser', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  const first = await openSignInPage(service, client, { browser });
  const second = await openSignInPage(service, client, { browser });
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(first.visit.body) ?? [];
  const answer = await browser.submit(second.visit, { identifier: 'Ada', password, csrf });
  expect(answer.status).toBe(403);
});

test('two sign-ins in one browser reach their own applications', async () => {
  const browser = openBrowser(service.app.services.baseUrl);
  const first = await openSignInPage(service, client, { browser, state: 'first' });
  const second = await openSignInPage(service, client, { browser, state: 'second' });
  const done = await browser.submit(second.visit, { identifier: 'Ada', password });
  expect(done.url.searchParams.get('state')).toBe('second');
  const other = await browser.submit(first.visit, { identifier: 'Ada', password });
  expect(other.url.searchParams.get('state')).toBe('first');
});

test('signs in someone else when asked for a new sign-in', async () => {
  const other = await fixture.createUser();
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ browser });
  const { visit } = await openSignInPage(service, client, { browser, prompt: 'login' });
  const between = await browser.submit(visit, { identifier: other.username ?? '', password });
  // The library ends the other user's session with a form of its own, which a browser's script submits.
  const done = await browser.submit(between, {});
  expect(codeOf(done)).toBeTypeOf('string');
  const sessions = await database.prisma.oidcRecord.count({
    where: { model: 'Session', accountId: other.id },
  });
  expect(sessions).toBe(1);
});

test('reports a finished, expired or unknown sign-in as over', async () => {
  const { browser, visit } = await openSignInPage(service, client);
  await browser.submit(visit, { identifier: 'Ada', password });
  expect((await browser.open(visit.url)).status).toBe(404);

  const unknown = await browser.open(`${baseUrl}/sign-in/unknown`);
  expect(unknown.status).toBe(404);
  expect(unknown.headers.get('content-type')).toContain('text/html');

  const late = await openSignInPage(service, client);
  service.clock.advance(61 * 60 * 1000);
  expect((await late.browser.open(late.visit.url)).status).toBe(404);
  expect((await late.browser.submit(late.visit, { identifier: 'Ada', password })).status).toBe(404);
});

test.each([
  [
    'a body that is too large',
    'application/x-www-form-urlencoded',
    `password=${'a'.repeat(20_000)}`,
    413,
  ],
  ['a body of another type', 'application/json', '{}', 415],
])('refuses %s', async (_case, contentType, body, status) => {
  const { browser, visit } = await openSignInPage(service, client);
  const headers = { 'content-type': contentType };
  const answer = await browser.open(visit.url, { method: 'POST', headers, body });
  expect(answer.status).toBe(status);
});

test('keeps its cookies from scripts and other sites', async () => {
  const { url } = await authorize(service, client);
  const response = await openBrowser(service.app.services.baseUrl).request(url);
  const cookies = response.headers.getSetCookie();
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) {
    expect(cookie).toMatch(/; *httponly/i);
    expect(cookie).toMatch(/; *samesite=lax/i);
  }
});

test('logs no fault and no password', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  expect(JSON.stringify(service.logged)).not.toContain(password);
});
