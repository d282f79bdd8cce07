import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contrast } from '../../src/web/style/colors.ts';
import { startApplicationServer } from '../support/peers/application-server.ts';
import { eachWay, expectAccessible } from '../support/peers/axe.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { hex } from '../support/people/keyboard/look.ts';
import { begin, type PageStage } from '../support/people/page-states.ts';
import { allStates } from '../support/people/pages/all-states.ts';
import { createSignInFixture } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

describe.runIf(chromiumPath)('the pages of a sign-in', async () => {
  if (!chromiumPath) return;
  const service = await startService();
  const application = await startApplicationServer();
  const fixture = await createSignInFixture(service);
  await fixture.database.prisma.application.update({
    where: { id: fixture.client.id },
    data: { redirectUris: [application.redirectUri, 'https://app.example.com/callback'] },
  });
  await changeSettings(service, await service.managementToken(), {
    signUpIdentifiers: ['EMAIL', 'USERNAME'],
  });
  let chromium: Browser;
  beforeAll(async () => {
    chromium = await openChromium();
  });
  afterAll(async () => {
    await leaveChromium();
    await application.stop();
  });

  const contexts: BrowserContext[] = [];
  const open = async (options: Parameters<Browser['newContext']>[0] = {}) => {
    const context = await chromium.newContext({ locale: 'en-GB', ...options });
    contexts.push(context);
    return context;
  };
  const closeAll = () => Promise.all(contexts.splice(0).map((context) => context.close()));
  const stage: PageStage = { service, fixture, newContext: () => open({ bypassCSP: true }) };

  test.each(allStates.map(({ name }) => name))(
    'axe finds nothing at "%s", dark and narrow too',
    async (name) => {
      const page = await allStates.find((state) => state.name === name)?.open(stage);
      if (!page) throw new Error('The state is in the list.');
      await expectAccessible(page, name);
      await closeAll();
    },
  );

  test.each([null, '#ffe600', '#111111', '#3447d4'])(
    'focus, edges and errors are visible in the colour %s',
    async (primaryColor) => {
      await changeSettings(service, await service.managementToken(), {
        branding: { primaryColor },
      });
      const page = await begin(stage);
      await page.locator('input[name=identifier]').fill('Ada');
      await page.locator('input[name=password]').fill('wrong');
      await page.keyboard.press('Enter');
      await page.locator('#error').waitFor();
      await eachWay(page, async (way) => {
        for (let i = 0; i < 6; i += 1) {
          await page.keyboard.press('Tab');
          const ring = await page.evaluate<string[]>(
            `(() => { const s = getComputedStyle(document.activeElement);
               return [s.outlineStyle, s.outlineColor, getComputedStyle(document.querySelector('main')).backgroundColor,
                 getComputedStyle(document.body).backgroundColor]; })()`,
          );
          // After the last the browser's own controls have their turn.
          if (await page.evaluate('document.activeElement === document.body')) continue;
          const [style = '', color = '', surface = '', body = ''] = ring;
          const behind = surface === 'rgba(0, 0, 0, 0)' ? body : surface;
          expect([way, style]).toEqual([way, 'solid']);
          expect(contrast(hex(color), hex(behind))).toBeGreaterThanOrEqual(3);
        }
        const colors = await page.evaluate<string[]>(
          `(() => { const note = getComputedStyle(document.querySelector('.note.bad'));
             const input = getComputedStyle(document.querySelector('input[name=identifier]'));
             return [note.color, note.backgroundColor, input.borderTopColor, input.backgroundColor]; })()`,
        );
        const [text = '', soft = '', edge = '', field = ''] = colors;
        expect(contrast(hex(text), hex(soft))).toBeGreaterThanOrEqual(4.5);
        expect(contrast(hex(edge), hex(field))).toBeGreaterThanOrEqual(3);
      });
      await closeAll();
    },
  );
});
