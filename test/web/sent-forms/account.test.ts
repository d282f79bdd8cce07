import { describe, expect, test } from 'vitest';
import { createAccountFixture, endOfLog, recordedSince } from '../../support/people/account.ts';
import { codeTo, messagesTo } from '../../support/people/messages.ts';
import { type Browser, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import { password } from '../../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../../support/service.ts';

const service = await startService();
const otherNode = await startSecondNode(service);
const { baseUrl } = service.app.services;
const fixture = await createAccountFixture(service);
const { prisma } = fixture.database;

let people = 0;
/** Somebody at a page of their account, who has just proved who they are. */
async function at(path: string) {
  people += 1;
  const username = `twice${people}`;
  const user = await fixture.createUser({
    username,
    primaryEmail: `${username}@example.com`,
    enrollmentSkippedAt: service.clock.now(),
  });
  const browser = openBrowser(baseUrl);
  await browser.submit(await browser.open(`${baseUrl}/account`), {
    identifier: username,
    password,
  });
  const to = new URLSearchParams({ to: `/account${path}`, by: 'PASSWORD' });
  const asked = await browser.open(`${baseUrl}/account/verify?${to}`);
  const there = await browser.submit(asked, { password });
  expect(there.url.href).toBe(`${baseUrl}/account${path}`);
  return { user, browser, visit: there };
}

interface Ready {
  readonly browser: Browser;
  readonly visit: Visit;
  readonly values: Record<string, string>;
  readonly userId: string;
}

const steps = {
  async 'gives the code for a new address'() {
    const { user, browser, visit } = await at('/email');
    const email = `new-${user.primaryEmail}`;
    const sent = await browser.submit(visit, { email });
    return {
      browser,
      visit: sent,
      values: { code: await codeTo(service, email) },
      userId: user.id,
    };
  },
  async 'asks for such a code'() {
    const { user, browser, visit } = await at('/email');
    return { browser, visit, values: { email: `new-${user.primaryEmail}` }, userId: user.id };
  },
  async 'changes the password'() {
    const { user, browser, visit } = await at('/password');
    return {
      browser,
      visit,
      values: { password: 'another horse battery staple' },
      userId: user.id,
    };
  },
  async 'changes the user name'() {
    const { user, browser, visit } = await at('/username');
    return { browser, visit, values: { username: `${user.username}x` }, userId: user.id };
  },
  async 'changes the profile'() {
    const { user, browser, visit } = await at('/profile');
    return { browser, visit, values: { name: 'Ada Lovelace' }, userId: user.id };
  },
} satisfies Record<string, () => Promise<Ready>>;

/** Sends a form to the other node, as a balancer may. */
function postElsewhere({ browser, visit, values }: Ready): Promise<Response> {
  const cookie = browser.cookiesFor(visit.url.pathname);
  return openBrowser(baseUrl, otherNode.url, { cookie }).post(visit, values);
}

const placeOf = (response: Response) => [response.status, response.headers.get('location')];

describe.each(Object.entries<() => Promise<Ready>>(steps))('a form that %s', (_name, ready) => {
  test('is answered alike when it is sent twice at once', async () => {
    const { browser, visit, values } = await ready();
    const start = await endOfLog(service);
    const answers = await Promise.all([browser.post(visit, values), browser.post(visit, values)]);
    const [first, second] = answers.map(placeOf);
    expect(first?.[0]).toBe(303);
    expect(second).toEqual(first);
    const types = (await recordedSince(service, start)).map(({ type }) => type);
    expect(types.filter((type) => type === 'User.Data.Updated').length).toBeLessThanOrEqual(1);
    if (values['email']) expect(await messagesTo(service, values['email'])).toHaveLength(1);
  });

  test('is answered alike when it is sent once more', async () => {
    const { browser, visit, values } = await ready();
    const first = await browser.post(visit, values);
    const start = await endOfLog(service);
    expect(placeOf(await browser.post(visit, values))).toEqual(placeOf(first));
    expect(await recordedSince(service, start)).toEqual([]);
  });

  test('is answered alike by two nodes, at once and once more', async () => {
    const form: Ready = await ready();
    const { browser, visit, values } = form;
    const start = await endOfLog(service);
    const answers = await Promise.all([browser.post(visit, values), postElsewhere(form)]);
    const [first, second] = answers.map(placeOf);
    expect(first?.[0]).toBe(303);
    expect(second).toEqual(first);
    expect(placeOf(await postElsewhere(form))).toEqual(first);
    const types = (await recordedSince(service, start)).map(({ type }) => type);
    expect(types.filter((type) => type === 'User.Data.Updated').length).toBeLessThanOrEqual(1);
  });
});

test('what was changed elsewhere since is changed again', async () => {
  const { browser, visit, values, userId } = await steps['changes the profile']();
  const nameNow = async () => (await prisma.user.findUniqueOrThrow({ where: { id: userId } })).name;
  await browser.post(visit, values);
  await prisma.user.update({ where: { id: userId }, data: { name: 'Countess' } });
  service.clock.advance(60_000);
  await browser.post(visit, values);
  expect(await nameNow()).toBe('Ada Lovelace');
});

test('what came between is no longer done', async () => {
  const { browser, visit, userId } = await steps['changes the profile']();
  for (const name of ['Ada', 'Countess', 'Ada']) await browser.post(visit, { name });
  const { name } = await prisma.user.findUniqueOrThrow({ where: { id: userId } });
  expect(name).toBe('Ada');
});
