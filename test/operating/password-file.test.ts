import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, inject, test } from 'vitest';
import { openPostgresql } from '../../src/db/database.ts';
import { isUnreachable } from '../../src/db/unreachable.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { createPostgresqlServer } from '../support/peers/postgresql/server.ts';
import { eventually } from '../support/wait.ts';

// The embedded database has no password.
describe.runIf(inject('postgresql'))('DATABASE_PASSWORD_FILE', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'signet-password-'));
  closeAtEnd(() => rm(folder, { recursive: true }));
  const passwordFile = join(folder, 'password');

  test('is read again for each connection, less one newline at its end', async () => {
    const server = await createPostgresqlServer();
    closeAtEnd(() => server.close());
    await server.start();
    const superuser = new pg.Client({ connectionString: server.url });
    await superuser.connect();
    closeAtEnd(() => superuser.end());
    const hba = await superuser.query<{ hba_file: string }>('SHOW hba_file');
    const rules = ['host all postgres all trust', 'host all all all scram-sha-256'];
    await superuser.query(
      `COPY (SELECT unnest('{${rules.join(',')}}'::text[])) TO '${hba.rows[0]?.hba_file}'`,
    );
    await superuser.query('SELECT pg_reload_conf()');
    await superuser.query("CREATE ROLE signet LOGIN PASSWORD 'first'");

    const url = new URL(server.url);
    url.username = 'signet';
    url.password = 'of the URL, and not used';
    const database = openPostgresql({
      url: url.href,
      passwordFile,
      poolSize: 1,
      tokenPoolSize: 1,
      onError: () => undefined,
    });
    closeAtEnd(() => database.close());
    const ask = () => database.sql.query('one', 'SELECT 1 AS "one"', []);
    const renew = () =>
      superuser.query(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'signet'",
      );

    const unreadable = await ask().catch((error: unknown) => error);
    expect(isUnreachable(unreadable)).toBe(true);
    await writeFile(passwordFile, 'first\n');
    expect(await ask()).toEqual([{ one: 1 }]);
    // One newline is left out, and no more.
    await superuser.query("ALTER ROLE signet PASSWORD E'second\\n'");
    await writeFile(passwordFile, 'second\n\n');
    await renew();
    await eventually(async () => expect(await ask()).toEqual([{ one: 1 }]));
  });
});
