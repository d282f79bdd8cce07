import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { administrator, consoleFolder, setUpConsole } from '../support/people/console.ts';
import { startService } from '../support/service.ts';

describe.runIf(chromiumPath)('the console in a browser', async () => {
  if (!chromiumPath) return;
  const service = await startService({}, { consoleFolder });
  const { baseUrl } = service.app.services;
  const { prisma } = service.testDatabase.database;
  await setUpConsole(service);
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });
  afterAll(leaveChromium);

  /** Opens a page in a browser of its own, and collects what it complains of. */
  async function openPage(): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      // Chromium reports an answer with 401, which is how the page learns that nobody is signed in.
      if (message.type() === 'error' && !/status of 401/.test(message.text())) {
        complaints.push(message.text());
      }
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    return { page, complaints };
  }

  async function signIn(page: Page) {
    await page.locator('[autocomplete=username]').fill(administrator.username);
    await page.locator('[autocomplete=current-password]').fill(administrator.password);
    await page.locator('button[type=submit]').first().click();
    await page.getByText(`Signed in as ${administrator.username}`).waitFor();
  }

  /** A page of another site with a link to the console and a form that would sign out. */
  async function openElsewhere(page: Page) {
    const markup = `<a href="${baseUrl}/console/users">console</a>
      <a href="${baseUrl}/console/sign-in?to=/console/events">sign in</a>
      <form method="post" action="${baseUrl}/console/sign-out"><button>forged</button></form>`;
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(markup);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    // Another site than localhost.
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  test('signs in, connects and signs out, without a complaint', async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${baseUrl}/console/users`);
    await signIn(page);
    expect(page.url()).toBe(`${baseUrl}/console/users`);
    await page.getByText('Message connection_ack').waitFor();
    const [session] = (await page.context().cookies()).filter(
      ({ name }) => name === 'signet_console',
    );
    expect(session).toMatchObject({ httpOnly: true, sameSite: 'Strict' });
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signIn(page);
    expect(complaints).toEqual([]);
  });

  test('is reached by a link of another site, signed in or not', async () => {
    const { page } = await openPage();
    await openElsewhere(page);
    await page.getByText('sign in').click();
    await signIn(page);
    expect(page.url()).toBe(`${baseUrl}/console/events`);
    // The provider knows the browser: the whole way comes from the other site, in one chain of redirects.
    await openElsewhere(page);
    await page.getByText('sign in').click();
    await page.getByText(`Signed in as ${administrator.username}`).waitFor();
    await openElsewhere(page);
    await page.getByText('console', { exact: true }).click();
    await page.getByText(`Signed in as ${administrator.username}`).waitFor();
    expect(page.url()).toBe(`${baseUrl}/console/users`);
  });

  test('is not signed out by a form of another site', async () => {
    const { page } = await openPage();
    await page.goto(`${baseUrl}/console`);
    await signIn(page);
    const before = await prisma.firstPartySession.count();
    await openElsewhere(page);
    await page.getByRole('button', { name: 'forged' }).click();
    await page.getByRole('heading').waitFor();
    expect(await prisma.firstPartySession.count()).toBe(before);
    await page.goto(`${baseUrl}/console`);
    await page.getByText(`Signed in as ${administrator.username}`).waitFor();
  });

  test('learns on its socket that the session is over', async () => {
    const { page } = await openPage();
    await page.goto(`${baseUrl}/console`);
    await signIn(page);
    await page.getByText('Message connection_ack').waitFor();
    await prisma.user.updateMany({ data: { isSuspended: true } });
    await page.getByText('Closed with 4403').waitFor();
    await prisma.user.updateMany({ data: { isSuspended: false } });
  });
});
