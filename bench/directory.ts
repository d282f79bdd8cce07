// The management API on a directory of a million users and ten thousand organizations: the time of an answer for one
// caller, and the answers a second for sixteen. BENCH_DIRECTORY_URL names a database that `npm run seed` has filled;
// without it, one is created, filled and dropped.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { createBenchDatabase } from './database.ts';
import { startServer } from './server.ts';

const users = process.env['BENCH_USERS'] ?? '1000000';
const organizations = process.env['BENCH_ORGANIZATIONS'] ?? '10000';
const seconds = Number(process.env['BENCH_SECONDS'] ?? 5);
const filled = process.env['BENCH_DIRECTORY_URL'];
const secret = 'a secret for the bench alone, long enough';

const database = filled
  ? { url: filled, drop: async () => undefined }
  : await createBenchDatabase();
if (!database) process.exit(1);
const environment = { DATABASE_URL: database.url, SIGNET_SECRET: secret };
if (!filled) {
  const seed = fileURLToPath(new URL('../scripts/seed.ts', import.meta.url));
  const { status } = spawnSync(
    process.execPath,
    [seed, '--users', users, '--organizations', organizations],
    { env: { ...process.env, ...environment }, stdio: 'inherit' },
  );
  if (status !== 0) process.exit(1);
}

const server = await startServer('./server-directory.ts', environment);
const pool = new Pool(server.load.url, { connections: 16, pipelining: 1 });

interface Request {
  readonly query: string;
  readonly variables?: object;
}

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
async function ask({ query, variables }: Request): Promise<any> {
  const { path, headers } = server.load;
  const answer = await pool.request({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await answer.body.json()) as { data: unknown; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

async function walk(depth: number): Promise<string> {
  let cursor: string | null = null;
  for (let seen = 0; seen < depth; seen += 100) {
    const { users: page } = await ask({
      query:
        'query ($after: String) { users(first: 100, after: $after) { pageInfo { endCursor } } }',
      variables: { after: cursor },
    });
    cursor = page.pageInfo.endCursor;
  }
  return String(cursor);
}

const userFields = 'id username primaryEmail name isSuspended createdAt';
const deepCursor = await walk(10_000);
const sample = await ask({
  query: `{ users(first: 100, filter: { isSuspended: false }) { edges { node { id } } }
            organizations(first: 100) { edges { node { id } } } }`,
});
const idsOf = (list: { edges: { node: { id: string } }[] }) =>
  list.edges.map(({ node }) => node.id);
const [userIds, organizationIds] = [idsOf(sample.users), idsOf(sample.organizations)];
const names = ['ada sch', 'kowalski', 'yara.p', 'mehmet', 'noah ng', 'tanaka77'];
const run = Date.now().toString(36);
const of = <Item>(items: readonly Item[], i: number) => items[i % items.length] as Item;

const requests: readonly [name: string, request: (i: number) => Request][] = [
  ['users, first page', () => ({ query: `{ users { edges { node { ${userFields} } } } }` })],
  [
    'users, by name',
    () => ({ query: `{ users(orderBy: { field: NAME }) { edges { node { ${userFields} } } } }` }),
  ],
  [
    'users, at depth 10,000',
    () => ({
      query: `query ($after: String) { users(after: $after) { edges { node { ${userFields} } } } }`,
      variables: { after: deepCursor },
    }),
  ],
  [
    'users, text search',
    (i) => ({
      query: `query ($search: String) { users(filter: { search: $search }) { edges { node { ${userFields} } } } }`,
      variables: { search: of(names, i) },
    }),
  ],
  [
    'createUser',
    (i) => ({
      query: `mutation ($name: String) { createUser(input: { username: $name, name: $name }) { __typename } }`,
      variables: { name: `bench_${run}_${i}` },
    }),
  ],
  [
    'addOrganizationUsers of 100',
    (i) => ({
      query: `mutation ($organizationId: ID!, $userIds: [ID!]!) {
        replaceOrganizationUsers(input: { organizationId: $organizationId, userIds: [] }) { __typename }
        addOrganizationUsers(input: { organizationId: $organizationId, userIds: $userIds }) { __typename } }`,
      variables: { organizationId: of(organizationIds, i), userIds },
    }),
  ],
  [
    'organization, 50 members, roles',
    (i) => ({
      query: `query ($id: ID!) { organization(id: $id) { name members(first: 50) { edges { node {
        user { id name } roles { edges { node { id name } } } } } } } }`,
      variables: { id: of(organizationIds.slice(50), i) },
    }),
  ],
];

let count = 0;
async function measure(request: (i: number) => Request, connections: number) {
  const latencies: number[] = [];
  const until = performance.now() + seconds * 1000;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        count += 1;
        const sentAt = performance.now();
        await ask(request(count));
        latencies.push(performance.now() - sentAt);
      }
    }),
  );
  const duration = (performance.now() - startedAt) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
  return { rate: latencies.length / duration, p50: at(0.5), p99: at(0.99) };
}

const row = (cells: readonly (string | number)[]) =>
  `${cells
    .map((cell, i) => {
      const shown = typeof cell === 'number' ? cell.toFixed(1) : cell;
      return i === 0 ? shown.padEnd(34) : shown.padStart(11);
    })
    .join('')}\n`;

process.stdout.write(row(['', '1: p50 ms', 'p99 ms', '16: req/s', 'p50 ms', 'p99 ms']));
try {
  for (const [name, request] of requests) {
    await ask(request(0));
    const alone = await measure(request, 1);
    const together = await measure(request, 16);
    process.stdout.write(
      row([name, alone.p50, alone.p99, together.rate, together.p50, together.p99]),
    );
  }
} finally {
  await pool.close();
  await server.stop();
  await database.drop();
}
