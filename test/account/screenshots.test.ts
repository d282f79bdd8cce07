import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingsId } from '../../src/sign-in-experience/settings.ts';
import { chromiumPath, leaveChromium, openChromium } from '../support/peers/chromium.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { addOneOfEach } from '../support/people/pages/one-of-each.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

// `npm run screenshots` makes the pictures of the documentation.
const folder = process.env['ACCOUNT_SCREENSHOTS'];
const wide = { width: 1024, height: 760 };
const narrow = { width: 390, height: 760 };

const pictures = [
  { name: 'overview', path: '', size: wide, colorScheme: 'light' },
  { name: 'overview-narrow-dark', path: '', size: narrow, colorScheme: 'dark' },
  { name: 'sessions', path: '/sessions', size: wide, colorScheme: 'light' },
  { name: 'authenticator-app-dark', path: '/factors/app', size: wide, colorScheme: 'dark' },
  { name: 'applications', path: '/applications', size: wide, colorScheme: 'light' },
] as const;

test.runIf(chromiumPath && folder)('screenshots of the account', async () => {
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  const service = await startService();
  const { client, createUser, database } = await createAccountFixture(service);
  const updatedAt = service.clock.now();
  const settings = { factors: ['TOTP', 'PASSKEY', 'BACKUP_CODES'] };
  await database.prisma.signInExperience.create({
    data: { id: settingsId, settings, updatedAt },
  });
  const user = await createUser({
    username: 'lovelace',
    name: 'Ada Lovelace',
    primaryEmail: 'lovelace@example.com',
    isEmailVerified: true,
    enrollmentSkippedAt: updatedAt,
  });
  await database.prisma.application.update({
    where: { id: client.id },
    data: { name: 'Garden Shop' },
  });
  await addOneOfEach(service, user, client);

  const chromium = await openChromium();
  try {
    const page = await chromium.newPage({ locale: 'en-GB' });
    const at = (path: string) => page.goto(`${service.app.services.baseUrl}/account${path}`);
    await at('');
    await page.fill('input[name=identifier]', 'lovelace');
    await page.fill('input[name=password]', password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account');
    await at('/username');
    await page.fill('input[name=password]', password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account/username**');
    for (const { name, path, size, colorScheme } of pictures) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await at(path);
      const file = join(folder, `${name}.png`);
      const image = await page.screenshot({ path: file, fullPage: true, animations: 'disabled' });
      expect(image.length).toBeLessThan(150_000);
    }
  } finally {
    await leaveChromium();
  }
});
