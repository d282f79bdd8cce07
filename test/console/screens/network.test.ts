import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtConsole } from '../../../src/http/console/files.ts';
import { events } from '../../support/events.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startTcpProxy } from '../../support/peers/tcp-proxy.ts';
import { sitDownAt } from '../../support/people/console-screen.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { createUser } from '../../support/webhooks.ts';

describe.runIf(chromiumPath)('the live log over a bad network', async () => {
  if (!chromiumPath) return;
  const target = { host: '127.0.0.1', port: 0 };
  const line = await startTcpProxy(target);
  afterAll(() => line.close());
  const environment = { BASE_URL: `http://127.0.0.1:${line.port}` };
  const service = await startService(environment, { consoleFolder: builtConsole });
  target.port = Number(new URL(service.url).port);
  const at = await sitDownAt(service);
  // Where the service is reached beside the line.
  let endpoint = at.endpoint;
  let page: Page;

  beforeAll(async () => {
    page = await at.context.newPage();
    await page.setViewportSize({ width: 1400, height: 3200 });
    await page.clock.install();
    await page.goto(`${environment.BASE_URL}/console/events`);
    await live();
  });

  const live = () => page.getByText('Live', { exact: true }).first().waitFor();
  const lost = () => page.getByText('Live', { exact: true }).first().waitFor({ state: 'hidden' });
  const onScreen = () =>
    page
      .locator('[data-event]')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-event')));
  const inTheLog = async () => (await events(endpoint)).map(({ id }) => id).reverse();
  /** Waits until the screen has each event of the log once, newest first, moving its clock as it needs. */
  const expectAll = () =>
    expect
      .poll(
        async () => {
          await page.clock.fastForward(1_000);
          const [shown, logged] = [await onScreen(), await inTheLog()];
          return { shown, isSame: JSON.stringify(shown) === JSON.stringify(logged) };
        },
        { interval: 100 },
      )
      .toMatchObject({ isSame: true });
  const createUsers = async (count: number) => {
    for (let i = 0; i < count; i += 1) await createUser(endpoint);
  };

  test('shows what was raised during half a minute without one', async () => {
    await createUsers(3);
    await expectAll();
    await line.cut();
    await lost();
    await createUsers(8);
    // It tries again and again, with nobody there.
    for (let passed = 0; passed < 30; passed += 1) await page.clock.fastForward(1_000);
    expect((await onScreen()).length).toBe((await inTheLog()).length - 8);
    await line.mend();
    await expectAll();
    await live();
  });

  test('notices a network that loses everything in silence', async () => {
    line.freeze();
    await createUsers(5);
    for (let passed = 0; passed < 30; passed += 1) await page.clock.fastForward(1_000);
    await lost();
    line.thaw();
    await expectAll();
    await live();
  });

  test('goes on where it was after the service has restarted', async () => {
    await createUsers(2);
    await expectAll();
    await service.app.stop();
    await lost();
    const restarted = await startSecondNode(service, {}, { consoleFolder: builtConsole });
    endpoint = { ...endpoint, url: restarted.url };
    await createUsers(6);
    target.port = Number(new URL(restarted.url).port);
    await expectAll();
    await live();
    // Nobody had to sign in again.
    expect(await page.getByRole('alertdialog').count()).toBe(0);
    await page.reload();
    await live();
    await expectAll();
  });
});
