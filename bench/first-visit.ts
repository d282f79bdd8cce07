// The first visit of a page in Chromium, with a processor four times as slow and 1.6 Mbit/s at 150 ms, as Lighthouse has
// it: the time to the largest paint, for how long the page was blocked (what tasks took beyond 50 ms each), and the bytes
// that came.
import { launchChromium } from '../test/support/peers/chromium.ts';
import { administrator, buildConsole, signIn } from './console-visitor.ts';
import { createBenchDatabase } from './database.ts';
import { median } from './fire.ts';
import { startServer } from './server.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const bytesPerSecond = 1_600_000 / 8;

const database = await createBenchDatabase();
if (!database) process.exit(1);
buildConsole();
const server = await startServer('./server-directory.ts', {
  DATABASE_URL: database.url,
  SIGNET_SECRET: 'a secret for the bench alone, long enough',
  GRAPHIQL: 'true',
  ...administrator,
});
const chromium = await launchChromium();
// The public address: at another one the console would load, find nobody signed in, and load again at this one.
const baseURL = server.load.url.replace('127.0.0.1', 'localhost');
const settings = { baseURL, viewport: { width: 1440, height: 900 } };

// Runs in the page before its own scripts.
const noting = `
  self.noted = { paint: 0, blocked: 0 };
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) noted.paint = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) noted.blocked += duration - 50;
  }).observe({ type: 'longtask', buffered: true });
`;

async function stateOfSession() {
  const context = await chromium.newContext(settings);
  await signIn(await context.newPage());
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Visits a page with an empty cache, until an element of it is there and nothing is loaded any more. */
async function visit(
  path: string,
  element: string,
  storageState: Awaited<ReturnType<typeof stateOfSession>>,
) {
  const context = await chromium.newContext({ ...settings, storageState });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond / 2,
  });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.addInitScript(noting);
  await page.goto(path, { timeout: 120_000 });
  await page.locator(element).first().waitFor({ timeout: 120_000 });
  await page.waitForLoadState('networkidle', { timeout: 120_000 });
  const { paint, blocked } = await page.evaluate<{ paint: number; blocked: number }>('noted');
  await context.close();
  return { paint, blocked, bytes };
}

const pages = [
  ['The console, signed in', '/console/', 'nav a'],
  ['GraphiQL', '/graphql', '.graphiql-container .view-lines'],
  ['The reference of the REST API', '/api/docs', '.opblock'],
] as const;

try {
  const storageState = await stateOfSession();
  process.stdout.write(
    `\n| first visit | largest paint, ms | blocked, ms | kB |\n| --- | --- | --- | --- |\n`,
  );
  for (const [name, path, element] of pages) {
    const visits: Awaited<ReturnType<typeof visit>>[] = [];
    for (let round = 0; round < rounds; round += 1) {
      visits.push(await visit(path, element, storageState));
    }
    const of = (figure: 'paint' | 'blocked' | 'bytes') => median(visits.map((one) => one[figure]));
    const cells = [of('paint'), of('blocked'), of('bytes') / 1000].map((value) => value.toFixed(0));
    process.stdout.write(`| ${name} | ${cells.join(' | ')} |\n`);
  }
} finally {
  await chromium.close();
  await server.stop();
  await database.drop();
}
