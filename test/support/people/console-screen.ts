import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { builtConsole } from '../../../src/http/console/files.ts';
import { type EventSeen, events } from '../events.ts';
import { leaveChromium, openChromium } from '../peers/chromium.ts';
import { startService, type TestService } from '../service.ts';
import { eventually } from '../wait.ts';
import { adminOf, type Endpoint } from '../webhooks.ts';
import { setupTokenOf } from './console.ts';

/** The password of the administrator at the screen. */
const passwordAtScreen = 'a long way home, twice';

/** An administrator in front of the built console, in Chromium. */
export interface ConsoleAtWork {
  readonly service: TestService;
  readonly page: Page;
  readonly context: BrowserContext;
  readonly chromium: Browser;
  /** A client that may do everything, beside the console. */
  readonly endpoint: Endpoint;
  /** Opens a page of the console, and waits for its heading. */
  open(path: string, heading: string): Promise<void>;
  /** Comes to a page as a link of the console does: without a load, which would take longer than the page. */
  comeTo(path: string): Promise<void>;
  /** Does something while the console speaks a language; English otherwise. */
  inLanguage(language: 'en' | 'de', act: () => Promise<unknown>): Promise<void>;
  /** Goes to a page by the keys `g` and its letter; again where the two came too far apart. */
  goByKeys(letter: string, heading: string): Promise<void>;
  /** Does something at the screen, and expects exactly these events in the log for it. */
  raises(names: readonly string[], act: () => Promise<unknown>): Promise<EventSeen[]>;
  button(name: string, inside?: Locator): Locator;
  field(label: string, inside?: Locator): Locator;
  /** The window that is open over the page. */
  readonly dialog: Locator;
  tab(name: string): Promise<void>;
  /** Presses a button that asks for a click, and the same one in its window. */
  confirmStart(name: string, inside?: Locator): Promise<void>;
  /** As {@link confirmStart}, and waits until the window is gone. */
  confirm(name: string, inside?: Locator): Promise<void>;
  /** Presses the cross called so, and `Remove` in its window. */
  remove(name: string, inside?: Locator): Promise<void>;
  /** Searches in a combobox, and picks what is called so. */
  pick(combobox: string, search: string, option?: string): Promise<void>;
  /** Deletes the record of the page by its name, as it is typed. */
  deleteRecord(name: string, typed?: string): Promise<void>;
  /** The text of the error beside a field, as it is tied to it. */
  errorOf(field: Locator): Promise<string>;
  /** What the browser complained about. */
  readonly complaints: readonly string[];
}

/** Starts a service with the built console, and a browser whose person has made the first administrator. */
export async function startConsoleAtWork(
  environment: Record<string, string> = {},
): Promise<ConsoleAtWork> {
  const service = await startService(environment, { consoleFolder: builtConsole });
  return sitDownAt(service);
}

/** Opens a browser at a service that has the built console; its person makes the first administrator. */
export async function sitDownAt(service: TestService): Promise<ConsoleAtWork> {
  const { baseUrl } = service.app.services;
  const endpoint = await adminOf(service);
  const complaints: string[] = [];
  let chromium: Browser | undefined;
  let context: BrowserContext | undefined;
  let opened: Page | undefined;

  beforeAll(async () => {
    chromium = await openChromium();
    context = await chromium.newContext({
      baseURL: `${baseUrl}/`,
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      reducedMotion: 'reduce',
    });
    opened = await context.newPage();
    hear(opened, complaints);
    await setUpAtScreen(opened, `${baseUrl}/console/setup?token=${setupTokenOf(service)}`);
  });
  // What was waited for in vain says nothing of what stood there instead.
  afterEach(async ({ task }) => {
    const [error] = task.result?.errors ?? [];
    if (!error || !opened) return;
    const shown = await opened.evaluate(() => document.body.innerText).catch(String);
    error.message += `\n\nThe page showed:\n${shown}\n\nIt complained:\n${complaints.join('\n')}`;
  });
  afterAll(leaveChromium);

  const page = () => there(opened);
  const button: ConsoleAtWork['button'] = (name, inside) =>
    (inside ?? page()).getByRole('button', { name, exact: true });
  const confirmStart: ConsoleAtWork['confirmStart'] = async (name, inside) => {
    await button(name, inside).click();
    await dialog().waitFor();
    await button(name, dialog()).click();
  };
  const dialog = () => page().locator('[role=dialog], [role=alertdialog]').last();
  return {
    service,
    endpoint,
    complaints,
    get page() {
      return page();
    },
    get context() {
      return there(context);
    },
    get chromium() {
      return there(chromium);
    },
    get dialog() {
      return dialog();
    },
    button,
    field: (label, inside) =>
      // Its section may have the same name.
      (inside ?? page())
        .getByLabel(label, { exact: true })
        .and(page().locator('input, textarea, select')),
    async open(path, heading) {
      await page().goto(`${baseUrl}/console/${path}`);
      await page().getByRole('heading', { name: heading, level: 1 }).waitFor();
    },
    comeTo: (path) => comeTo(page(), path),
    async inLanguage(language, act) {
      const speak = async (spoken: string) => {
        if ((await page().locator('html').getAttribute('lang')) === spoken) return;
        await page().evaluate(`localStorage.setItem('signet.console.language', '${spoken}')`);
        await page().reload();
        await headingOf(page()).waitFor();
      };
      await speak(language);
      await act();
      await speak('en');
    },
    async goByKeys(letter, heading) {
      const arrived = page().getByRole('heading', { name: heading, level: 1 });
      await eventually(async () => {
        await page().keyboard.press('g');
        await page().keyboard.press(letter);
        expect(await arrived.isVisible()).toBe(true);
      }, 500);
    },
    async raises(names, act) {
      const { length } = await events(endpoint);
      await act();
      return eventually(async () => {
        const raised = (await events(endpoint)).slice(length);
        expect(raised.map(({ name }) => name)).toEqual(names);
        return raised;
      });
    },
    tab: (name) => page().getByRole('tab', { name, exact: true }).click(),
    confirmStart,
    async confirm(name, inside) {
      await confirmStart(name, inside);
      await dialog().waitFor({ state: 'detached' });
    },
    async remove(name, inside) {
      await button(name, inside).click();
      await button('Remove', page().getByRole('alertdialog', { name: `${name}?` })).click();
      await page()
        .getByRole('alertdialog', { name: `${name}?` })
        .waitFor({ state: 'detached' });
    },
    async pick(combobox, search, option = search) {
      await page().getByRole('combobox', { name: combobox, exact: true }).fill(search);
      await page().getByRole('option', { name: option }).first().click();
    },
    async deleteRecord(name, typed = name) {
      await button('Delete').click();
      const window = page().getByRole('alertdialog', { name: `Delete ${name}?` });
      await window.getByRole('textbox').fill(typed);
      await button('Delete', window).click();
      await window.waitFor({ state: 'detached' });
    },
    async errorOf(field) {
      await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
      const ids = (await field.getAttribute('aria-describedby')) ?? '';
      const error = ids.split(' ').find((id) => id.includes('-error'));
      return page().locator(`[id="${error}"]`).innerText();
    },
  };
}

/** The heading of a page of the console; while it loads, the page is headed by the product's name. */
const headingOf = (page: Page): Locator =>
  page.getByRole('heading', { level: 1 }).filter({ hasNotText: /^Signet$/ });

const nowhere = /^(Not found|Nicht gefunden)$/;

/** Comes to a page of the console that is open, as {@link ConsoleAtWork.comeTo}. */
export async function comeTo(page: Page, path: string): Promise<void> {
  const [root] = /^.*?\/console\//.exec(page.url()) ?? [];
  const push = (address: string) =>
    page.evaluate(`history.pushState(null, '', ${JSON.stringify(`${root}${address}`)})`);
  // The heading of the page before would be there at once.
  await push('nowhere');
  await page.getByText(nowhere).waitFor();
  await push(path);
  await page.getByText(nowhere).waitFor({ state: 'detached' });
  // By its element: behind a window, the page is not there for whoever is read to.
  await page
    .locator('h1')
    .filter({ hasNotText: /^Signet$/ })
    .waitFor();
}

const there = <Thing>(thing: Thing | undefined): Thing => {
  if (!thing) throw new Error('The browser starts before the tests.');
  return thing;
};

/** Collects what a page complains about. */
function hear(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    // Chromium reports an answer with 401, which is how the page learns that nobody is signed in.
    if (/status of 401/.test(message.text())) return;
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
}

/** Signs in at the service's own page; by default the first administrator. */
export async function signInAtScreen(
  page: Page,
  username = 'ada',
  password = passwordAtScreen,
): Promise<void> {
  await page.locator('[autocomplete^=username]').fill(username);
  await page.locator('[autocomplete=current-password]').fill(password);
  await page.locator('button[type=submit]').first().click();
}

/** Makes the first administrator by the printed link. */
export async function setUpAtScreen(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel('User name').fill('ada');
  await page.getByLabel('E-mail address').fill('ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill(passwordAtScreen);
  await page.getByRole('button', { name: 'Create account and sign in' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}
