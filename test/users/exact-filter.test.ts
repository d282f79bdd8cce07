import { expect, test } from 'vitest';
import { folded } from '../../src/db/sql.ts';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };

for (const [username, primaryEmail, primaryPhone] of [
  ['Ada_L', 'Ada@example.com', '+4915112345678'],
  ['AdaXL', 'ada.x@example.com', '+4915112345679'],
  ['ada_lovelace', 'ada@example.com.au', null],
]) {
  await callRest(endpoint, 'POST', '/users', { username, primaryEmail, primaryPhone });
}

const find = async (filter: object) => {
  const { data, errors } = await send<
    { users: { totalCount: number; edges: { node: { username: string } }[] } },
    object
  >(
    endpoint,
    'query ($filter: UserFilter) { users(filter: $filter) { totalCount edges { node { username } } } }',
    { filter },
  );
  expect(errors).toBeUndefined();
  return data?.users.edges.map(({ node }) => node.username);
};

test.each([
  [{ username: 'ada_l' }, ['Ada_L']],
  [{ username: 'ada%' }, []],
  [{ username: '' }, []],
  [{ primaryEmail: 'ADA@example.COM' }, ['Ada_L']],
  [{ primaryEmail: 'ada@example' }, []],
  [{ primaryPhone: '+4915112345678' }, ['Ada_L']],
  [{ primaryEmail: '\u00a0ada@example.com\u200f' }, ['Ada_L']],
  [{ username: ' ada_l\u200f' }, ['Ada_L']],
  [{ primaryPhone: '+49 (0)151-12345678' }, ['Ada_L']],
  [{ primaryPhone: '0049 ١٥١ 12345678' }, ['Ada_L']],
  [{ primaryPhone: '4915112345678' }, []],
  [{ username: 'ada_l', primaryEmail: 'ada@example.com' }, ['Ada_L']],
  [{ username: 'ada_l', primaryEmail: 'ada.x@example.com' }, []],
  [{ username: 'ada_l', search: 'nobody' }, []],
  [{ username: 'ada_l', isSuspended: true }, []],
  [{ username: null, primaryEmail: null, primaryPhone: null, search: 'ADAX' }, ['AdaXL']],
])('%j finds %j', async (filter, found) => {
  expect(await find(filter)).toEqual(found);
});

test('over REST too', async () => {
  const answer = await callRest(endpoint, 'GET', '/users?primaryEmail=ada%40example.com');
  expect(answer.body.users).toMatchObject([{ username: 'Ada_L' }]);
});

test('each is found by the unique index of its field', async () => {
  const { prisma } = service.app.services.database;
  for (const condition of [folded(Prisma.sql`"username"`), folded(Prisma.sql`"primaryEmail"`)]) {
    const plan = await prisma.$transaction(async (tx) => {
      await tx.$executeRawUnsafe('SET LOCAL enable_seqscan = off');
      return tx.$queryRaw<Record<string, string>[]>`
        EXPLAIN SELECT "id" FROM "User" WHERE ${condition} = 'ada' AND TRUE`;
    });
    expect(JSON.stringify(plan)).toMatch(/User_(username|primaryEmail)_folded_key/);
  }
});
