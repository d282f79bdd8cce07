import { afterAll, expect, test } from 'vitest';
import { startFront } from '../support/ordeal/front.ts';
import { enrollApp } from '../support/people/authenticator-app.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { codeTo } from '../support/people/messages.ts';
import { type Browser, openBrowser } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const before = 'the secret of before, for tests only';
const coming = 'the coming secret, for tests only as well';

// Requests go to the nodes in turn: none can rely on who answered the one before.
let nodes: { readonly url: string }[] = [];
const front = await startFront(async (number) => nodes[number % nodes.length]?.url ?? '');
afterAll(() => front.close());
const service = await startService({
  BASE_URL: front.url,
  TRUST_PROXY: '1',
  SIGNET_SECRET: before,
  SIGNET_SECRET_PREVIOUS: coming,
});
nodes = [service];
const fixture = await createSignInFixture(service);
const headlessClient = await fixture.createApplication({ allowHeadlessSignIn: true });
await changeSettings(service, await service.managementToken(), {
  factors: ['TOTP', 'BACKUP_CODES'],
});

// Ada has said `Not now`.
await fixture.database.prisma.user.updateMany({
  data: { enrollmentSkippedAt: service.clock.now() },
});

/** Whether a browser is signed in: it comes back without a page in between. */
async function isSignedIn(browser: Browser): Promise<boolean> {
  const { visit } = await openSignInPage(service, fixture.client, { browser });
  return visit.url.href.startsWith(redirectUri);
}

async function signIn(): Promise<Browser> {
  const browser = openBrowser(front.url);
  await fixture.signIn({ browser });
  return browser;
}

const start = () =>
  startHeadless({ ...service, url: front.url }, { clientId: headlessClient.id, redirectUri });
async function identify(identifier: string) {
  const headless = await start();
  const shown = await step(headless.send, 'signInWithPassword', { identifier, password });
  expect(shown).toMatchObject({ __typename: 'SignInWithPasswordPayload' });
  return headless.send;
}
const isOver = async (send: Parameters<typeof step>[0]) =>
  expect((await step(send, 'submitInteraction'))['redirectTo']).toContain(redirectUri);

test('people stay signed in, and finish what they began, while the secret changes', async () => {
  const early = await signIn();
  const idle = await signIn();
  const open = await openSignInPage(service, fixture.client);
  const careful = await fixture.createUser({ primaryEmail: 'careful@example.com' });
  const enrolling = await identify('careful@example.com');
  const app = await enrollApp(enrolling, service.clock);
  const { codes } = await step(enrolling, 'createBackupCodes');
  await isOver(enrolling);
  const waiting = await start();
  const sent = await step(waiting.send, 'sendCode', {
    email: 'Ada@example.com',
    purpose: 'SIGN_IN',
  });
  expect(sent).toMatchObject({ __typename: 'SendCodePayload' });

  const other = await startSecondNode(service, {
    SIGNET_SECRET: coming,
    SIGNET_SECRET_PREVIOUS: before,
  });
  nodes = [service, other];
  for (let turn = 0; turn < 3; turn += 1) expect(await isSignedIn(early)).toBe(true);
  const finished = await open.browser.submit(open.visit, { identifier: 'Ada', password });
  expect(finished.url.href).toContain(redirectUri);
  for (let turn = 0; turn < 4; turn += 1) {
    const browser = await signIn();
    expect(await isSignedIn(browser)).toBe(true);
    expect(await isSignedIn(browser)).toBe(true);
  }
  const code = await codeTo(service, 'Ada@example.com');
  const verified = await step(waiting.send, 'verifyCode', {
    verificationId: sent['verification'].id,
    code,
  });
  expect(verified).toMatchObject({ __typename: 'VerifyCodePayload' });
  service.clock.advance(30_000);
  const byApp = await identify('careful@example.com');
  expect(await step(byApp, 'verifyTotp', { code: app.code() })).toMatchObject({
    __typename: 'VerifyTotpPayload',
  });
  await isOver(byApp);

  nodes = [other];
  await service.app.stop();
  await eventually(async () => {
    service.clock.advance(16_000);
    expect(await (await fetch(`${front.url}/readyz`)).text()).toContain(': re-encrypted');
  }, 1000);
  // Whoever comes while both count gets a cookie of the new one.
  expect(await isSignedIn(early)).toBe(true);

  const last = await startSecondNode(service, {
    SIGNET_SECRET: coming,
    SIGNET_SECRET_PREVIOUS: '',
  });
  nodes = [last];
  await other.app.stop();
  expect(await isSignedIn(early)).toBe(true);
  // Too early: nothing said yet that the previous one is no longer needed. One who was not there signs in again.
  expect(await isSignedIn(idle)).toBe(false);
  const byCode = await identify('careful@example.com');
  expect(await step(byCode, 'verifyBackupCode', { code: codes[0] })).toMatchObject({
    __typename: 'VerifyBackupCodePayload',
  });
  await isOver(byCode);
  expect(careful.id).toMatch(/^user_/);
});
