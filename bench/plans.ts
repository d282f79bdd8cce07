// Prints the plan of the statements behind each list, on a directory that `npm run seed` has filled
// (BENCH_DIRECTORY_URL). Fails if a plan scans a big table.
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { openPostgresql } from '../src/db/database.ts';
import { PrismaClient } from '../src/generated/prisma/client.ts';
import { signManagementToken } from './whole-service.ts';

const url = process.env['BENCH_DIRECTORY_URL'];
if (!url) {
  process.stdout.write('BENCH_DIRECTORY_URL names no database.\n');
  process.exit(1);
}
const bigRows = 5_000;

const client = new pg.Client({ connectionString: url });
await client.connect();
const { rows: sizes } = await client.query<{ name: string }>(
  `SELECT relname AS "name" FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > ${bigRows}`,
);
const bigTables = new Set(sizes.map(({ name }) => name));

// The statements that Prisma sends are the ones explained.
const heard: { query: string; params: string }[] = [];
const prisma = new PrismaClient({
  adapter: new PrismaPg({ connectionString: url }),
  log: [{ emit: 'event', level: 'query' }],
});
prisma.$on('query', ({ query, params }) => void heard.push({ query, params }));
const opened = openPostgresql({ url, poolSize: 2, tokenPoolSize: 2, onError: () => undefined });
const app = await startApp({
  config: readConfig({ PORT: '0' }),
  log: pino({ level: 'warn' }),
  // The client with a listener differs in type only by its options.
  opened: {
    database: { ...opened, prisma: prisma as unknown as typeof opened.prisma },
    secret: 'a secret for the bench alone',
  },
});
const { id } = await prisma.application.findFirstOrThrow();
const token = await signManagementToken(app, id);

async function ask(query: string) {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
  const { data, errors } = (await response.json()) as { data: any; errors?: unknown };
  if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
  return data;
}

const some = await prisma.user.findFirstOrThrow({ skip: 5000, orderBy: { id: 'asc' } });
const organization = await prisma.organization.findFirstOrThrow();
const role = await prisma.role.findFirstOrThrow({ where: { name: 'Editor' } });
const { users: second } = await ask(
  '{ users(first: 50, orderBy: { field: NAME }) { pageInfo { endCursor } } }',
);
const node = '{ edges { node { id } } }';
const lists = [
  `{ users ${node} }`,
  ...['CREATED_AT', 'UPDATED_AT', 'LAST_SIGN_IN_AT', 'NAME', 'USERNAME', 'PRIMARY_EMAIL'].flatMap(
    (field) => [
      `{ users(orderBy: { field: ${field} }) ${node} }`,
      `{ users(orderBy: { field: ${field}, direction: DESC }) ${node} }`,
    ],
  ),
  `{ users(orderBy: { field: NAME }, after: "${second.pageInfo.endCursor}") ${node} }`,
  `{ users(orderBy: { field: NAME }, last: 20) ${node} }`,
  ...['kowalski', 'ada schm', '+4915100', '@mail.example', some.id.slice(5, 15)].map(
    (search) => `{ users(filter: { search: "${search}" }) ${node} }`,
  ),
  `{ users(filter: { roleId: "${role.id}" }) ${node} }`,
  `{ users(filter: { organizationId: "${organization.id}" }) ${node} }`,
  `{ users(filter: { organizationId: "${organization.id}", isSuspended: true }) ${node} }`,
  `{ users(filter: { isSuspended: true }) ${node} }`,
  `{ users(filter: { createdAfter: "2026-11-01T00:00:00Z" }) ${node} }`,
  `{ users(filter: { lastSignInBefore: "2025-01-01T00:00:00Z" }) ${node} }`,
  `{ organizations ${node} }`,
  ...['CREATED_AT', 'UPDATED_AT', 'NAME'].map(
    (field) => `{ organizations(orderBy: { field: ${field} }) ${node} }`,
  ),
  `{ organizations(filter: { search: "novak energy" }) ${node} }`,
  `{ organization(id: "${organization.id}") { members(first: 50) { totalCount edges { node { user { id } roles ${node} } } } } }`,
  `{ user(id: "${some.id}") { roles ${node} organizations { edges { node { id } } } } }`,
  `{ roles ${node} }`,
  `{ organizationRoles ${node} }`,
  `{ organizationInvitations ${node} }`,
  `{ applications ${node} }`,
  `{ events { edges { node { id } } } }`,
  `{ events(subjectId: "${some.id}") { edges { node { id } } } }`,
];
interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly Plans?: readonly Plan[];
}
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

let faults = 0;
for (const list of lists) {
  heard.length = 0;
  await ask(list);
  process.stdout.write(`\n${list}\n`);
  for (const { query, params } of heard.filter((sent) => /^\s*SELECT/i.test(sent.query))) {
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${query}`, JSON.parse(params));
    const plans = nodesOf(rows[0]['QUERY PLAN'][0].Plan);
    const shown = plans.map((plan) =>
      [plan['Node Type'], plan['Index Name'] ?? plan['Relation Name']].filter(Boolean).join(' '),
    );
    const scans = plans.filter(
      (plan) => plan['Node Type'] === 'Seq Scan' && bigTables.has(plan['Relation Name'] ?? ''),
    );
    faults += scans.length;
    process.stdout.write(`  ${scans.length > 0 ? 'SCAN ' : ''}${shown.join(' < ')}\n`);
  }
}
process.stdout.write(`\n${lists.length} lists, ${faults} scans of big tables\n`);
await app.stop();
await opened.close();
await prisma.$disconnect();
await client.end();
process.exitCode = faults === 0 ? 0 : 1;
