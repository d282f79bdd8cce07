import type { Page } from 'playwright-core';
import { eventually } from '../../wait.ts';

// Every step loads a whole page, and Playwright's locators would bring their script into each: that takes three times as
// long as the page does. The browser gets the same input from here.

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Waits for the first of these elements that can be seen, is enabled and has nothing above it, and gives its middle. */
const reach = (page: Page, selector: string, name?: string): Promise<Place> =>
  eventually(async () => {
    const place = await page.evaluate<Place | string>(`(() => {
      const name = ${JSON.stringify(name ?? null)};
      const nameOf = (e) => (e.ariaLabel ?? e.textContent).replace(/\\s+/g, ' ').trim();
      const all = [...document.querySelectorAll(${JSON.stringify(selector)})];
      const element = all.find((e) => e.checkVisibility({ visibilityProperty: true }) && (name === null || nameOf(e) === name));
      if (!element) return 'is not there';
      if (element.disabled) return 'is disabled';
      element.scrollIntoView({ block: 'center', behavior: 'instant' });
      const { left, top, width, height } = element.getBoundingClientRect();
      const [x, y] = [left + width / 2, top + height / 2];
      return element.contains(document.elementFromPoint(x, y)) ? { x, y } : 'is covered';
    })()`);
    if (typeof place === 'string')
      throw new Error(`${selector} ${name ?? ''} ${place} at ${page.url()}`);
    return place;
  });

/** Clicks the first of these elements, and waits for the page that it leads to. */
export async function press(page: Page, selector: string, name?: string): Promise<void> {
  const { x, y } = await reach(page, selector, name);
  await loading(page, () => page.mouse.click(x, y));
}

/** Follows the link with this text. */
export const followLink = (page: Page, name: string): Promise<void> => press(page, 'a', name);

/** Clicks into a field, and types in place of what it holds. */
async function fillIn(page: Page, name: string, value: string): Promise<void> {
  const { x, y } = await reach(page, `input[name="${name}"]`);
  await page.mouse.click(x, y);
  await page.keyboard.press('ControlOrMeta+A');
  if (value === '') await page.keyboard.press('Delete');
  else await page.keyboard.insertText(value);
}

/** Fills in fields by name, and clicks the first submit button, unless a code sends itself once it is complete. */
export async function sendForm(page: Page, values: Record<string, string> = {}): Promise<void> {
  const sendsItself = `document.querySelector('[data-sends][aria-describedby~="code-sends"]') !== null`;
  const isSent =
    /^\d{6}$/.test(values['code'] ?? '') && (await page.evaluate<boolean>(sendsItself));
  await loading(page, async () => {
    for (const [name, value] of Object.entries(values)) await fillIn(page, name, value);
    if (isSent) return;
    const { x, y } = await reach(page, 'button[type=submit]');
    await page.mouse.click(x, y);
  });
}

/** Does what leads to another page, and waits until that is loaded. */
export const loading = async (page: Page, act: () => Promise<unknown>): Promise<void> => {
  await Promise.all([page.waitForEvent('load'), act()]);
};
