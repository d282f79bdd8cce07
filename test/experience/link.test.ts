import { expect, test } from 'vitest';
import { messagesTo } from '../support/people/messages.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { createSignInFixture, openSignInPage } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { baseUrl } = service.app.services;
const fixture = await createSignInFixture(service);

/** Asks for a code by the pages' form, and gives the link of the message. */
async function askForLink(path: string, email: string) {
  const { browser, visit } = await openSignInPage(service, fixture.client);
  const asked = await browser.open(`${visit.url.pathname}${path}`);
  const sent = await browser.submit(asked, { email });
  const message = (await messagesTo(service, email)).at(-1);
  return { browser, sent, link: String(message?.['link']), code: String(message?.['code']) };
}

test('a link signs in the browser that requested it', async () => {
  await fixture.createUser({ primaryEmail: 'click@example.com' });
  const { browser, link } = await askForLink('/code', 'click@example.com');
  const page = await browser.open(link);
  expect(page.status).toBe(200);
  expect(page.url.href).toBe(link);
  const done = await browser.submit(page, {});
  expect(done.url.searchParams.get('code')).toBeTypeOf('string');
});

test('a recovery link leads to the new password', async () => {
  await fixture.createUser({ primaryEmail: 'forgot@example.com' });
  const { browser, link } = await askForLink('/forgot-password', 'forgot@example.com');
  const done = await browser.submit(await browser.open(link), {});
  expect(done.url.pathname).toMatch(/\/new-password$/);
  expect(done.body).toContain('autocomplete="new-password"');
});

test('a link elsewhere shows the code and is not consumed', async () => {
  await fixture.createUser({ primaryEmail: 'scanned@example.com' });
  const { browser, sent, link, code } = await askForLink('/code', 'scanned@example.com');
  for (const method of ['GET', 'POST']) {
    const elsewhere = await openBrowser(baseUrl).open(link, { method });
    expect(elsewhere.body).toContain(`<code>${code}</code>`);
    expect(elsewhere.body).not.toContain('<form');
  }
  const done = await browser.submit(sent, { code });
  expect(done.url.searchParams.get('code')).toBeTypeOf('string');
});
