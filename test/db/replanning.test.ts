import pg from 'pg';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { createEndpoint } from '../../src/db/connections/endpoint.ts';
import { openPool, poolSql } from '../../src/db/postgresql.ts';
import { failOnError } from '../support/database.ts';

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
});
