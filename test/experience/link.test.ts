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

test.each([
  ['asked for last', ['one.a@example.com', 'one.b@example.com']],
  ['asked for first', ['two.b@example.com', 'two.a@example.com']],
])('of two accounts, the new password is of the one shown last, %s', async (_case, shown) => {
  const asked = shown.toSorted();
  for (const primaryEmail of asked) await fixture.createUser({ primaryEmail });
  const { user } = fixture.database.prisma;
  const digests = async () => {
    const found = await user.findMany({ where: { primaryEmail: { in: asked } } });
    return new Map(found.map((one) => [one.primaryEmail, one.passwordDigest]));
  };
  const before = await digests();
  const { browser, visit } = await openSignInPage(service, fixture.client);
  const forms = new Map<string, Awaited<ReturnType<typeof browser.open>>>();
  for (const email of asked) {
    const page = await browser.open(`${visit.url.pathname}/forgot-password`);
    forms.set(email, await browser.submit(page, { email }));
  }
  let page = visit;
  for (const email of shown) {
    const code = String((await messagesTo(service, email)).at(-1)?.['code']);
    page = await browser.submit(forms.get(email) ?? visit, { code });
  }
  const last = String(shown.at(-1));
  expect(page.body).toContain(`value="${last}"`);
  const done = await browser.submit(page, { password: 'a harbour at dawn 41' });
  expect(done.url.searchParams.get('code')).toBeTypeOf('string');
  const changed = [...(await digests())].filter(([email, digest]) => digest !== before.get(email));
  expect(changed.map(([email]) => email)).toEqual([last]);
});
