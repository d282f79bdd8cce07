import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createTestDatabase } from '../support/database.ts';
import { send } from '../support/operations/graphql.ts';
import { observeStatements } from '../support/statements.ts';

const testDatabase = await createTestDatabase();
const observed = await observeStatements(testDatabase);
const app = await startApp({
  config: readConfig({ PORT: '0' }),
  log: pino({ level: 'silent' }),
  opened: { database: observed.database, secret: 'a secret for tests only' },
});
afterAll(async () => {
  await app.stop();
  await observed.close();
  await testDatabase.close();
});
const { adminCredentials: admin } = app;
if (!admin) throw new Error('A fresh database gives new admin credentials.');
const token = await fetchManagementToken(app, admin);

/** The statements of one mutation: from the look at its token to its COMMIT. */
async function statementsOf(document: string): Promise<string[]> {
  const before = observed.executed.length;
  const { data } = await send({ url: app.url, token }, document);
  expect(JSON.stringify(data)).toContain('"id"');
  return observed.executed
    .slice(before)
    .map((text) => kinds.find(([, pattern]) => pattern.test(text))?.[0])
    .filter((kind) => kind !== undefined);
}

// What runs by the clock in the background matches none of these.
const kinds: readonly (readonly [string, RegExp])[] = [
  ['token', /"RevokedToken"/],
  ['lock and read', /pg_advisory_xact_lock.*"User"/s],
  ['insert', /INSERT INTO "User" /],
  ['update', /UPDATE "User" SET/],
  ['other statement on users', /FROM "public"\."User"|"public"\."Role"/],
  ['default roles', /INSERT INTO "UserRole"/],
  ['event', /INSERT INTO "Event"/],
];

test('createUser costs one look at its token and three statements', async () => {
  expect(
    await statementsOf(
      'mutation { createUser(input: { username: "alice" }) { ... on CreateUserPayload { user { id name } } } }',
    ),
  ).toEqual(['token', 'insert', 'default roles', 'event']);
});

test('updateUser costs one look at its token and three statements', async () => {
  const { data } = await send<{ createUser: { user: { id: string } } }>(
    { url: app.url, token },
    'mutation { createUser(input: { username: "bob" }) { ... on CreateUserPayload { user { id } } } }',
  );
  const id = data?.createUser.user.id;
  expect(
    await statementsOf(
      `mutation { updateUser(input: { id: "${id}", name: "Bob" }) { ... on UpdateUserPayload { user { id } } } }`,
    ),
  ).toEqual(['token', 'lock and read', 'update', 'event']);
});
