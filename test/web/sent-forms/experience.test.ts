import { describe, expect, test } from 'vitest';
import { endOfLog, recordedSince } from '../../support/people/account.ts';
import { enrollApp } from '../../support/people/authenticator-app.ts';
import { asPage, step } from '../../support/people/experience.ts';
import { manager } from '../../support/people/federation.ts';
import { codeTo, messagesTo } from '../../support/people/messages.ts';
import { type Browser, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { client, createUser } = fixture;
const admin = await manager(service);
await changeSettings(service, await service.managementToken(), {
  factors: ['TOTP'],
  signUpIdentifiers: ['EMAIL', 'USERNAME'],
});
const longPassword = 'another horse battery staple';

let people = 0;
const address = () => {
  people += 1;
  return `twice${people}@example.com`;
};
const somebody = async () => {
  const primaryEmail = address();
  const user = await createUser({ primaryEmail, enrollmentSkippedAt: service.clock.now() });
  return { user, email: primaryEmail };
};

/** A form that is ready to be sent, and what it is sent with. */
interface Ready {
  readonly browser: Browser;
  readonly visit: Visit;
  readonly values: Record<string, string>;
}

async function asking(path: string, email: string, parameters?: Record<string, string>) {
  const { browser, visit } = await openSignInPage(service, client, parameters);
  const asked = await browser.open(`${visit.url.pathname}${path}`);
  return { browser, visit: asked, values: { email } };
}

async function askedForCode(path: string, email: string): Promise<Ready> {
  const { browser, visit, values } = await asking(path, email);
  const sent = await browser.submit(visit, values);
  return { browser, visit: sent, values: { code: await codeTo(service, email) } };
}

async function afterCode(path: string, email: string, values: Ready['values']): Promise<Ready> {
  const code = await askedForCode(path, email);
  return {
    browser: code.browser,
    visit: await code.browser.submit(code.visit, code.values),
    values,
  };
}

const steps = {
  'asks for a code': async () => asking('/code', (await somebody()).email),
  'signs in by a code': async () => askedForCode('/code', (await somebody()).email),
  'gives the code of a registration': () => askedForCode('/register', address()),
  async registers() {
    const email = address();
    const username = email.replace(/@.*/, '');
    return afterCode('/register', email, { username, password: longPassword });
  },
  'gives the code of a reset': async () =>
    askedForCode('/forgot-password', (await somebody()).email),
  'chooses a new password': async () =>
    afterCode('/forgot-password', (await somebody()).email, { password: longPassword }),
  async 'signs in by a password'() {
    const { email } = await somebody();
    const { browser, visit } = await openSignInPage(service, client);
    return { browser, visit, values: { identifier: email, password } };
  },
  async 'follows a one-time link'() {
    const { email } = await somebody();
    const { token } = await admin.done('createOneTimeToken', { email });
    const request = { login_hint: email, one_time_token: String(token) };
    const { browser, visit } = await openSignInPage(service, client, request);
    return { browser, visit, values: {} };
  },
  async 'shows a second factor'() {
    const { email } = await somebody();
    const enrolling = asPage(service, (await openSignInPage(service, client)).browser);
    await step(enrolling, 'signInWithPassword', { identifier: email, password });
    const app = await enrollApp(enrolling, service.clock);
    service.clock.advance(30_000);
    const { browser, visit } = await openSignInPage(service, client);
    const asked = await browser.submit(visit, { identifier: email, password });
    return { browser, visit: asked, values: { code: app.code() } };
  },
} satisfies Record<string, () => Promise<Ready>>;

/** How many attempts to sign in have failed. */
async function failures(): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const failed = text.matchAll(/^signet_sign_ins_total\{outcome="(?!succeeded")[^}]*\} (\d+)/gm);
  return [...failed].reduce((sum, [, count]) => sum + Number(count), 0);
}

const placeOf = (response: Response) => [response.status, response.headers.get('location')];
const titleOf = ({ body, url }: Visit) => [
  url.origin + url.pathname,
  /<h1>([^<]*)/.exec(body)?.[1] ?? null,
  /role="alert"/.test(body),
];

describe.each(Object.entries<() => Promise<Ready>>(steps))('a form that %s', (name, ready) => {
  const isOfCode = name === 'asks for a code';

  test('is answered alike when it is sent twice at once', async () => {
    const { browser, visit, values } = await ready();
    const start = await endOfLog(service);
    const failed = await failures();
    const answers = await Promise.all([browser.post(visit, values), browser.post(visit, values)]);
    const [first, second] = answers.map(placeOf);
    expect(first?.[0]).toBe(303);
    expect(second).toEqual(first);
    const types = (await recordedSince(service, start)).map(({ type }) => type);
    expect(await failures()).toBe(failed);
    for (const once of ['User.Created', 'PostRegister', 'PostResetPassword'])
      expect(types.filter((type) => type === once).length).toBeLessThanOrEqual(1);
    if (isOfCode) expect(await messagesTo(service, values['email'] ?? '')).toHaveLength(1);
  });

  test('is answered alike when the first answer was not followed', async () => {
    const { browser, visit, values } = await ready();
    const first = await browser.post(visit, values);
    const start = await endOfLog(service);
    const failed = await failures();
    const second = await browser.post(visit, values);
    expect(placeOf(second)).toEqual(placeOf(first));
    expect(await failures()).toBe(failed);
    expect(await recordedSince(service, start)).toEqual([]);
    // Where it leads is no dead end.
    const end = await browser.open(new URL(second.headers.get('location') ?? '', visit.url));
    expect(titleOf(end)[2]).toBe(false);
    expect(end.status).toBeLessThan(400);
  });

  test('is answered alike with the cookies of before, as the second click sends it', async () => {
    const { browser, visit, values } = await ready();
    const { baseUrl } = service.app.services;
    const cookie = browser.cookiesFor(visit.url.pathname);
    const first = await browser.post(visit, values);
    const second = await openBrowser(baseUrl, baseUrl, { cookie }).post(visit, values);
    expect(placeOf(second)).toEqual(placeOf(first));
  });

  test('is answered alike after going back', async () => {
    const { browser, visit, values } = await ready();
    const done = await browser.submit(visit, values);
    if (done.url.searchParams.has('code') && !done.url.href.startsWith(service.url)) return;
    expect(titleOf(await browser.submit(visit, values))).toEqual(titleOf(done));
  });
});

test('two nodes answer it alike', async () => {
  const { url } = await startSecondNode(service);
  const { browser, visit, values } = await steps.registers();
  const elsewhere: Browser['request'] = (to, init) =>
    fetch(new URL(new URL(to, service.url).pathname, url), {
      ...init,
      redirect: 'manual',
      headers: { cookie: browser.cookiesFor(visit.url.pathname) },
    });
  const csrf = /name="csrf" value="([^"]*)"/.exec(visit.body)?.[1] ?? '';
  const [first, second] = await Promise.all([
    browser.post(visit, values),
    elsewhere(visit.url, { method: 'POST', body: new URLSearchParams({ csrf, ...values }) }),
  ]);
  expect(placeOf(second)).toEqual(placeOf(first));
});

describe('what is meant is done again', () => {
  test('another code', async () => {
    const { browser, visit, values } = await steps['asks for a code']();
    const asked = await browser.submit(visit, values);
    const resend = { ...asked, body: asked.body.slice(asked.body.indexOf('class="inline"') - 6) };
    const again = () => browser.post(resend, { resend: 'yes' });
    const countSent = async () => (await messagesTo(service, values.email)).length;
    const sentBy = async (send: () => Promise<unknown>) => {
      const before = await countSent();
      await send();
      return (await countSent()) - before;
    };
    // On a busy machine the second may begin when the first has been answered, and is then meant.
    let atOnce = 0;
    for (let pair = 0; pair < 3 && atOnce !== 1; pair += 1)
      atOnce = await sentBy(() => Promise.all([again(), again()]));
    expect(atOnce).toBe(1);
    expect(await sentBy(again)).toBe(1);
  });

  test('a password that was wrong', async () => {
    const { browser, visit, values } = await steps['signs in by a password']();
    const wrong = { ...values, password: 'wrong' };
    const failed = await failures();
    for (const _time of [1, 2]) expect((await browser.post(visit, wrong)).status).toBe(422);
    expect((await browser.post(visit, values)).status).toBe(303);
    expect(await failures()).toBe(failed + 2);
  });
});

test('what is kept of a form holds nothing of it', async () => {
  const { browser, visit, values } = await steps.registers();
  await browser.post(visit, values);
  const kept = await fixture.database.prisma.sentForm.findMany();
  expect(kept.length).toBeGreaterThan(0);
  expect(JSON.stringify(kept)).not.toContain(longPassword);
});
