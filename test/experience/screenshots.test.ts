import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { allStates } from '../support/people/pages/all-states.ts';
import { createSignInFixture } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

// `npm run screenshots` makes those of the documentation; with SCREENSHOTS=folder,all every state in every look.
const [folder, extent] = (process.env['SCREENSHOTS'] ?? '').split(',');
const looks = [
  { name: 'wide-light', width: 1024, height: 760, colorScheme: 'light' },
  { name: 'wide-dark', width: 1024, height: 760, colorScheme: 'dark' },
  { name: 'narrow-light', width: 390, height: 760, colorScheme: 'light' },
  { name: 'narrow-dark', width: 390, height: 760, colorScheme: 'dark' },
] as const;

const documented = [
  'sign-in-wide-light',
  'sign-in-narrow-dark',
  'sign-in-wrong-wide-dark',
  'code-address-narrow-light',
  'code-wide-light',
  'code-wrong-narrow-dark',
  'forgot-password-wide-light',
  'new-password-refused-wide-light',
  'register-wide-light',
  'register-wrong-narrow-light',
  'link-elsewhere-narrow-light',
  'over-wide-light',
  'sign-in-provider-wide-light',
  'passkey-wide-dark',
  'enroll-app-narrow-light',
  'factor-app-wide-light',
  'backup-codes-narrow-dark',
  'consent-wide-light',
];

describe.runIf(chromiumPath && folder)('screenshots', async () => {
  if (!chromiumPath || !folder) return;
  await mkdir(folder, { recursive: true });
  const service = await startService();
  const fixture = await createSignInFixture(service);
  await fixture.database.prisma.application.update({
    where: { id: fixture.client.id },
    data: { name: 'Garden Shop' },
  });
  const { id: resourceId } = await fixture.database.prisma.resource.update({
    where: { id: fixture.resource.id },
    data: { name: 'Orders' },
  });
  await fixture.database.prisma.scope.updateMany({
    where: { resourceId },
    data: { description: 'See what you have ordered' },
  });
  await changeSettings(service, await service.managementToken(), {
    signUpIdentifiers: ['EMAIL', 'USERNAME'],
  });
  const chromium = await openChromium();
  afterAll(leaveChromium);

  test.each(allStates.map(({ name }) => name))('of "%s"', async (name) => {
    const wanted = looks.filter(
      (look) => extent === 'all' || documented.includes(`${name}-${look.name}`),
    );
    const newContext = () => chromium.newContext({ locale: 'en-GB' });
    const stage = { service, fixture, newContext };
    if (wanted.length > 0) {
      const page = await allStates.find((state) => state.name === name)?.open(stage);
      for (const { name: look, width, height, colorScheme } of wanted) {
        await page?.emulateMedia({ colorScheme });
        await page?.setViewportSize({ width, height });
        const path = join(folder, `${name}-${look}.png`);
        const image = await page?.screenshot({
          path,
          fullPage: width < 500,
          animations: 'disabled',
        });
        expect(image?.length).toBeLessThan(80_000);
      }
    }
    await Promise.all(chromium.contexts().map((context) => context.close()));
  });
});
