import { join } from 'node:path';
import type { BrowserContext, Page, Response } from 'playwright-core';
import { expectUsableByKeys, focusedName } from './look.ts';

/** A person with a keyboard and no mouse, in a browser. */
export interface Person {
  readonly page: Page;
  /** Opens what somebody gave: an application's request, a link in a message. The only way to a page without a key. */
  arrive(url: URL | string): Promise<void>;
  /** Tabs to the field with this label, and types in place of what it holds. A code that is complete sends itself. */
  fill(label: string, text: string): Promise<void>;
  /** Tabs to the button or link with this name, presses it, and comes to another page. */
  press(name: string): Promise<void>;
  /** The same for a button that leads to no other page at once. */
  pressHere(name: string): Promise<void>;
  /** Presses Enter in a field, and comes to another page. */
  enter(): Promise<void>;
  heading(): Promise<string>;
  /** What the page says in answer to what was sent. */
  problem(): Promise<string>;
}

/** What a person comes to on the way. */
export interface Sights {
  /** Tells which page this is; undefined for one of somebody else, which is not looked at. */
  nameOf(markup: string): string | undefined;
  /** Whether a page with this address is one that has to be looked at. */
  isOurs(address: string): boolean;
  /** Called for every page that a person has looked at. */
  onPage(name: string): void;
  /** What people have gone around by Tab and Shift+Tab. */
  readonly walked: Set<string>;
}

// `SCREENSHOTS=folder` keeps a picture of each stop.
const pictures = process.env['SCREENSHOTS'];
let pictured = 0;

/** Sits a person down at a browser. Every page of the service that they come to is gone around by Tab and Shift+Tab. */
export async function sitDown(
  context: BrowserContext,
  { nameOf, isOurs, onPage, walked }: Sights,
): Promise<Person> {
  const page = await context.newPage();
  let shown: Response | undefined;
  page.on('response', (response) => {
    const isRedirect = response.status() >= 300 && response.status() < 400;
    if (response.request().isNavigationRequest() && !isRedirect) shown = response;
  });

  async function lookAround(): Promise<void> {
    const name = nameOf((await shown?.text()) ?? '');
    if (name === undefined) {
      if (isOurs(page.url())) throw new Error(`What is shown at ${page.url()}?`);
      return;
    }
    // Chromium moves the focus after the load; a script shows what needs one.
    if (await page.locator('[autofocus]').count())
      await page.locator('[autofocus]:focus').waitFor();
    if (await page.locator('[data-passkey]').count())
      await page.locator('[data-passkey]').waitFor();
    const where = `${name} at ${page.url()}`;
    const isRefused = shown?.request().method() === 'POST' && shown.status() >= 400;
    const onStop = async (stop: string) => {
      if (!pictures) return;
      pictured += 1;
      const words = `${String(pictured).padStart(4, '0')} ${name} ${stop}`;
      await page.screenshot({ path: join(pictures, `${words.replaceAll(/\W+/g, '-')}.png`) });
    };
    await onStop('start');
    await expectUsableByKeys(page, where, { name, isRefused, walked, onStop });
    onPage(name);
  }

  async function comeTo(act: () => Promise<unknown>): Promise<void> {
    await Promise.all([page.waitForEvent('load'), act()]);
    await lookAround();
  }

  async function tabTo(name: string): Promise<void> {
    const passed: string[] = [];
    for (let presses = 0; presses < 40; presses += 1) {
      const now = await focusedName(page);
      if (now === name) return;
      passed.push(now);
      await page.keyboard.press('Tab');
    }
    throw new Error(
      `Nothing to tab to is called "${name}" at ${page.url()}: ${passed.join(', ')}.`,
    );
  }

  async function use(name: string): Promise<void> {
    await tabTo(name);
    // As people do who know what is what: Space for a button, Enter for a link.
    const isButton = await page.locator('button:focus').count();
    await page.keyboard.press(isButton ? 'Space' : 'Enter');
  }

  return {
    page,
    arrive: (url) => comeTo(() => page.goto(String(url))),
    async fill(label, text) {
      await tabTo(label);
      await page.keyboard.press('ControlOrMeta+A');
      const type = () => page.keyboard.type(text);
      const sendsItself = (await page.locator('[aria-describedby~=code-sends]:focus').count()) > 0;
      await (sendsItself && /^\d{6}$/.test(text) ? comeTo(type) : type());
    },
    press: (name) => comeTo(() => use(name)),
    pressHere: use,
    enter: () => comeTo(() => page.keyboard.press('Enter')),
    heading: () => page.locator('h1').innerText(),
    problem: () => page.locator('#error').innerText(),
  };
}
