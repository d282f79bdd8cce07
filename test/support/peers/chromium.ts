import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { lastsForWorker } from '../worker/handles.ts';
import { patienceMs } from './patience.ts';

/** The path of Chromium; undefined if it is not installed. The one without any window takes two thirds of the time. */
export const chromiumPath: string | undefined = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]
  .concat(process.env['CHROMIUM_PATH'] ?? [])
  .find((path) => existsSync(path));
if (!chromiumPath) {
  process.stderr.write(
    'No Chromium is installed: nothing is tried in a browser. CHROMIUM_PATH names one.\n',
  );
}

/** Starts Chromium without a window. The caller must close it. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

let running: Promise<Browser> | undefined;

/** Chromium without a window: one for all files of a worker, whose process ends it. A file calls {@link leaveChromium}. */
export async function openChromium(): Promise<Browser> {
  running ??= launchChromium().then((browser) => {
    lastsForWorker('ProcessWrap');
    return browser.on('context', (context) => context.setDefaultTimeout(patienceMs));
  });
  return running;
}

/** Closes every context of the worker's Chromium, with its pages, cookies and connections. */
export async function leaveChromium(): Promise<void> {
  const browser = await running;
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
}
