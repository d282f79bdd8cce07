import { openChromium } from '../support/peers/chromium.ts';
import { openBrowser, type Visit } from '../support/people/sign-in.ts';

/** What somebody signs in with. */
interface Login {
  readonly identifier: string;
  readonly password: string;
}

/** Somebody in front of an app of `examples/clients`. */
export interface Person {
  /** Signs in at the service's pages, and ends at the app's first page. */
  signIn(login: Login): Promise<void>;
  /** What the app answers at a path: JSON, or else the text of a refusal. */
  ask(path: string): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Signs out at the app, and confirms it to the service; returns where that ends. */
  signOut(): Promise<string>;
  /** Where a new sign-in begins. */
  beginAgain(): Promise<URL>;
  leave(): Promise<void>;
}

/** A person whose browser has no scripts. */
export function openPerson(app: string, service: string): Person {
  // No connection is used twice: between two requests an app may close it.
  const browsers = new Map(
    [app, service].map((url) => [
      new URL(url).origin,
      openBrowser(url, url, { connection: 'close' }),
    ]),
  );
  const browserAt = (url: URL) => {
    const browser = browsers.get(url.origin);
    if (!browser) throw new Error(`Led to ${url}.`);
    return browser;
  };
  const followed = async (from: URL, visit: Visit): Promise<Visit> =>
    visit.url.origin === from.origin ? visit : open(visit.url);
  async function open(address: string | URL): Promise<Visit> {
    const url = new URL(address);
    return followed(url, await browserAt(url).open(url));
  }
  const submit = async (visit: Visit, values: Record<string, string>) =>
    followed(visit.url, await browserAt(visit.url).submit(visit, values));

  return {
    async signIn(login) {
      const { url, status, body } = await submit(await open(`${app}/sign-in`), { ...login });
      if (url.href !== `${app}/` || status !== 200)
        throw new Error(`The sign-in ended at ${url} (${status}): ${body}`);
    },
    async ask(path) {
      const { status, body } = await open(`${app}${path}`);
      return { status, body: status === 200 ? JSON.parse(body) : body };
    },
    signOut: async () => (await submit(await open(`${app}/sign-out`), { logout: 'yes' })).url.href,
    beginAgain: async () => (await open(`${app}/sign-in`)).url,
    leave: async () => undefined,
  };
}

/** A person with Chromium, for what runs in the browser. */
export async function openPersonInChromium(app: string, service: string): Promise<Person> {
  const context = await (await openChromium()).newContext();
  const page = await context.newPage();
  const open = async (url: string) => {
    if (page.url() !== url) await page.goto(url);
  };
  const toService = () => page.waitForURL(`${service}/**`);
  return {
    async signIn({ identifier, password }) {
      await open(`${app}/sign-in`);
      await page.fill('[name=identifier]', identifier);
      await page.fill('[name=password]', password);
      await page.press('[name=password]', 'Enter');
      await page.waitForURL(`${app}/`);
    },
    async ask(path) {
      await open(`${app}${path}`);
      const body = await page.locator('pre', { hasText: /./ }).textContent();
      return { status: 200, body: JSON.parse(body ?? '') };
    },
    async signOut() {
      await open(`${app}/sign-out`);
      await toService();
      await page.click('[name=logout]');
      await page.waitForURL(`${app}/`);
      return page.url();
    },
    async beginAgain() {
      await open(`${app}/sign-in`);
      await toService();
      return new URL(page.url());
    },
    leave: () => context.close(),
  };
}
