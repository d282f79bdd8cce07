import { randomBytes } from 'node:crypto';
import type { BrowserContext, Page } from 'playwright-core';
import { newId } from '../../../src/ids.ts';
import type { TestService } from '../service.ts';
import { authenticatorApp } from './authenticator-app.ts';
import { codeTo, messagesTo } from './messages.ts';
import { followLink, loading, sendForm } from './pages/hand.ts';
import { authorize, type createSignInFixture, password } from './sign-in-fixture.ts';
import { changeSettings } from './sign-in-settings.ts';

/** The service of the fixture, where new people sign up by code, and a browser. */
export interface PageStage {
  readonly service: TestService;
  readonly fixture: Awaited<ReturnType<typeof createSignInFixture>>;
  /** Opens a context of one Chromium. */
  newContext(): Promise<BrowserContext>;
}

/** One state of a sign-in page. */
export interface PageState {
  readonly name: string;
  open(stage: PageStage): Promise<Page>;
}

let count = 0;
const next = (word: string) => {
  count += 1;
  return `${word}${count}@example.com`;
};

/** Opens the first page. */
export async function begin(
  { service, fixture, newContext }: PageStage,
  parameters: Record<string, string> = {},
): Promise<Page> {
  const page = await (await newContext()).newPage();
  const { url } = await authorize(service, fixture.client, parameters);
  await page.goto(url.href);
  return page;
}

async function through(stage: PageStage, way: string, values?: Record<string, string>) {
  const page = await begin(stage);
  await followLink(page, way);
  if (values) await sendForm(page, values);
  return page;
}

async function afterCode(stage: PageStage, way: string, email: string) {
  const page = await through(stage, way, { email });
  await sendForm(page, { code: await codeTo(stage.service, email) });
  return page;
}

async function forgotten(stage: PageStage) {
  const email = next('forgetful');
  await stage.fixture.createUser({ primaryEmail: email });
  return afterCode(stage, 'Forgot password?', email);
}

/** At the end of a recovery, with long names to look over. */
async function review(stage: PageStage, parameters: Record<string, string> = {}) {
  const email = next('recovered');
  const { id: userId } = await stage.fixture.createUser({ primaryEmail: email });
  await createReviewed(stage, userId);
  const page = await begin(stage, parameters);
  await page.goto(`${page.url()}/forgot-password`);
  await sendForm(page, { email });
  await sendForm(page, { code: await codeTo(stage.service, email) });
  await sendForm(page, { password: 'a long way home, twice' });
  return page;
}

async function createReviewed({ service, fixture: { database } }: PageStage, userId: string) {
  const createdAt = service.clock.now();
  const issuer = `https://${userId.replaceAll('_', '-')}.example.com`;
  const [identityProviderId, clientId] = [newId('IdentityProvider'), 'signet'];
  const name =
    'The Worshipful Company of Goldsmiths, Silversmiths and Clockmakers of Greater London';
  const dates = { createdAt, updatedAt: createdAt };
  await database.prisma.identityProvider.create({
    data: { id: identityProviderId, name, kind: 'ENTERPRISE', issuer, clientId, ...dates },
  });
  const email = `${'a-very-long-name-without-a-break'.repeat(2)}@example.com`;
  const linked = { identityProviderId, issuer, subject: userId, email, linkedAt: createdAt };
  await database.prisma.userIdentity.create({
    data: { id: newId('UserIdentity'), userId, ...linked },
  });
  await database.prisma.userFactor.createMany({
    data: ['x'.repeat(128), null].map((name) => ({
      id: newId('UserFactor'),
      userId,
      type: 'TOTP',
      name,
      createdAt,
    })),
  });
}

/** Opens a page, fills in values, and submits them. */
const filled =
  (open: (stage: PageStage) => Promise<Page>, values: Record<string, string>) =>
  async (stage: PageStage) => {
    const page = await open(stage);
    await page.evaluate("document.querySelector('form').noValidate = true");
    await sendForm(page, values);
    return page;
  };

const codeAddress = (stage: PageStage) => through(stage, 'Use a code instead');
const code = (stage: PageStage) =>
  through(stage, 'Use a code instead', { email: next('somebody') });
const register = (stage: PageStage) => afterCode(stage, 'Create account', next('newcomer'));

/** Opens a page of a second factor while these are offered; afterwards none is. */
const offering =
  (factors: string[], open: (page: Page, stage: PageStage) => Promise<unknown>) =>
  async (stage: PageStage): Promise<Page> => {
    const token = await stage.service.managementToken();
    await changeSettings(stage.service, token, { factors });
    const person = await stage.fixture.createUser({ primaryEmail: next('careful') });
    const page = await begin(stage);
    await sendForm(page, { identifier: person.primaryEmail ?? '', password });
    await open(page, stage);
    await changeSettings(stage.service, token, { factors: [] });
    return page;
  };

async function addApp(page: Page, { service }: PageStage) {
  const key = (await page.locator('code').first().textContent()) ?? '';
  const app = authenticatorApp(service.clock, key.replaceAll(' ', ''));
  await sendForm(page, { code: app.code() });
}

/** Adds an app, and signs in once more up to the page that asks for it. */
async function toFactor(page: Page, stage: PageStage) {
  await addApp(page, stage);
  const { id = '' } =
    (await stage.fixture.database.prisma.user.findFirst({ orderBy: { id: 'desc' } })) ?? {};
  const { primaryEmail } = await stage.fixture.database.prisma.user.findUniqueOrThrow({
    where: { id },
  });
  const { url } = await authorize(stage.service, stage.fixture.client, { prompt: 'login' });
  await page.goto(url.href);
  await sendForm(page, { identifier: primaryEmail ?? '', password });
}

/** A person with a passkey, up to the page that asks for it. */
async function toPasskey(page: Page, stage: PageStage) {
  const { prisma } = stage.fixture.database;
  const [user] = await prisma.user.findMany({ orderBy: { createdAt: 'desc' }, take: 1 });
  await prisma.userFactor.create({
    data: {
      id: newId('UserFactor'),
      userId: user?.id ?? '',
      type: 'PASSKEY',
      credentialId: new Uint8Array(randomBytes(32)),
      createdAt: stage.service.clock.now(),
    },
  });
  await page.goto(page.url());
}

/** Opens a page while passkeys are offered, which the browser cannot use by itself. */
const passkeys = (open: (page: Page, stage: PageStage) => Promise<unknown>) =>
  offering(['PASSKEY', 'TOTP'], open);

const passkeyStates: readonly PageState[] = [
  {
    name: 'sign-in-passkey',
    async open(stage) {
      const token = await stage.service.managementToken();
      await changeSettings(stage.service, token, { factors: ['PASSKEY'] });
      const page = await begin(stage);
      await changeSettings(stage.service, token, { factors: [] });
      return page;
    },
  },
  {
    name: 'passkey',
    async open(stage) {
      const token = await stage.service.managementToken();
      await changeSettings(stage.service, token, { factors: ['PASSKEY'] });
      const page = await begin(stage);
      await page.goto(`${page.url()}/passkey`);
      await changeSettings(stage.service, token, { factors: [] });
      return page;
    },
  },
  {
    name: 'enroll-passkey',
    open: passkeys((page) => page.goto(`${page.url()}/passkey`)),
  },
  { name: 'factor-passkey', open: passkeys(toPasskey) },
  {
    name: 'factor-passkey-wrong',
    open: passkeys(async (page, stage) => {
      await toPasskey(page, stage);
      // What the script sends when the service gives no options.
      await loading(page, () => page.evaluate("document.querySelector('[data-passkey]').submit()"));
    }),
  },
];

const factorStates: readonly PageState[] = [
  { name: 'enroll-choose', open: offering(['TOTP', 'PASSKEY'], async () => undefined) },
  { name: 'enroll-app', open: offering(['TOTP', 'BACKUP_CODES'], async () => undefined) },
  {
    name: 'enroll-app-wrong',
    open: offering(['TOTP'], (page) => sendForm(page, { code: '000000' })),
  },
  { name: 'enroll-backup-codes', open: offering(['TOTP', 'BACKUP_CODES'], addApp) },
  {
    name: 'backup-codes',
    open: offering(['TOTP', 'BACKUP_CODES'], async (page, stage) => {
      await addApp(page, stage);
      await sendForm(page, {});
    }),
  },
  { name: 'factor-app', open: offering(['TOTP', 'BACKUP_CODES'], toFactor) },
  {
    name: 'factor-app-wrong',
    open: offering(['TOTP', 'BACKUP_CODES'], async (page, stage) => {
      await toFactor(page, stage);
      await sendForm(page, { code: '000000' });
    }),
  },
];

async function consent(stage: PageStage, parameters: Record<string, string> = {}) {
  const client = await stage.fixture.createApplication({
    isThirdParty: true,
    name: 'Garden Shop',
  });
  const scope = 'openid profile email offline_access read';
  const resource = stage.fixture.resource.indicator;
  const page = await begin(stage, { client_id: client.id, scope, resource, ...parameters });
  await sendForm(page, { identifier: 'Ada', password });
  return page;
}

/** Every sign-in page, in every state that looks different. */
export const pageStates: readonly PageState[] = [
  ...factorStates,
  ...passkeyStates,
  { name: 'sign-in', open: (stage) => begin(stage) },
  {
    name: 'sign-in-wrong',
    open: filled((stage) => begin(stage), { identifier: 'Ada', password: 'wrong' }),
  },
  {
    name: 'sign-in-locked',
    async open(stage) {
      const page = await begin(stage);
      const identifier = next('locked');
      for (let i = 0; i < 10; i += 1) await sendForm(page, { identifier, password: 'wrong' });
      return page;
    },
  },
  { name: 'code-address', open: codeAddress },
  { name: 'code-address-wrong', open: filled(codeAddress, { email: 'nowhere' }) },
  { name: 'code', open: code },
  { name: 'code-wrong', open: filled(code, { code: '000000' }) },
  {
    name: 'code-sent-again',
    async open(stage) {
      const page = await code(stage);
      const again = page.getByRole('button', { name: /^Send a new code/ });
      // It waits for as long as a message takes.
      await page.locator('[data-wait]:disabled').waitFor();
      stage.service.clock.advance(30_000);
      await page.reload();
      await loading(page, () => again.click());
      return page;
    },
  },
  { name: 'forgot-password', open: (stage) => through(stage, 'Forgot password?') },
  { name: 'new-password', open: forgotten },
  { name: 'new-password-refused', open: filled(forgotten, { password: 'password' }) },
  { name: 'review', open: (stage) => review(stage) },
  { name: 'review-german', open: (stage) => review(stage, { ui_locales: 'de' }) },
  { name: 'register-address', open: (stage) => through(stage, 'Create account') },
  { name: 'register', open: register },
  { name: 'register-wrong', open: filled(register, { username: '1st', password: 'short' }) },
  {
    name: 'one-time-link',
    open: (stage) => begin(stage, { one_time_token: 'none', login_hint: 'ada@example.com' }),
  },
  {
    name: 'one-time-link-wrong',
    open: filled((stage) => begin(stage, { one_time_token: 'none' }), {
      email: 'ada@example.com',
    }),
  },
  {
    name: 'link-elsewhere',
    async open(stage) {
      const email = next('reader');
      await stage.fixture.createUser({ primaryEmail: email });
      await through(stage, 'Use a code instead', { email });
      const [{ link } = {}] = await messagesTo(stage.service, email);
      const page = await (await stage.newContext()).newPage();
      await page.goto(String(link));
      return page;
    },
  },
  { name: 'consent', open: (stage) => consent(stage) },
  { name: 'consent-german', open: (stage) => consent(stage, { ui_locales: 'de' }) },
  {
    name: 'over',
    async open(stage) {
      const page = await begin(stage);
      const first = page.url();
      const tab = await page.context().newPage();
      await tab.goto(first);
      await sendForm(tab, { identifier: 'Ada', password });
      await page.goto(first);
      return page;
    },
  },
];
