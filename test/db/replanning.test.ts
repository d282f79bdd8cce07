import pg from 'pg';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { createEndpoint } from '../../src/db/connections/endpoint.ts';
import { openPool, poolSql } from '../../src/db/postgresql.ts';
import { createTestDatabase, failOnError } from '../support/database.ts';

const url = inject('postgresql');

afterEach(() => vi.useRealTimers());

describe.runIf(url)('what is prepared', () => {
  test.each([
    { isShared: false, sent: 1, what: 'is planned anew after ten seconds, and not before' },
    { isShared: true, sent: 0, what: 'is nothing where a pooler shares the sessions' },
  ])('$what', async ({ isShared, sent }) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const query = vi.spyOn(pg.Client.prototype, 'query');
    const renewals = () => query.mock.calls.filter(([text]) => String(text) === 'DISCARD PLANS');
    const endpoint = createEndpoint({ url: url ?? '' });
    const pool = openPool({ endpoint, size: 1, onError: failOnError, isShared });
    const sql = poolSql(pool);
    const ask = () => sql.query<{ one: number }>('one', 'SELECT $1::int AS "one"', [1]);
    for (let i = 0; i < 10; i += 1) expect(await ask()).toEqual([{ one: 1 }]);
    vi.advanceTimersByTime(9_999);
    await ask();
    expect(renewals()).toEqual([]);
    vi.advanceTimersByTime(1);
    for (let i = 0; i < 10; i += 1) expect(await ask()).toEqual([{ one: 1 }]);
    expect(renewals()).toHaveLength(sent);
    await pool.end();
  });

  test.skipIf(process.env['TEST_POOLER_URL'])(
    'is what Prisma runs again and again, and no list nor what is not its own',
    async () => {
      const { database, close } = await createTestDatabase();
      const { prisma } = database;
      const query = vi.spyOn(pg.Client.prototype, 'query');
      const namesOf = async (ask: () => Promise<unknown>) => {
        query.mockClear();
        for (let i = 0; i < 25; i += 1) await ask();
        return new Set(
          query.mock.calls.flatMap(([config]) => {
            const { text, name } = config as unknown as pg.QueryConfig;
            return text?.includes('"Role"') ? [name ?? ''] : [];
          }),
        );
      };
      const where = { id: 'role_01h455vb4pex5vsknk084sn02q' };
      const one = await namesOf(() => prisma.role.findFirst({ where }));
      expect([...one]).toEqual(['', expect.stringMatching(/^prisma-\d+$/)]);
      const list = await namesOf(() => prisma.role.findMany({ where, orderBy: { id: 'asc' } }));
      expect([...list]).toEqual(['']);
      const raw = await namesOf(() => prisma.$queryRaw`SELECT "id" FROM "Role"`);
      expect([...raw]).toEqual(['']);
      await close();
    },
  );
});
