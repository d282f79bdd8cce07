import { expect, test } from 'vitest';
import {
  asPage,
  asProgram,
  readInteraction,
  startHeadless,
  step,
} from '../support/people/experience.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService({ INTROSPECTION: 'false' });
const { baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const begin = () => startHeadless(service, { clientId: client.id, redirectUri });
const credentials = { identifier: 'Ada', password };
const endpoint = `${service.url}/experience/graphql`;

/** Opens the sign-in in a browser, as an application has it do. */
async function openInBrowser() {
  const browser = openBrowser(baseUrl);
  const { url } = await authorize(service, client);
  await browser.open(url);
  return browser;
}

test.each([
  ['another method', { method: 'PUT' }, 405],
  ['a query in the address', { method: 'GET', query: '?query={interaction{id}}' }, 405],
  ['a form', { method: 'POST', type: 'application/x-www-form-urlencoded', body: 'query={a}' }, 415],
  ['text', { method: 'POST', type: 'text/plain', body: '{"query":"{interaction{id}}"}' }, 415],
  ['a batch', { method: 'POST', type: 'application/json', body: '[{"query":"{a}"}]' }, 400],
  ['a body that is no JSON', { method: 'POST', type: 'application/json', body: '{' }, 400],
  [
    'a body that is too large',
    { method: 'POST', type: 'application/json', body: 'x'.repeat(70_000) },
    413,
  ],
])(
  'refuses %s',
  async (_case, {
    method,
    type,
    body,
    query = '',
  }: {
    method: string;
    type?: string;
    body?: string;
    query?: string;
  }, status) => {
    const init = {
      method,
      ...(type ? { headers: { 'content-type': type }, body: body ?? '' } : {}),
    };
    const answer = await fetch(`${endpoint}${query}`, init);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(/json/);
    expect(answer.headers.get('allow')).toBe(status === 405 ? 'POST' : null);
  },
);

test.each([
  ['two root fields', '{ interaction { id } __typename }'],
  ['an alias of a root field', '{ mine: interaction { id } }'],
  ['the same field twice', '{ interaction { id } interaction { event } }'],
  [
    'root fields behind fragments',
    'query { ...A ...B } fragment A on Query { interaction { id } } fragment B on Query { __typename }',
  ],
  [
    'guesses beside each other',
    `mutation { a: signInWithPassword(input: { identifier: "a", password: "a" }) { __typename }
                b: signInWithPassword(input: { identifier: "a", password: "b" }) { __typename } }`,
  ],
  ['introspection where it is off', '{ __schema { types { name } } }'],
])('refuses %s', async (_case, document) => {
  const { send } = await begin();
  const { status, body } = await send(document);
  expect(status).toBe(400);
  expect(body.data).toBeUndefined();
});

test('suggests no names with introspection off', async () => {
  const { status, body } = await (await begin()).send('{ interactio { id } }');
  expect(status).toBe(400);
  expect(body.errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  expect(body.errors?.[0]?.message).not.toContain('Did you mean');
});

test('needs a valid token or cookie', async () => {
  const nobody = asProgram(service);
  const guess = asProgram(service, 'A'.repeat(43));
  for (const send of [nobody, guess]) {
    const { status, body } = await send('{ interaction { id } }');
    expect(status).toBe(401);
    expect(body.errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
  }
});

test.each([
  ['without the header', { 'x-signet-experience': '0' }, 401],
  ['from another origin', { origin: 'https://evil.example.com' }, 403],
  ['from a sandboxed frame', { origin: 'null' }, 403],
  ['from another site', { 'sec-fetch-site': 'cross-site' }, 403],
])('accepts no cookie %s', async (_case, headers: Record<string, string>, status) => {
  const browser = await openInBrowser();
  const answer = await asPage(service, browser, headers)('{ interaction { id } }');
  expect(answer.status).toBe(status);
  expect((await asPage(service, browser)('{ interaction { id } }')).status).toBe(200);
});

test('accepts neither a forged cookie nor a page’s id', async () => {
  const browser = openBrowser(baseUrl);
  const { url } = await authorize(service, client);
  const page = await browser.open(url);
  const uid = page.url.pathname.split('/').at(-1) ?? '';
  const cookie = `signet_interaction=${uid}; signet_interaction.sig=${'A'.repeat(27)}`;
  const forged = await asPage(service, openBrowser(baseUrl), { cookie })('{ interaction { id } }');
  expect(forged.status).toBe(401);
  expect((await asProgram(service, uid)('{ interaction { id } }')).status).toBe(401);
});

test('gives each token and each browser its own interaction', async () => {
  const [first, second] = [await begin(), await begin()];
  await step(first.send, 'signInWithPassword', credentials);
  expect(await readInteraction(second.send)).toMatchObject({
    nextSteps: expect.not.arrayContaining(['SUBMIT']),
  });
  expect(await step(second.send, 'submitInteraction')).toMatchObject({ code: 'NOT_ALLOWED' });
  const ids = new Set([first.started['interaction'].id, second.started['interaction'].id]);
  expect(ids.size).toBe(2);
});

test('concurrent submits get one code', async () => {
  const { send } = await begin();
  await step(send, 'signInWithPassword', credentials);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => step(send, 'submitInteraction')),
  );
  expect(answers).toEqual(
    answers.map(() => expect.objectContaining({ redirectTo: answers[0]?.['redirectTo'] })),
  );
  expect(answers[0]?.['redirectTo']).toBeTruthy();
  const { prisma } = service.app.services.database;
  expect(await prisma.oidcRecord.count({ where: { model: 'AuthorizationCode' } })).toBe(1);
  expect(await prisma.oidcRecord.count({ where: { model: 'Grant' } })).toBe(1);
});

test('an interaction ends after an hour, with a restart URL', async () => {
  const headless = await begin();
  const browser = await openInBrowser();
  await readInteraction(asPage(service, browser));
  service.clock.advance(61 * 60 * 1000);
  expect(await readInteraction(headless.send)).toBeNull();
  expect(await step(headless.send, 'signInWithPassword', credentials)).toMatchObject({
    code: 'INTERACTION_EXPIRED',
    restartUrl: null,
  });
  const over = await step(asPage(service, browser), 'signInWithPassword', credentials);
  expect(over).toMatchObject({ code: 'INTERACTION_EXPIRED' });
  const again = await browser.open(over['restartUrl']);
  expect(again.url.pathname).toMatch(/^\/sign-in\//);
  expect(again.status).toBe(200);
});

test('logs no password, no token and no code', () => {
  expect(JSON.stringify(service.logged)).not.toContain(password);
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test('a failed check can be asked for all that it may be', async () => {
  const { send } = await begin();
  const { body } = await send(
    `mutation ($input: SignInWithPasswordInput!) { signInWithPassword(input: $input) { __typename
      ... on VerificationFailedError { code } ... on LockedError { lockedUntil }
      ... on RateLimitedError { retryAfterSeconds } } }`,
    { input: { ...credentials, password: 'wrong' } },
  );
  expect(body.data).toEqual({
    signInWithPassword: { __typename: 'VerificationFailedError', code: 'VERIFICATION_FAILED' },
  });
});
