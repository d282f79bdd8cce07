import { expect, test } from 'vitest';
import { ask, graphql } from '../support/operations/graphql.ts';
import { openBrowser, type Visit } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../support/people/sign-in-fixture.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';

const service = await startService({}, { poolSize: 10 });
// A lock or a window ends when the test moves the clock.
service.clock.freeze();
const fixture = await createSignInFixture(service);
const { client, database } = fixture;
const { prisma } = database;

const isSignedIn = ({ url }: Visit) => url.searchParams.has('code');
const lockouts = () =>
  prisma.event.findMany({
    where: { type: 'Identifier.Lockout' },
    orderBy: { position: 'asc' },
    select: { data: true, actor: true },
  });

/** A browser with the form open, which can be sent again and again. */
async function openForm(at: TestService = service) {
  const browser = openBrowser(at.app.services.baseUrl);
  const { visit } = await openSignInPage(at, client, { browser });
  return {
    browser,
    send: (identifier: string, tried = 'wrong') =>
      browser.submit(visit, { identifier, password: tried }),
  };
}

test('200 concurrent guesses: ten checks, one event, owner unaffected', async () => {
  const owner = await fixture.createUser({ username: 'owner' });
  const known = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ username: 'owner', browser: known });
  const second = await startSecondNode(service);
  const forms = await Promise.all([openForm(), openForm(second)]);

  const guesses = Array.from({ length: 200 }, (_, i) => {
    const spelled = i % 3 === 0 ? ' OWNER ' : 'owner';
    return forms[i % 2]?.send(spelled, `wrong ${i}`);
  });
  const { visit } = await openSignInPage(service, client, { browser: known, prompt: 'login' });
  const [answers, own] = await Promise.all([
    Promise.all(guesses),
    known.submit(visit, { identifier: 'owner', password }),
  ]);

  expect(isSignedIn(own)).toBe(true);
  const statuses = answers.map((answer) => answer?.status);
  // The last failure may say already that it locks.
  const wrong = statuses.filter((status) => status === 422).length;
  expect(wrong).toBe(9);
  expect(statuses.filter((status) => status === 429)).toHaveLength(200 - wrong);
  expect(await lockouts()).toEqual([
    {
      data: { type: 'username', value: 'owner', lockedUntil: expect.any(String) },
      actor: { type: 'SYSTEM', id: null },
    },
  ]);
  expect(await prisma.attemptCount.findMany({ select: { count: true, refused: true } })).toEqual([
    { count: 10, refused: 190 },
  ]);
  expect(owner.id).toBeDefined();
});

/** Until when users are locked, as the management API tells it. */
async function locksOfUsers(): Promise<Record<string, string>> {
  const endpoint = { url: service.url, token: await service.managementToken() };
  const { users } = await ask(endpoint, Locks);
  return Object.fromEntries(
    users.edges.flatMap(({ node }) =>
      node.lockedUntil ? [[node.username, node.lockedUntil]] : [],
    ),
  );
}

const Locks = graphql(`
  query LocksOfUsers { users { edges { node { username lockedUntil } } } }
`);

const lockOut = async (identifier: string, form: Awaited<ReturnType<typeof openForm>>) => {
  const answers: Visit[] = [];
  for (let i = 0; i < 10; i += 1) answers.push(await form.send(identifier));
  return answers;
};

test.each([
  ['an account that exists', 'existing'],
  ['one that does not', 'missing'],
])('ten failures in a row lock %s for 15 minutes', async (_case, username) => {
  if (username === 'existing') await fixture.createUser({ username });
  const before = (await lockouts()).length;
  const form = await openForm();
  const answers = await lockOut(username, form);
  expect(answers.map(({ status }) => status)).toEqual([...Array(9).fill(422), 429]);
  expect(answers[9]?.headers.get('retry-after')).toBe('900');
  expect((await lockouts()).slice(before)).toMatchObject([{ data: { value: username } }]);

  // Right or wrong, nothing is checked any more, and nothing is told again.
  expect((await form.send(username, password)).status).toBe(429);
  expect((await lockouts()).length).toBe(before + 1);
  const until = new Date(service.clock.now().getTime() + 900_000).toISOString();
  expect((await locksOfUsers())[username]).toBe(username === 'existing' ? until : undefined);

  service.clock.advance(900_000);
  expect((await locksOfUsers())[username]).toBeUndefined();
  const after = await form.send(username, password);
  expect(isSignedIn(after)).toBe(username === 'existing');
});

test('a success or the end of the window resets', async () => {
  await fixture.createUser({ username: 'careful' });
  for (let round = 0; round < 2; round += 1) {
    const form = await openForm();
    for (let i = 0; i < 9; i += 1) expect((await form.send('careful')).status).toBe(422);
    expect(isSignedIn(await form.send('careful', password))).toBe(true);
  }
  const form = await openForm();
  for (let i = 0; i < 9; i += 1) await form.send('careful');
  service.clock.advance(3600_000);
  expect((await (await openForm()).send('careful')).status).toBe(422);
});

test('the tenth attempt may succeed, without a lock', async () => {
  await fixture.createUser({ username: 'lucky' });
  const before = (await lockouts()).length;
  const form = await openForm();
  for (let i = 0; i < 9; i += 1) await form.send('lucky');
  expect(isSignedIn(await form.send('lucky', password))).toBe(true);
  expect(await lockouts()).toHaveLength(before);
});

test('spellings of an identifier share a counter; types do not', async () => {
  await fixture.createUser({ username: 'spelled', primaryEmail: 'Spelled@example.com' });
  const form = await openForm();
  const spellings = ['spelled', 'SPELLED', ' Spelled', 'sPelled\t', 'spelleD'];
  for (const spelling of [...spellings, ...spellings]) await form.send(spelling);
  expect((await form.send('spelled', password)).status).toBe(429);
  // The Kelvin sign is no "k" and U+0130 no "i": such a name finds nobody.
  expect((await form.send('spe\u212Aled', password)).status).toBe(422);
  expect(isSignedIn(await form.send('spelled@EXAMPLE.com', password))).toBe(true);
});

test('a known browser has its own counter for its person', async () => {
  const owner = await fixture.createUser({ username: 'known' });
  await fixture.createUser({ username: 'other' });
  const browser = openBrowser(service.app.services.baseUrl);
  await fixture.signIn({ username: 'known', browser });
  const form = await openForm();
  await lockOut('known', form);
  await lockOut('other', form);

  const open = () => openSignInPage(service, client, { browser, prompt: 'login' });
  const { visit } = await open();
  expect((await browser.submit(visit, { identifier: 'other', password })).status).toBe(429);
  for (let i = 0; i < 10; i += 1)
    await browser.submit(visit, { identifier: 'known', password: 'x' });
  expect((await browser.submit(visit, { identifier: 'known', password })).status).toBe(429);
  const counters = await prisma.attemptCount.findMany({ where: { device: { not: '' } } });
  expect(counters).toMatchObject([{ count: 10 }]);
  expect(JSON.stringify(counters)).not.toContain(owner.id);
});

test('no table holds a typed identifier', async () => {
  const form = await openForm();
  await form.send('typed-in-the-wrong-field');
  const rows = await prisma.$queryRaw`SELECT a::text FROM "AttemptCount" a`;
  expect(JSON.stringify(rows)).not.toContain('wrong-field');
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
