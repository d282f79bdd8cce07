// The console on a million users and a million events, in Chromium: the time from the click to the rows on the screen,
// and the requests of GraphQL that a page takes. BENCH_DIRECTORY_URL names a database that
// `npm run seed -- --users 1000000 --events 1000000` has filled; without it, one is created, filled and dropped.
import { launchChromium } from '../test/support/peers/chromium.ts';
import { administrator, buildConsole, runScript, signIn } from './console-visitor.ts';
import { createBenchDatabase } from './database.ts';
import { startServer } from './server.ts';

const users = process.env['BENCH_USERS'] ?? '1000000';
const events = process.env['BENCH_EVENTS'] ?? '1000000';
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 9);
const filled = process.env['BENCH_DIRECTORY_URL'];

const database = filled
  ? { url: filled, drop: async () => undefined }
  : await createBenchDatabase();
if (!database) process.exit(1);
const environment = {
  DATABASE_URL: database.url,
  SIGNET_SECRET: 'a secret for the bench alone, long enough',
  ...administrator,
};
if (!filled) runScript(environment, 'scripts/seed.ts', '--users', users, '--events', events);
buildConsole();

const server = await startServer('./server-directory.ts', environment);
const chromium = await launchChromium();
const page = await chromium.newPage({
  baseURL: server.load.url,
  locale: 'en-GB',
  reducedMotion: 'reduce',
  viewport: { width: 1440, height: 900 },
});
let requests = 0;
page.on('request', (request) => {
  if (request.url().endsWith('/console/graphql')) requests += 1;
});

interface Case {
  readonly name: string;
  /** The page from which one begins, below /console. */
  readonly from: string;
  /** What is clicked; or what is typed into the search. */
  readonly click?: string;
  readonly search?: string;
  /** A text in the address once the rows are those asked for. */
  readonly address: string;
  /** The rows. */
  readonly rows?: string;
}

const tableRows = 'main table[aria-busy=false] tbody tr';
const logRows = 'main [role=rowgroup] [role=row]';
const link = (path: string) => `nav a[href="/console${path}"]`;

const casesOf = (user: string, organization: string): readonly Case[] => [
  { name: 'Users', from: '', click: link('/users'), address: '/users' },
  {
    name: 'Users, next page',
    from: 'users',
    click: 'main nav button:last-child',
    address: 'after=',
  },
  { name: 'Users, by name', from: 'users', click: 'th button', address: 'orderBy=NAME' },
  { name: 'Users, a name', from: 'users', search: 'kowalski', address: 'search=kowalski' },
  {
    name: 'Users, a part of an address',
    from: 'users',
    search: 'tanaka77',
    address: 'search=tanaka77',
  },
  { name: 'Organizations', from: '', click: link('/organizations'), address: '/organizations' },
  {
    name: 'Organizations, a name',
    from: 'organizations',
    search: 'sokolov en',
    address: 'search=sokolov',
  },
  { name: 'Events', from: '', click: link('/events'), address: '/events', rows: logRows },
  {
    name: "Events, a user's",
    from: user,
    click: '[role=tab]:text-is("Events")',
    address: 'tab=events',
    rows: 'main [role=tabpanel] li',
  },
  {
    name: 'Members of an organization',
    from: `${organization}?tab=settings`,
    click: '[role=tab]:text-is("Members")',
    address: 'organizations/',
  },
  { name: 'Roles', from: '', click: link('/roles'), address: '/roles' },
  { name: 'Applications', from: '', click: link('/applications'), address: '/applications' },
];

// Runs inside the page: acts, and looks in each frame whether the answer has come and its rows are there.
const untilRows = `async ([search, address, rows]) => {
  const element = document.querySelector('[data-acted-on]');
  const answers = () => performance.getEntriesByType('resource')
    .filter(({ name }) => name.endsWith('/console/graphql')).length;
  const before = answers();
  const startedAt = performance.now();
  if (search) {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(element, search);
    element.dispatchEvent(new Event('input', { bubbles: true }));
    element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  } else element.click();
  const isThere = () =>
    location.href.includes(address) && answers() > before && document.querySelector(rows);
  while (!isThere()) {
    if (performance.now() - startedAt > 60_000) throw new Error('No rows came.');
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  return performance.now() - startedAt;
}`;

async function once({ from, click, search = '', address, rows = tableRows }: Case) {
  await page.goto(`/console/${from}`);
  await page.waitForLoadState('networkidle');
  const selector = click ?? 'input[type=search][data-search]';
  const element = page.locator(selector).first();
  await element.waitFor();
  requests = 0;
  await element.evaluate((found) =>
    (found as unknown as { toggleAttribute(name: string): void }).toggleAttribute('data-acted-on'),
  );
  const act = `(${untilRows})(${JSON.stringify([search, address, rows])})`;
  const ms = await page.evaluate<number>(act);
  await page.waitForLoadState('networkidle');
  return { ms, requests };
}

async function firstRecord(list: string): Promise<string> {
  await page.goto(`/console/${list}`);
  const href = await page.locator(`${tableRows} a`).first().getAttribute('href');
  return String(href).replace('/console/', '');
}

await signIn(page);
process.stdout.write(
  '| from the click to the rows | ms, median | slowest | requests |\n| --- | --- | --- | --- |\n',
);
for (const one of casesOf(await firstRecord('users'), await firstRecord('organizations'))) {
  // The first brings the route's code and warms the server.
  await once(one);
  const results = [];
  for (let round = 0; round < rounds; round += 1) results.push(await once(one));
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
  const figures = [times[times.length >> 1], times.at(-1)].map((ms) => Math.round(ms ?? 0));
  const counts = new Set(results.map((result) => result.requests));
  process.stdout.write(`| ${one.name} | ${figures.join(' | ')} | ${[...counts].join(', ')} |\n`);
}
await chromium.close();
await server.stop();
await database.drop();
