import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { closeAtEnd } from '../support/cleanup.ts';
import { lossesOf, undergo } from '../support/nothing-lost.ts';
import {
  createPostgresqlServer,
  type PostgresqlServer,
} from '../support/peers/postgresql/server.ts';
import { eventually } from '../support/wait.ts';

// The embedded database has no standby.
describe.runIf(inject('postgresql'))('a synchronous standby', () => {
  let primary: PostgresqlServer;
  let standby: PostgresqlServer;

  beforeAll(async () => {
    primary = await createPostgresqlServer();
    closeAtEnd(() => primary.close());
    await primary.start();
    standby = await createPostgresqlServer(primary);
    closeAtEnd(() => standby.close());
    await standby.start();
    await ask(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await ask(primary, 'SELECT pg_reload_conf()');
    await eventually(async () => {
      const followers = await ask(primary, 'SELECT sync_state FROM pg_stat_replication');
      expect(followers).toEqual([{ sync_state: 'sync' }]);
    });
    await ask(primary, "CREATE ROLE signet LOGIN PASSWORD 'unused where all are trusted'");
    await ask(primary, 'CREATE DATABASE signet OWNER signet');
  });

  async function ask({ url }: PostgresqlServer, statement: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  test('takes over under load: nothing is lost, nobody misses or gets anything twice', async () => {
    const passwordFile = join(tmpdir(), `signet-password-${process.pid}`);
    await writeFile(passwordFile, 'unused\n');
    closeAtEnd(() => rm(passwordFile));
    const hosts = [standby, primary].map(({ url }) => new URL(url).host).join(',');
    const findings = await undergo({
      environment: {
        DATABASE_URL: `postgres://signet@${hosts}/signet?target_session_attrs=read-write`,
        DATABASE_PASSWORD_FILE: passwordFile,
      },
      nodes: 2,
      mutations: 150,
      kills: 0,
      hasSink: false,
      failOvers: [
        async () => {
          await primary.stop('immediate');
          await standby.promote();
        },
      ],
    });
    expect(findings.refused).toEqual([]);
    expect(findings.broken).toBe(0);
    expect(findings.unavailable).toBeGreaterThan(0);
    expect(findings.resumedAfterMs).toHaveLength(1);
    // The nodes stay, and with them the subscriber.
    expect(findings.disconnections).toEqual([]);
    expect(Object.entries(lossesOf(findings)).filter(([, count]) => count !== 0)).toEqual([]);
  });
});
