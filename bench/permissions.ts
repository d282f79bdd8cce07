// Who can do what, on a directory that `npm run seed` has filled (BENCH_DIRECTORY_URL): the time of a page for one
// caller, at a scope that ten thousand have, one that everybody has, and one that the members of organizations have.

import pg from 'pg';
import { Pool } from 'undici';
import { startServer } from './server.ts';

const url = process.env['BENCH_DIRECTORY_URL'];
if (!url) {
  process.stdout.write('BENCH_DIRECTORY_URL names no database.\n');
  process.exit(1);
}
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 100);
const indicator = 'https://bench-permissions.example.com';
const id = (prefix: string, last: string) => `${prefix}_01h455vb4pex5vsknk084sn0${last}`;

const client = new pg.Client({ connectionString: url });
await client.connect();
const { rows: known } = await client.query(`SELECT 1 FROM "Resource" WHERE "indicator" = $1`, [
  indicator,
]);
if (known.length === 0) {
  await client.query(`
    INSERT INTO "Resource" ("id", "name", "indicator", "createdAt", "updatedAt")
    VALUES ('${id('res', 'b0')}', 'Bench of permissions', '${indicator}', now(), now());
    INSERT INTO "Scope" ("id", "resourceId", "name", "createdAt", "updatedAt")
    SELECT v.id, '${id('res', 'b0')}', v.name, now(), now()
      FROM (VALUES ('${id('scope', 'b0')}', 'ten-thousand'), ('${id('scope', 'b1')}', 'everybody'),
                   ('${id('scope', 'b2')}', 'members'), ('${id('scope', 'b3')}', 'nobody')) v(id, name);
    INSERT INTO "Role" ("id", "name", "type", "setterScopes", "createdAt", "updatedAt")
    VALUES ('${id('role', 'b0')}', 'Bench: ten thousand', 'USER', '{all}', now(), now()),
           ('${id('role', 'b1')}', 'Bench: everybody', 'USER', '{all}', now(), now());
    INSERT INTO "RoleScope" ("roleId", "scopeId")
    VALUES ('${id('role', 'b0')}', '${id('scope', 'b0')}'), ('${id('role', 'b1')}', '${id('scope', 'b1')}');
    INSERT INTO "OrganizationRoleResourceScope" ("organizationRoleId", "scopeId")
    SELECT "id", '${id('scope', 'b2')}' FROM "OrganizationRole" WHERE "name" = 'Member';
    INSERT INTO "UserRole" ("userId", "roleId", "setterScopes")
    SELECT u."id", '${id('role', 'b0')}', '{all}'
      FROM (SELECT "id", row_number() OVER (ORDER BY "id") AS n FROM "User") u WHERE u.n % 100 = 7;
    INSERT INTO "UserRole" ("userId", "roleId", "setterScopes")
    SELECT "id", '${id('role', 'b1')}', '{all}' FROM "User"`);
  await client.query('VACUUM ANALYZE "UserRole"');
}
const { rows: organizations } = await client.query<{ id: string }>(
  `SELECT "organizationId" AS "id" FROM "OrganizationUser" GROUP BY 1 ORDER BY count(*) DESC LIMIT 1`,
);
await client.end();

const server = await startServer('./server-directory.ts', {
  DATABASE_URL: url,
  SIGNET_SECRET: process.env['SIGNET_SECRET'] ?? 'a secret for the bench alone, long enough',
});
const pool = new Pool(server.load.url, { connections: 1 });

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
async function ask(path: string, body: object): Promise<any> {
  const answer = await pool.request({
    method: 'POST',
    path,
    headers: server.load.headers,
    body: JSON.stringify(body),
  });
  const { data, errors, ...rest } = (await answer.body.json()) as Record<string, unknown>;
  if (errors || answer.statusCode !== 200) throw new Error(JSON.stringify(errors ?? rest));
  return data ?? rest;
}

const query = `query ($scope: String!, $organizationId: ID, $after: String) {
  whoCan(resource: "${indicator}", scope: $scope, organizationId: $organizationId, first: 50, after: $after) {
    edges { node { subject { ... on User { id name username } } sources { role { id name }
      organizationRole { id name } organization { id name } } } }
    pageInfo { hasNextPage endCursor } } }`;

async function measure(name: string, run: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < 5; i += 1) await run(i);
  const times: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    const startedAt = performance.now();
    await run(i);
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    (times[Math.min(rounds - 1, Math.floor(rounds * share))] as number).toFixed(1).padStart(8);
  console.log(`${name.padEnd(44)} p50 ${at(0.5)} ms   p95 ${at(0.95)} ms`);
}

for (const scope of ['ten-thousand', 'everybody', 'members', 'nobody']) {
  for (const organizationId of [undefined, organizations[0]?.id]) {
    const where = organizationId === undefined ? '' : ' in an organization';
    let after: string | null = null;
    await measure(`whoCan ${scope}${where}, page by page`, async () => {
      const variables = { scope, organizationId, after };
      const { whoCan } = await ask('/graphql', { query, variables });
      after = whoCan.pageInfo.hasNextPage ? whoCan.pageInfo.endCursor : null;
    });
  }
}
const { results } = await ask('/access/v1/search/subject', {
  subject: { type: 'user' },
  action: { name: 'ten-thousand' },
  resource: { type: 'api', id: indicator },
});
const question = (i: number) => ({
  subject: results[i % results.length],
  action: { name: 'ten-thousand' },
  resource: { type: 'api', id: indicator },
});
await measure('evaluation', (i) => ask('/access/v1/evaluation', question(i)));
await measure('evaluations of 1,000', () =>
  ask('/access/v1/evaluations', {
    evaluations: Array.from({ length: 1_000 }, (_, i) => question(i)),
  }),
);
await pool.close();
await server.stop();
