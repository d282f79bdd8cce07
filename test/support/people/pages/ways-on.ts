import { expect } from 'vitest';
import { type Browser, decodeText, type Visit } from '../sign-in.ts';
import { redirectUri } from '../sign-in-fixture.ts';

/** The heading of a page. */
export const headingOf = ({ body }: Visit): string =>
  decodeText(/<h1>([^<]*)/.exec(body)?.[1] ?? '');

/** How many buttons a page has. */
export const buttonsOf = ({ body }: Visit): number => body.match(/<button /g)?.length ?? 0;

/** Whether the application has the person back. */
export const isBack = ({ url }: Visit): boolean => url.origin === new URL(redirectUri).origin;

/** The page has a button, or the browser is back at the application, or at a provider with this origin. */
export function expectToLeadOn(name: string, visit: Visit, provider?: string): void {
  if (isBack(visit) || visit.url.origin === provider) return;
  const type = visit.headers.get('content-type');
  const found = [name, visit.status, type, headingOf(visit), visit.url.pathname];
  const leadsOn =
    visit.status < 500 &&
    visit.status !== 429 &&
    type === 'text/html; charset=utf-8' &&
    headingOf(visit) !== '' &&
    buttonsOf(visit) > 0;
  expect([...found, leadsOn]).toEqual([...found, true]);
}

/**
 * The page leads on, or says that the sign-in is over, with one button: it begins again at the application, or leads to
 * the own account where there is no application any more.
 */
export async function expectAWayOn(
  name: string,
  browser: Browser,
  visit: Visit,
  provider?: string,
): Promise<void> {
  expectToLeadOn(name, visit, provider);
  if (headingOf(visit) !== 'This sign-in cannot continue') return;
  expect([name, buttonsOf(visit)]).toEqual([name, 1]);
  expect(visit.body).toMatch(/<button type="submit">(Begin again|Go to your account)</);
  expectToLeadOn(name, await browser.submit(visit, {}), provider);
}
