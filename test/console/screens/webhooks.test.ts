import { describe, expect, test } from 'vitest';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { type Receiver, startReceiver, verify } from '../../support/peers/receiver.ts';
import { startTcpProxy } from '../../support/peers/tcp-proxy.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { advance, createUser, readWebhook } from '../../support/webhooks.ts';

describe.runIf(chromiumPath)('webhooks at the screen', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork({ ALLOW_PRIVATE_WEBHOOKS: 'true' });

  const rows = () => at.page.getByRole('table', { name: 'Deliveries, newest first' });
  const row = (type: string) => rows().getByRole('row').filter({ hasText: type }).first();
  const idOfPage = () => new URL(at.page.url()).pathname.split('/').at(-1) ?? '';

  /** Creates a webhook for users' events at the screen, and returns the secret shown. */
  async function create(name: string, url: string): Promise<string> {
    await at.open('webhooks', 'Webhooks');
    await at.button('Create webhook').first().click();
    await at.field('Name', at.dialog).fill(name);
    await at.field('URL', at.dialog).fill(url);
    await at.dialog.getByRole('checkbox', { name: 'User.Created' }).check();
    await at.button('Create webhook', at.dialog).click();
    const shown = at.dialog.getByRole('group', { name: 'Signing secret' }).locator('pre');
    const secret = (await shown.innerText()).trim();
    await at.button('Open webhook', at.dialog).click();
    await at.page.getByRole('heading', { name, level: 1 }).waitFor();
    await at.page.getByText('No deliveries yet').waitFor();
    return secret;
  }

  test('refuses one without a type, and a bad address and query', async () => {
    await at.open('webhooks', 'Webhooks');
    await at.button('Create webhook').first().click();
    await at.field('Name', at.dialog).fill('Warehouse');
    await at.field('URL', at.dialog).fill('hooks');
    await at.button('Create webhook', at.dialog).click();
    expect(await at.errorOf(at.field('URL', at.dialog))).toContain('not an absolute address');
    const types = at.dialog.getByRole('group', { name: 'Event types' }).first();
    expect(await at.errorOf(types)).toBe('Choose at least one type.');
    await at.field('URL', at.dialog).fill('https://warehouse.example.com/hooks');
    await at.dialog.getByRole('checkbox', { name: 'Users', exact: true }).check();
    for (const type of ['User.Created', 'User.Deleted']) {
      expect(await at.dialog.getByRole('checkbox', { name: type }).isChecked()).toBe(true);
    }
    const query = at.dialog.getByRole('textbox', { name: 'Query' });
    await query.click();
    await at.dialog.locator('.cm-content').waitFor();
    await at.page.keyboard.insertText('subscription { nothing }');
    await at.button('Create webhook', at.dialog).click();
    await expect
      .poll(() => at.dialog.locator('.cm-content').getAttribute('aria-invalid'))
      .toBe('true');
    await at.button('Cancel', at.dialog).click();
  });

  test('sends a signed test event, and rotates the secret', async () => {
    const receiver = await startReceiver();
    const secret = await create('Search index', receiver.url);
    await at.button('Send test event').click();
    const [sent] = await receiver.arrived(1);
    if (!sent) throw new Error('One message arrived.');
    expect(verify(secret, sent)).toBeDefined();
    expect(sent.headers['signet-test']).toBe('true');
    await row('User.Created').getByText('Delivered').waitFor();
    await row('User.Created').getByText('Test', { exact: true }).waitFor();
    expect(await at.page.content()).not.toContain(secret);
    await at.confirmStart('Rotate secret');
    const shown = at.dialog.getByRole('group', { name: 'Signing secret' }).locator('pre');
    const next = (await shown.innerText()).trim();
    expect(next).not.toBe(secret);
    await at.button('Done', at.dialog).click();
    await createUser(at.endpoint);
    const [, after] = await receiver.arrived(2);
    if (!after) throw new Error('Two messages arrived.');
    for (const each of [secret, next]) expect(verify(each, after)).toBeDefined();
  });

  test('an outage of the receiver is on the screen', async () => {
    const receiver = await startReceiver();
    const line = await startTcpProxy({ host: '127.0.0.1', port: portOf(receiver) });
    await create('Warehouse', `http://127.0.0.1:${line.port}/hook`);
    const id = idOfPage();
    await line.cut();
    await createUser(at.endpoint);
    const delivery = row('User.Created');
    // No further: the session at the screen lasts an idle hour, by the same clock.
    for (const attempts of [1, 2]) {
      await expect.poll(() => delivery.getByText('No answer').count()).toBe(attempts);
      await delivery.getByText('Pending').waitFor();
      await advanceToNext(id);
    }
    await expect.poll(() => delivery.getByText('No answer').count()).toBe(3);

    // One that answers, and refuses.
    await line.mend();
    receiver.answerWith((response) => void response.writeHead(503).end('in maintenance'));
    await advanceToNext(id);
    await delivery.getByText('503').waitFor();
    await at.button('User.Created', delivery).click();
    await at.dialog.getByText('Attempt 4').waitFor();
    await at.dialog.getByText('in maintenance').waitFor();
    await at.page.getByText('Failing since').waitFor();

    receiver.answerWith(204);
    await at.button('Redeliver', at.dialog).click();
    await at.dialog.getByText('Attempt 5').waitFor();
    await at.dialog.getByText('Delivered').waitFor();
    await at.button('Close', at.dialog).click();
    await at.page.getByText('Enabled', { exact: true }).waitFor();
    await delivery.getByText('204', { exact: true }).waitFor();
    await delivery.getByText('Delivered').waitFor();

    await at.button('Replay').click();
    await at.dialog.getByRole('checkbox', { name: 'User.Created' }).check();
    const before = receiver.received.length;
    await at.button('Replay', at.dialog).click();
    await at.page.getByText(/deliveries were made|delivery was made/).waitFor();
    const replayed = (await readWebhook(at.endpoint, id)).deliveries.length - 1;
    expect(replayed).toBeGreaterThan(0);
    const received = await receiver.arrived(before + replayed);
    await expect.poll(() => rows().getByText('Delivered').count()).toBe(replayed + 1);
    const first = received[0]?.headers['webhook-id'];
    const again = received.slice(before).map(({ headers }) => headers['webhook-id']);
    expect(again).toContain(first);
    expect(new Set(again).size).toBe(again.length);
    await line.close();
  });

  test('Redeliver on a row sends the same event again', async () => {
    const receiver = await startReceiver();
    await create('Mirror', receiver.url);
    const { username } = await createUser(at.endpoint);
    // On a phone too, a row says what happened to whom, when, and what became of it.
    await at.page.setViewportSize({ width: 375, height: 800 });
    for (const seen of [
      row('User.Created').getByRole('link', { name: username }),
      row('User.Created').getByText('Delivered'),
      row('User.Created').locator('time:visible'),
    ]) {
      await seen.waitFor();
      const { x, width } = (await seen.boundingBox()) ?? { x: 0, width: 375 };
      expect(x + width).toBeLessThan(375);
    }
    await at.page.setViewportSize({ width: 1280, height: 720 });
    await at.button('Redeliver', row('User.Created')).click();
    const [first, second] = await receiver.arrived(2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    await expect.poll(() => row('User.Created').getByText('204', { exact: true }).count()).toBe(2);
    await at.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => at.page.evaluate<string>('navigator.clipboard.readText()');
    await at.button('Copy as curl', row('User.Created')).click();
    await expect.poll(copied).toContain('redeliver(input: $input)');

    // All that failed for good is delivered again in one go.
    const { prisma } = at.service.testDatabase.database;
    await prisma.delivery.updateMany({ data: { status: 'FAILED', nextAttemptAt: null } });
    const earlier = receiver.received.length;
    const failed = (await readWebhook(at.endpoint, idOfPage())).deliveries.length;
    await at.page.reload();
    await at.page.getByText(`0 of the last ${failed} delivered`).waitFor();
    await at.button('Recover failed').click();
    await at.button('Deliver again', at.dialog).click();
    await at.page.getByText(/tried again/).waitFor();
    await receiver.arrived(earlier + failed);
    await expect.poll(() => rows().getByText('Delivered').count()).toBe(failed);

    // Gone for good, the receiver says: the webhook is switched off.
    receiver.answerWith(410);
    await at.button('Redeliver', row('User.Created')).click();
    await at.button('Enable').waitFor();
    await at.button('Copy as GraphQL').first().click();
    await expect.poll(copied).toMatch(/updateWebhook.*"enabled": true/s);
    await at.button('Enable').click();
    await at.button('Enable').waitFor({ state: 'detached' });
    expect((await readWebhook(at.endpoint, idOfPage())).enabled).toBe(true);
  });

  test('is changed, disabled and deleted', async () => {
    await at.tab('Settings');
    await at.field('Deliveries at once').fill('0');
    await at.button('Save').click();
    expect(await at.errorOf(at.field('Deliveries at once'))).toContain('1 to 1000');
    await at.field('Deliveries at once').fill('2');
    await at.field('Enabled').uncheck();
    await at.button('Save').click();
    await at.page.getByText('Disabled', { exact: true }).waitFor();
    const id = idOfPage();
    expect((await readWebhook(at.endpoint, id)).enabled).toBe(false);
    await at.deleteRecord('Mirror');
    await expect(readWebhook(at.endpoint, id)).rejects.toThrow('no webhook');
  });

  test('the browser had nothing to complain about', () => {
    expect(at.complaints).toEqual([]);
  });

  /** Moves the clock to the next attempt of the one delivery. */
  async function advanceToNext(id: string): Promise<void> {
    const { deliveries } = await readWebhook(at.endpoint, id);
    const next = Date.parse(deliveries[0]?.nextAttemptAt ?? '');
    advance(at.service, next - at.service.clock.now().getTime());
  }
});

const portOf = ({ url }: Receiver): number => Number(new URL(url).port);
