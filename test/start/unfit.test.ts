import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { administer } from '../support/peers/postgresql/administer.ts';
import { startProcess } from '../support/process.ts';

const secret = 'a secret for tests only, long enough';

/** A database and a role that does not own it, both gone at the test's end. */
async function create(server: string, { database = '', role = '' } = {}) {
  const name = `signet_unfit_${randomBytes(6).toString('hex')}`;
  await administer(
    server,
    `CREATE DATABASE "${name}" TEMPLATE template0 ${database}`,
    `CREATE ROLE "${name}" LOGIN ${role}`,
  );
  onTestFinished(() =>
    administer(server, `DROP DATABASE "${name}" WITH (FORCE)`, `DROP ROLE "${name}"`),
  );
  const asSuperuser = new URL(server);
  asSuperuser.pathname = `/${name}`;
  const url = new URL(asSuperuser);
  url.username = name;
  return { name, url, asSuperuser };
}

async function tablesIn(url: URL): Promise<number> {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS "count" FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
        WHERE relkind IN ('r', 'p') AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'`,
    );
    return rows[0]?.count ?? Number.NaN;
  } finally {
    await client.end();
  }
}

const start = (url: URL) => startProcess({ DATABASE_URL: url.href, SIGNET_SECRET: secret });

/** Starts, which is refused before anything is made. Returns the one line that says why. */
async function refusalOf(url: URL, asSuperuser: URL): Promise<string> {
  const { ended, stdout, stderr } = start(url);
  expect(await ended).toBe(1);
  expect(stdout()).toBe('');
  expect(stderr()).toMatch(/^[^\n]+\n$/);
  expect(await tablesIn(asSuperuser)).toBe(0);
  return stderr();
}

describe.runIf(inject('postgresql'))('a database that cannot hold the service', () => {
  const server = inject('postgresql') ?? '';

  test.each(['LATIN1', 'SQL_ASCII'])('holds text in %s', async (encoding) => {
    const { url, asSuperuser } = await create(server, {
      database: `ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C'`,
    });
    expect(await refusalOf(url, asSuperuser)).toMatch(
      new RegExp(`DATABASE_URL.*holds text in ${encoding}.*ENCODING ’UTF8’`),
    );
  });

  test('does not let the role install pg_trgm', async () => {
    const { name, url, asSuperuser } = await create(server);
    await administer(asSuperuser.href, `GRANT CREATE ON SCHEMA public TO "${name}"`);
    expect(await refusalOf(url, asSuperuser)).toMatch(
      /pg_trgm is missing, and the role may not install it\. As a superuser.*CREATE EXTENSION pg_trgm.*GRANT CREATE ON DATABASE/,
    );
    await administer(asSuperuser.href, 'CREATE EXTENSION pg_trgm');
    const { ready, child, ended } = start(url);
    await ready;
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  test('does not let the role make tables', async () => {
    const { url, asSuperuser } = await create(server);
    await administer(asSuperuser.href, 'CREATE EXTENSION pg_trgm');
    expect(await refusalOf(url, asSuperuser)).toMatch(/The role may not create tables/);
  });

  test('would have its tables in another schema', async () => {
    const { name, url, asSuperuser } = await create(server);
    await administer(
      asSuperuser.href,
      `ALTER DATABASE "${name}" OWNER TO "${name}"`,
      `CREATE SCHEMA app AUTHORIZATION "${name}"`,
    );
    const named = new URL(url);
    named.searchParams.set('schema', 'app');
    expect(await refusalOf(named, asSuperuser)).toMatch(/names the schema app/);
    await administer(server, `ALTER DATABASE "${name}" SET search_path = app, public`);
    expect(await refusalOf(url, asSuperuser)).toMatch(/in the schema app.*schema public alone/);
  });

  test('allows too few connections, or few', async () => {
    const { name, url, asSuperuser } = await create(server, { role: 'CONNECTION LIMIT 4' });
    await administer(asSuperuser.href, `ALTER DATABASE "${name}" OWNER TO "${name}"`);
    expect(await refusalOf(url, asSuperuser)).toMatch(
      /allows the role 4 connections, and the service needs 7 at least/,
    );
    await administer(server, `ALTER ROLE "${name}" CONNECTION LIMIT 9`);
    const { ready, stdout, child, ended } = start(url);
    const at = await ready;
    expect(stdout()).toContain('the role may have few connections: the pools are smaller');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        fetch(
          `${at}${i % 2 === 0 ? '/readyz' : '/oidc/auth?client_id=app_01h455vb4pex5vsknk084sn02q'}`,
        ),
      ),
    );
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});
