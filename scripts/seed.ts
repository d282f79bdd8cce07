// Fills the directory with load data, straight into the tables: `npm run seed -- --users 1000000`. That raises no events;
// `--events` fills the log with events of these users.
// As for the service, the target is DATABASE_URL, or else the embedded database in DATA_DIR.
import { parseArgs } from 'node:util';
import { readConfig } from '../src/config.ts';
import { createEndpoint } from '../src/db/connections/endpoint.ts';
import { openPostgresql, useEmbedded } from '../src/db/database.ts';
import { claimDataDir } from '../src/db/embedded/data-dir.ts';
import { openEmbedded } from '../src/db/embedded/open.ts';
import { seedEvents } from './seed-events.ts';

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '10000' },
    organizations: { type: 'string' },
    events: { type: 'string', default: '0' },
  },
});
const userCount = Number(values.users);
const organizationCount = Number(values.organizations ?? Math.max(1, Math.round(userCount / 100)));
const eventCount = Number(values.events);
const isCount = (count: number) => Number.isInteger(count) && count >= 0;
if (![userCount - 1, organizationCount - 1, eventCount].every(isCount)) {
  console.error(
    'usage: npm run seed -- --users <count> [--organizations <count>] [--events <count>]',
  );
  process.exit(1);
}

interface Sql {
  run(statement: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

const config = readConfig(process.env);
const sql = await open();
const startedAt = performance.now();
const tell = (what: string) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${seconds.padStart(7)} s  ${what}`);
};

async function open(): Promise<Sql> {
  if (config.database.kind === 'postgresql') {
    const { url, directUrl = url, passwordFile } = config.database;
    const database = openPostgresql({
      ...config.database,
      poolSize: 1,
      tokenPoolSize: 1,
      onError: (error) => console.error(error.message),
    });
    await database.migrate();
    await database.close();
    const { Client } = createEndpoint({ url: directUrl, passwordFile });
    const client = new Client();
    await client.connect();
    return {
      run: async (statement) => (await client.query(statement)).rows,
      close: () => client.end(),
    };
  }
  const dataDir = await claimDataDir(config.database.dataDir);
  const embedded = await openEmbedded({ dataDir: `${dataDir.path}/database` });
  await useEmbedded(embedded).migrate();
  return {
    async run(statement) {
      const { rows } = await embedded.query<Record<string, unknown>>(statement);
      return rows;
    },
    async close() {
      await embedded.close();
      dataDir.release();
    },
  };
}

async function seed(): Promise<void> {
  // All or nothing, indexes included: building them afterwards takes a fraction of the time of updating them.
  await sql.run('BEGIN');
  await sql.run(`SET LOCAL maintenance_work_mem = '512MB'`);
  await sql.run(`SET LOCAL synchronous_commit = off`);
  for (const statement of functions) await sql.run(statement);
  const [existing] = await sql.run(`SELECT count(*)::int AS "users" FROM "User"`);
  const offset = Number(existing?.['users']);

  const indexes = await dropIndexes();
  tell(`${indexes.length} indexes set aside`);
  await seedRights();
  await seedUsers(offset);
  await seedOrganizations(offset);
  if (eventCount > 0) await seedEvents(sql.run, { count: eventCount, userCount, tell });
  for (const [index, definition] of indexes.entries()) {
    await sql.run(definition);
    tell(`index ${index + 1} of ${indexes.length}: ${/INDEX "?(\w+)/.exec(definition)?.[1]}`);
  }
  await sql.run('COMMIT');
  for (const table of [...filledTables, 'Role', 'OrganizationRole'])
    await sql.run(`ANALYZE "${table}"`);
  const kinds = [`${userCount} users`, `${organizationCount} organizations`];
  tell(
    `${[...kinds, ...(eventCount > 0 ? [`${eventCount} events`] : [])].join(' and ')} are there`,
  );
}

const seededTables = [
  'User',
  'UserRole',
  'Organization',
  'OrganizationUser',
  'OrganizationUserRole',
  'Event',
];

// What is not filled keeps its indexes.
const filledTables = seededTables.filter((name) => name !== 'Event' || eventCount > 0);

async function dropIndexes(): Promise<string[]> {
  const rows = await sql.run(`
    SELECT c.relname AS "name", pg_get_indexdef(i.indexrelid) AS "definition"
      FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = 'public'::regnamespace
       AND t.relname IN (${filledTables.map((name) => `'${name}'`).join(', ')})
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid)`);
  for (const { name } of rows) await sql.run(`DROP INDEX "${name}"`);
  // The index of a partitioned table is made in its parts too.
  return rows.map(({ definition }) => String(definition).replace(' ON ONLY ', ' ON '));
}

const firstNames =
  'Ada Alan Amina Anders Anna Aoife Ben Bianca Carlos Chen Chloe Clara Daniel Dana Elena Elif Emil Emma Erik Fatima Felix Finn Freya Grace Greta Hana Hugo Ibrahim Ines Ingrid Ivan Jakob Jana Joao Jonas Julia Kai Karin Kofi Laila Lars Lea Leon Lina Luca Lucia Maja Malik Maria Mateo Maya Mehmet Mia Mila Milan Nadia Nina Noah Nora Oliver Olga Omar Oscar Paula Pavel Petra Priya Rafael Rania Ravi Rosa Samir Sara Sofia Stefan Sven Tara Theo Tomas Ursula Vera Victor Wanda Wei Yara Yuki Yusuf Zoe';
const lastNames =
  'Adeyemi Ahmed Almeida Andersen Bauer Becker Berg Bianchi Brown Carvalho Chen Costa Dahl Diaz Dubois Eriksen Evans Fernandez Fischer Garcia Gomez Gruber Haas Hansen Hoffmann Horvat Ito Ivanova Jansen Johnson Jones Kaya Keller Khan Kim Klein Kovacs Kowalski Kumar Lang Larsen Lee Lehmann Lopez Maier Martin Mendes Meyer Moreau Mueller Nagy Ndiaye Nguyen Nielsen Novak Okafor Olsen Ozturk Papadopoulos Park Patel Pereira Petrov Popescu Ricci Rossi Ruiz Sanchez Santos Sato Schmidt Schneider Silva Singh Smith Sokolov Suzuki Takahashi Tanaka Taylor Torres Tran Vargas Virtanen Vogel Wagner Wang Weber Williams Wilson Wolf Yamamoto Yilmaz Zhang Zimmermann';
const array = (words: string) =>
  `ARRAY[${words
    .split(' ')
    .map((word) => `'${word}'`)
    .join(',')}]`;

// Ten digits of five bits, the most significant first.
const timestampDigits = Array.from(
  { length: 10 },
  (_, i) =>
    `substr('0123456789abcdefghjkmnpqrstvwxyz', ((extract(epoch FROM at) * 1000)::bigint >> ${45 - 5 * i} & 31)::int + 1, 1)`,
).join(' || ');

const functions = [
  // A TypeID: ten characters of the millisecond, then version and variant of a UUIDv7, then a hash.
  `CREATE FUNCTION pg_temp.type_id(prefix text, at timestamptz, hash text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
     SELECT prefix || '_' || ${timestampDigits} || 'e' || substr(hash, 1, 2) || '8' || substr(hash, 3, 12)
   $$`,
  `CREATE FUNCTION pg_temp.pick(words text[], i bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
     SELECT words[1 + (('x' || substr(md5(i::text || array_length(words, 1)), 1, 7))::bit(28)::int % array_length(words, 1))]
   $$`,
  // Evenly over two years, the first one oldest.
  `CREATE FUNCTION pg_temp.moment(i bigint, total bigint) RETURNS timestamptz LANGUAGE sql STABLE AS $$
     SELECT date_trunc('milliseconds', now() - interval '730 days' + interval '730 days' * (i::float8 / total))
   $$`,
];

async function seedRights(): Promise<void> {
  const roles = ['Customer', 'Editor', 'Support'];
  const organizationRoles = ['Owner', 'Member', 'Viewer'];
  const scopes = ['read', 'write', 'invite', 'bill'];
  const insert = (table: string, prefix: string, names: readonly string[], columns: string) => `
    INSERT INTO "${table}" ("id", "name", ${columns}, "createdAt", "updatedAt")
    SELECT pg_temp.type_id('${prefix}', now(), md5(n || random())), n, ${columns === '"type"' ? `'USER'` : 'NULL'}, now(), now()
      FROM unnest(${array(names.join(' '))}) n ON CONFLICT DO NOTHING`;
  await sql.run(insert('Role', 'role', roles, '"type"'));
  await sql.run(insert('OrganizationRole', 'orgrole', organizationRoles, '"type"'));
  await sql.run(insert('OrganizationScope', 'orgscope', scopes, '"description"'));
  await sql.run(`
    INSERT INTO "OrganizationRoleScope" ("organizationRoleId", "organizationScopeId")
    SELECT r."id", s."id" FROM "OrganizationRole" r, "OrganizationScope" s
     WHERE r."name" IN ('Owner', 'Member', 'Viewer') AND (r."name" = 'Owner' OR s."name" = 'read')
    ON CONFLICT DO NOTHING`);
}

const batchSize = 100_000;

async function seedUsers(offset: number): Promise<void> {
  await sql.run(`CREATE TEMP TABLE seeded_user ("i" bigint, "id" text) ON COMMIT DROP`);
  for (let from = 1; from <= userCount; from += batchSize) {
    const to = Math.min(from + batchSize - 1, userCount);
    await sql.run(`
      WITH people AS (
        SELECT i, pg_temp.moment(i, ${userCount}) AS at, md5(i::text || 'user' || random()) AS hash,
               pg_temp.pick(${array(firstNames)}, i) AS first, pg_temp.pick(${array(lastNames)}, i) AS last
          FROM generate_series(${from}::bigint, ${to}) i
      ), made AS (
        INSERT INTO "User" ("id", "username", "primaryEmail", "primaryPhone", "name", "profile", "customData",
                            "isSuspended", "lastSignInAt", "setterScopes", "createdAt", "updatedAt")
        SELECT pg_temp.type_id('user', at, hash),
               lower(first || '.' || last) || i + ${offset},
               lower(first || '.' || last) || i + ${offset} || '@'
                 || (ARRAY['example.com', 'example.org', 'example.net', 'mail.example'])[1 + i % 4],
               CASE WHEN i % 3 = 0 THEN '+49151' || lpad((i + ${offset})::text, 8, '0') END,
               first || ' ' || last,
               jsonb_build_object('locale', (ARRAY['de', 'en', 'fr', 'pt'])[1 + i % 4]),
               jsonb_build_object('plan', (ARRAY['free', 'pro'])[1 + i % 2]),
               i % 100 = 0,
               CASE WHEN i % 10 < 7 THEN at + (now() - at) * random() END,
               '{all}', at, at
          FROM people
        RETURNING "id", "createdAt", "username"
      )
      INSERT INTO seeded_user SELECT (regexp_match("username", '(\\d+)$'))[1]::bigint - ${offset}, "id" FROM made`);
    tell(`${to} of ${userCount} users`);
  }
  await sql.run(`CREATE INDEX ON seeded_user ("i")`);
  await sql.run(`
    INSERT INTO "UserRole" ("userId", "roleId", "setterScopes")
    SELECT u."id", r."id", '{all}' FROM seeded_user u
      JOIN "Role" r ON r."name" = (ARRAY['Customer', 'Editor', 'Support'])[1 + u."i" % 3]
     WHERE u."i" % 5 = 0`);
  tell('roles of users');
}

async function seedOrganizations(offset: number): Promise<void> {
  await sql.run(`CREATE TEMP TABLE seeded_organization ("i" bigint, "id" text) ON COMMIT DROP`);
  await sql.run(`
    WITH made AS (
      INSERT INTO "Organization" ("id", "name", "description", "customData", "createdAt", "updatedAt")
      SELECT pg_temp.type_id('org', pg_temp.moment(i, ${organizationCount}), md5(i::text || 'org' || random())),
             pg_temp.pick(${array(lastNames)}, i) || ' '
               || (ARRAY['Logistics', 'Energy', 'Foods', 'Software', 'Media', 'Health', 'Tools'])[1 + i % 7] || ' ' || i + ${offset},
             CASE WHEN i % 2 = 0 THEN 'A customer since ' || extract(year FROM pg_temp.moment(i, ${organizationCount})) END,
             jsonb_build_object('seats', 5 + i % 200),
             pg_temp.moment(i, ${organizationCount}), pg_temp.moment(i, ${organizationCount})
        FROM generate_series(1::bigint, ${organizationCount}) i
      RETURNING "id", "name"
    )
    INSERT INTO seeded_organization SELECT (regexp_match("name", '(\\d+)$'))[1]::bigint - ${offset}, "id" FROM made`);
  await sql.run(`CREATE INDEX ON seeded_organization ("i")`);
  tell(`${organizationCount} organizations`);
  // Everyone is in one organization, and every fourth in a second one.
  await sql.run(`
    INSERT INTO "OrganizationUser" ("organizationId", "userId", "createdAt")
    SELECT o."id", u."id", now() FROM seeded_user u
      JOIN seeded_organization o ON o."i" = 1 + u."i" % ${organizationCount}
     UNION
    SELECT o."id", u."id", now() FROM seeded_user u
      JOIN seeded_organization o ON o."i" = 1 + (u."i" / 4 * 7) % ${organizationCount}
     WHERE u."i" % 4 = 0`);
  tell('members');
  await sql.run(`
    INSERT INTO "OrganizationUserRole" ("organizationId", "userId", "organizationRoleId", "setterScopes")
    SELECT m."organizationId", m."userId", r."id", '{all}'
      FROM "OrganizationUser" m
      JOIN seeded_user u ON u."id" = m."userId"
      JOIN "OrganizationRole" r ON r."name" = 'Member' OR (r."name" = 'Owner' AND u."i" % 50 = 0)
       OR (r."name" = 'Viewer' AND u."i" % 3 = 0)
    ON CONFLICT DO NOTHING`);
  tell('roles of members');
}

try {
  await seed();
} finally {
  await sql.close();
}
