import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

// Only there have transactions a connection each.
test.skipIf(!inject('postgresql'))(
  'configurations that wait leave the connections to others',
  async () => {
    const service = await startService({}, { poolSize: 3 });
    const at = { url: service.url, token: await service.managementToken('all') };
    const other = new pg.Client({ connectionString: service.testDatabase.url });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('BEGIN');
    await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('signet:configuration', 0))`);
    const applied = Array.from({ length: 6 }, (_, i) =>
      send<{ applyConfiguration: { __typename: string } }>(
        at,
        `mutation { applyConfiguration(input: {
           document: "{ signet: 1, roles: [{ name: Reader ${i} }] }" }) { __typename } }`,
      ),
    );
    const waiting = async () =>
      (
        await other.query(
          `SELECT count(*)::int AS "count" FROM pg_locks
            WHERE "locktype" = 'advisory' AND NOT "granted"
              AND "database" = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        )
      ).rows[0].count as number;
    await expect.poll(waiting).toBe(1);
    for (let i = 0; i < 3; i += 1)
      expect((await send(at, '{ users(first: 1) { nodes { id } } }')).status).toBe(200);
    await other.query('COMMIT');
    for (const { data } of await Promise.all(applied))
      expect(data?.applyConfiguration.__typename).toBe('ApplyConfigurationPayload');
  },
);
