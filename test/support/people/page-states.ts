import type { BrowserContext, Page } from 'playwright-core';
import type { TestService } from '../service.ts';
import { codeTo, messagesTo } from './messages.ts';
import { authorize, type createSignInFixture, password } from './sign-in-fixture.ts';

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

const after = async (page: Page, act: () => Promise<unknown>) => {
  await Promise.all([page.waitForEvent('load'), act()]);
};

/** Fills in fields by name, and submits them. */
export async function send(page: Page, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values))
    await page.locator(`input[name="${name}"]`).fill(value);
  await after(page, () => page.locator('button[type=submit]').first().click());
}

/** Follows a link by its name. */
export const follow = (page: Page, name: string): Promise<void> =>
  after(page, () => page.getByRole('link', { name, exact: true }).click());

async function through(stage: PageStage, way: string, values?: Record<string, string>) {
  const page = await begin(stage);
  await follow(page, way);
  if (values) await send(page, values);
  return page;
}

async function afterCode(stage: PageStage, way: string, email: string) {
  const page = await through(stage, way, { email });
  await send(page, { code: await codeTo(stage.service, email) });
  return page;
}

async function forgotten(stage: PageStage) {
  const email = next('forgetful');
  await stage.fixture.createUser({ primaryEmail: email });
  return afterCode(stage, 'Forgot password?', email);
}

/** Opens a page, fills in values, and submits them. */
const filled =
  (open: (stage: PageStage) => Promise<Page>, values: Record<string, string>) =>
  async (stage: PageStage) => {
    const page = await open(stage);
    await page
      .locator('form')
      .first()
      .evaluate((form) => form.setAttribute('novalidate', ''));
    await send(page, values);
    return page;
  };

const codeAddress = (stage: PageStage) => through(stage, 'Use a code instead');
const code = (stage: PageStage) =>
  through(stage, 'Use a code instead', { email: next('somebody') });
const register = (stage: PageStage) => afterCode(stage, 'Create account', next('newcomer'));

/** Every sign-in page, in every state that looks different. */
export const pageStates: readonly PageState[] = [
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
      for (let i = 0; i < 10; i += 1) await send(page, { identifier, password: 'wrong' });
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
      await after(page, () => page.getByRole('button', { name: 'Send a new code' }).click());
      return page;
    },
  },
  { name: 'forgot-password', open: (stage) => through(stage, 'Forgot password?') },
  { name: 'new-password', open: forgotten },
  { name: 'new-password-refused', open: filled(forgotten, { password: 'password' }) },
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
  {
    name: 'consent',
    async open(stage) {
      const client = await stage.fixture.createApplication({
        isThirdParty: true,
        name: 'Garden Shop',
      });
      const scope = 'openid profile email offline_access read';
      const resource = stage.fixture.resource.indicator;
      const page = await begin(stage, { client_id: client.id, scope, resource });
      await send(page, { identifier: 'Ada', password });
      return page;
    },
  },
  {
    name: 'over',
    async open(stage) {
      const page = await begin(stage);
      const first = page.url();
      const tab = await page.context().newPage();
      await tab.goto(first);
      await tab.locator('input[name=identifier]').fill('Ada');
      await tab.locator('input[name=password]').fill(password);
      await after(tab, () => tab.locator('button[type=submit]').first().click());
      await page.goto(first);
      return page;
    },
  },
];
