import { expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const { app, executed, managementToken } = await startService({}, { isObserved: true });
const token = await managementToken();

/** The statements of one mutation: from the look at its token to its COMMIT. */
async function statementsOf(document: string): Promise<string[]> {
  const before = executed.length;
  const { data } = await send({ url: app.url, token }, document);
  expect(JSON.stringify(data)).toContain('"id"');
  return executed
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
