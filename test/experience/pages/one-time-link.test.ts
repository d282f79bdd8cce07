import { describe, expect, test } from 'vitest';
import { systemActor } from '../../../src/services.ts';
import { createOneTimeToken } from '../../../src/users/one-time-tokens/one-time-token.ts';
import { testCall } from '../../support/log.ts';
import { asPage, startHeadless, step } from '../../support/people/experience.ts';
import { type Browser, decodeText, openBrowser, type Visit } from '../../support/people/sign-in.ts';
import { redeemer } from '../../support/people/sign-in-drivers.ts';
import {
  authorize,
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { services } = service.app;
const fixture = await createSignInFixture(service);
const { client, user: ada } = fixture;

const headingOf = ({ body }: Visit) => decodeText(/<h1>([^<]*)/.exec(body)?.[1] ?? '');

async function tokenFor(email: string): Promise<string> {
  const context = { ...services, ...testCall, actor: systemActor };
  return (await createOneTimeToken(context, { email })).token;
}

let count = 0;
async function somebody() {
  count += 1;
  return fixture.createUser({ primaryEmail: `somebody${count}@example.com` });
}
const newAddress = () => {
  count += 1;
  return `nobody${count}@example.com`;
};

/** A browser in which Ada is signed in. */
async function browserOfAda(): Promise<Browser> {
  const browser = openBrowser(services.baseUrl);
  await fixture.signIn({ browser });
  return browser;
}

/** Opens the application's link with a one-time token. */
async function openLink(browser: Browser, email: string, parameters: Record<string, string> = {}) {
  const { visit, verifier } = await openSignInPage(service, client, {
    browser,
    state: 'kept',
    login_hint: email,
    one_time_token: await tokenFor(email),
    ...parameters,
  });
  /** Who is signed in at the application in the end, past the page that signs the other person out. */
  const personAfter = async (last: Visit) => {
    const back =
      headingOf(last) === 'Continue as another person' ? await browser.submit(last, {}) : last;
    const tokens = await redeemer(service, client, { verifier, state: 'kept' })(back.url);
    return tokens.claims()?.sub;
  };
  return { visit, personAfter };
}

/** Who is signed in in a browser. */
async function personIn(browser: Browser): Promise<string | undefined> {
  const { visit, verifier } = await openSignInPage(service, client, { browser, state: 'kept' });
  return (await redeemer(service, client, { verifier, state: 'kept' })(visit.url)).claims()?.sub;
}

describe('where somebody else is signed in', () => {
  test('ends as the person of the link, by pages', async () => {
    const [browser, person] = [await browserOfAda(), await somebody()];
    const { visit, personAfter } = await openLink(browser, person.primaryEmail ?? '');
    expect(headingOf(visit)).toBe('Almost there');
    expect(await personAfter(await browser.submit(visit, {}))).toBe(person.id);
    expect(await personIn(browser)).toBe(person.id);
  });

  test('ends as the person of the link, by the Experience API', async () => {
    const [browser, person] = [await browserOfAda(), await somebody()];
    const email = person.primaryEmail ?? '';
    const { personAfter } = await openLink(browser, email);
    const send = asPage(service, browser);
    const token = await tokenFor(email);
    expect(await step(send, 'redeemOneTimeToken', { email, token })).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'] },
    });
    const { redirectTo } = await step(send, 'submitInteraction');
    expect(await personAfter(await browser.open(redirectTo))).toBe(person.id);
  });

  test('ends as the person of the link, without a hint of the address', async () => {
    const [browser, person] = [await browserOfAda(), await somebody()];
    const email = person.primaryEmail ?? '';
    const { visit, personAfter } = await openLink(browser, email, { login_hint: '' });
    expect(await personAfter(await browser.submit(visit, { email }))).toBe(person.id);
  });

  test('leads to registration with an address that nobody has', async () => {
    const [browser, email] = [await browserOfAda(), newAddress()];
    const { visit, personAfter } = await openLink(browser, email);
    const form = await browser.submit(visit, {});
    expect(headingOf(form)).toBe('Create account');
    expect(form.body).toContain(email);
    const sub = await personAfter(
      await browser.submit(form, { username: `newcomer${count}`, password }),
    );
    expect(sub).not.toBe(ada.id);
    expect(
      await services.database.prisma.user.findUniqueOrThrow({ where: { id: String(sub) } }),
    ).toMatchObject({ primaryEmail: email, isEmailVerified: true });
  });

  test('opened again, it does not end as somebody else', async () => {
    const [browser, person] = [await browserOfAda(), await somebody()];
    const email = person.primaryEmail ?? '';
    const used = await tokenFor(email);
    const elsewhere = openBrowser(services.baseUrl);
    const first = await openLink(elsewhere, email, { one_time_token: used });
    await first.personAfter(await elsewhere.submit(first.visit, {}));
    const again = await openLink(elsewhere, email, { one_time_token: used });
    expect(await again.personAfter(again.visit)).toBe(person.id);
    const { visit } = await openLink(browser, email, { one_time_token: used });
    expect(headingOf(await browser.submit(visit, {}))).toBe('Almost there');
    expect(await personIn(browser)).toBe(ada.id);
  });

  test('another way may be taken, also as who is signed in', async () => {
    const [browser, person] = [await browserOfAda(), await somebody()];
    const { visit, personAfter } = await openLink(browser, person.primaryEmail ?? '');
    const other = await browser.open(`${visit.url.href.replace('/one-time-link', '')}?sign-in`);
    const last = await browser.submit(other, { identifier: 'Ada', password });
    expect(await personAfter(last)).toBe(ada.id);
  });

  test('is an error for an application that asks for no page', async () => {
    const [browser, person] = [await browserOfAda(), await somebody()];
    const { visit } = await openLink(browser, person.primaryEmail ?? '', { prompt: 'none' });
    expect(visit.url.searchParams.get('error')).toBe('login_required');
  });
});

test('what reads links in mails uses nothing up', async () => {
  const email = (await somebody()).primaryEmail ?? '';
  const token = await tokenFor(email);
  for (const method of ['HEAD', 'GET', 'GET']) {
    const scanner = openBrowser(services.baseUrl);
    const { url } = await authorize(service, client, { login_hint: email, one_time_token: token });
    const seen = await scanner.open(url, { method });
    expect(await personIn(scanner).catch(() => undefined), seen.url.pathname).toBeUndefined();
  }
  const browser = openBrowser(services.baseUrl);
  const { visit, personAfter } = await openLink(browser, email, { one_time_token: token });
  expect(await personAfter(await browser.submit(visit, {}))).toBeTypeOf('string');
});

describe('opened in two tabs', () => {
  const openTwice = async () => {
    const person = await somebody();
    const email = person.primaryEmail ?? '';
    const token = await tokenFor(email);
    const browser = openBrowser(services.baseUrl);
    const open = () => openLink(browser, email, { one_time_token: token });
    const [one, other] = [await open(), await open()];
    return { person, browser, one, other };
  };

  test('both end as its person', async () => {
    const { person, browser, one, other } = await openTwice();
    for (const { visit, personAfter } of [one, other])
      expect(await personAfter(await browser.submit(visit, {}))).toBe(person.id);
    // What was answered so is not answered by it once nobody is signed in.
    const { database } = services;
    await database.prisma.session.deleteMany({ where: { userId: person.id } });
    expect((await browser.submit(other.visit, {})).url.origin).toBe(
      new URL(services.baseUrl).origin,
    );
  });

  test('it takes nobody else anywhere', async () => {
    const { person, browser, one, other } = await openTwice();
    expect(await one.personAfter(await browser.submit(one.visit, {}))).toBe(person.id);
    const ada = await browserOfAda();
    const elsewhere = await openLink(ada, person.primaryEmail ?? '', { one_time_token: 'used' });
    expect(headingOf(await ada.submit(elsewhere.visit, {}))).toBe('Almost there');
    expect(await personIn(ada)).toBe(fixture.user.id);
    expect(await other.personAfter(await browser.submit(other.visit, {}))).toBe(person.id);
  });
});

test('the person of the link who is signed in goes on at once', async () => {
  const browser = await browserOfAda();
  const { visit, personAfter } = await openLink(browser, 'ada@example.com');
  expect(await personAfter(visit)).toBe(ada.id);
});

test('without a browser, an address that nobody has leads to registration with it', async () => {
  const email = newAddress();
  const headless = await fixture.createApplication({ allowHeadlessSignIn: true });
  const { send } = await startHeadless(service, { clientId: headless.id, redirectUri });
  expect(
    await step(send, 'redeemOneTimeToken', { email, token: await tokenFor(email) }),
  ).toMatchObject({
    interaction: {
      event: 'REGISTER',
      nextSteps: ['REGISTER', 'IDENTIFY', 'VERIFY_PASSWORD'],
      identifier: email,
    },
  });
  const registered = await step(send, 'register', { username: `newcomer${count}`, password });
  expect(registered).toMatchObject({ interaction: { nextSteps: ['SUBMIT'] } });
});
