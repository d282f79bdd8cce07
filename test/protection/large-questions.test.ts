import { expect, test } from 'vitest';
import type { Sql } from '../../src/db/sql.ts';
import { newId } from '../../src/ids.ts';
import { readClientState, readSubjectState } from '../../src/oidc/token/grant-state.ts';
import { targetOf } from '../../src/permissions/target.ts';

// Anybody can ask for a token. What one request asks about must not hold up those that share its statement.

/** A database that answers nothing, and the columns of each statement: the requests' values. */
function recording() {
  const statements: (readonly (string | null)[])[][] = [];
  const sql: Sql = {
    async query<Row>(_name: string, _text: string, [, ...columns]: readonly unknown[]) {
      statements.push(columns as (readonly (string | null)[])[]);
      return (columns[0] as readonly unknown[]).map(() => ({})) as Row[];
    },
  };
  return { statements, sql };
}

const question = (...scopes: string[]) => ({
  clientId: newId('Application'),
  at: new Date(0),
  target: targetOf('urn:api', undefined),
  scopes,
});
const many = Array.from({ length: 2_000 }, (_, i) => `s${i}`);
const wordsOf = (statement: readonly (readonly (string | null)[])[] = []) =>
  Math.max(...statement.flat().map((text) => text?.split(' ').length ?? 0));

test.each([
  ['an application', (sql: Sql, of: ReturnType<typeof question>) => readClientState(sql, of)],
  ['a user', (sql: Sql, of: ReturnType<typeof question>) => readSubjectState(sql, of, {})],
])('thousands of scopes of %s have a statement of their own', async (_, read) => {
  const { statements, sql } = recording();
  const asked = [['read'], many, ['write'], many, []].map((scopes) => question(...scopes));
  await Promise.all(asked.map((one) => read(sql, one)));
  expect(statements.map(([clients]) => clients?.length).sort()).toEqual([1, 1, 3]);
  for (const statement of statements.filter((one) => wordsOf(one) > 1))
    expect(statement[0]).toHaveLength(1);
});

test.each([
  ['in its jti', { jti: many.join(' ') }],
  ['in an id of its lineage', { jti: 'a', lineage: [many.join(' ')] }],
  ['as its lineage', { jti: 'a', lineage: many }],
  ['as its application', { jti: 'a', client_id: many.join(' ') }],
  ['behind the id of an application', { client_id: `${newId('Application')} ${many.join(' ')}` }],
  ['in an id that is very long', { jti: 'a'.repeat(100_000), lineage: ['b'.repeat(100_000)] }],
])('a forged token with thousands of words %s asks about few', async (_, claims) => {
  const { statements, sql } = recording();
  await readSubjectState(sql, question('read'), claims);
  expect(statements).toHaveLength(1);
  expect(wordsOf(statements[0])).toBeLessThanOrEqual(41);
  expect(JSON.stringify(statements[0]).length).toBeLessThan(1_000);
});
