import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** The administrator whom `server-directory.ts` makes with these variables. */
export const administrator = {
  ADMIN_USERNAME: 'bench-administrator',
  ADMIN_PASSWORD: 'a long way home, twice',
} as const;

/** Runs a script of the project to its end, and ends with it if it fails. */
export function runScript(
  environment: Readonly<Record<string, string>>,
  ...parameters: readonly string[]
): void {
  const { status } = spawnSync(process.execPath, parameters, {
    cwd: fileURLToPath(new URL('../', import.meta.url)),
    env: { ...process.env, ...environment },
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

/** Builds the console, if that of these sources is not there. */
export const buildConsole = (): void => runScript({}, 'scripts/build-console.js', '--if-needed');

/** Signs the administrator in to the console. */
export async function signIn(page: Page): Promise<void> {
  await page.goto('/console/');
  await page.locator('[name=identifier]').fill(administrator.ADMIN_USERNAME);
  await page.locator('[name=password]').fill(administrator.ADMIN_PASSWORD);
  await page.locator('button[type=submit]').first().click();
  await page.locator('nav a').first().waitFor();
}
