import { beforeAll, describe, expect, test } from 'vitest';
import { type EventSeen, events as readEvents } from '../support/events.ts';
import { settled } from '../support/log.ts';
import { ask, graphql, payload } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const service = await startService();
let endpoint: { url: string; token: string };
beforeAll(async () => {
  endpoint = { url: service.url, token: await service.managementToken() };
});

const CreateUser = graphql(`
  mutation CreateUser($input: CreateUserInput!) {
    createUser(input: $input) {
      __typename
      ... on CreateUserPayload { user { ...UserFields } }
      ... on Error { code message }
      ... on InvalidInputError { issues { path message } }
      ... on ConflictError { path }
    }
  }
  fragment UserFields on User {
    id username primaryEmail primaryPhone isEmailVerified isPhoneVerified name avatar profile
    customData isSuspended hasPassword
    lastSignInAt createdAt updatedAt
  }
`);

const create = async (input: object) =>
  payload((await ask(endpoint, CreateUser, { input })).createUser, 'CreateUserPayload').user;

/** Does something and returns the events it raised. */
async function raising(act: () => Promise<unknown>): Promise<EventSeen[]> {
  const { database } = service.testDatabase;
  await settled(database);
  const before = await readEvents(endpoint);
  await act();
  await settled(database);
  return (await readEvents(endpoint)).slice(before.length);
}

describe('createUser', () => {
  test('creates a user and raises User.Created with its record', async () => {
    let user: Awaited<ReturnType<typeof create>> | undefined;
    const raised = await raising(async () => {
      user = await create({
        username: 'alice',
        primaryEmail: 'Alice@example.com',
        primaryPhone: '+4915112345678',
        name: 'Alice',
        avatar: 'https://example.com/alice.png',
        password: 'correct horse battery',
        profile: { locale: 'de' },
        customData: { plan: 'pro' },
      });
    });
    expect(user).toMatchObject({ username: 'alice', hasPassword: true, isSuspended: false });
    expect(user?.id).toMatch(/^user_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
    expect(raised).toMatchObject([
      {
        name: 'User.Created',
        type: 'USER_CREATED',
        actor: { type: 'APPLICATION', id: service.admin.id },
      },
    ]);
    const { __typename: _, ...record } = { __typename: '', ...user };
    expect(raised[0]?.data).toEqual(record);
    expect(JSON.stringify(raised)).not.toMatch(/correct horse|argon2/i);
  });

  test('names every fault of an input, and writes nothing', async () => {
    const raised = await raising(async () => {
      const { createUser } = await ask(endpoint, CreateUser, {
        input: {
          username: '1 x',
          primaryEmail: 'nope',
          primaryPhone: '123',
          avatar: 'x',
          password: 'short',
        },
      });
      expect(createUser).toMatchObject({ __typename: 'InvalidInputError', code: 'INVALID_INPUT' });
      const issues = createUser.__typename === 'InvalidInputError' ? createUser.issues : [];
      expect(issues.map(({ path }) => path)).toEqual([
        ['username'],
        ['primaryEmail'],
        ['primaryPhone'],
        ['avatar'],
        ['password'],
      ]);
    });
    expect(raised).toEqual([]);
  });

  test.each([
    ['username', { username: 'taken' }, { username: 'TAKEN' }],
    ['primaryEmail', { primaryEmail: 'taken@example.com' }, { primaryEmail: 'Taken@Example.com' }],
    ['primaryPhone', { primaryPhone: '+4915100000001' }, { primaryPhone: '+4915100000001' }],
  ])('refuses a %s that another user has', async (field, first, second) => {
    await create(first);
    const raised = await raising(async () => {
      const { createUser } = await ask(endpoint, CreateUser, { input: second });
      expect(createUser).toMatchObject({ __typename: 'ConflictError', path: [field] });
    });
    expect(raised).toEqual([]);
  });

  test('gives a new user the default roles', async () => {
    const { createRole } = await ask(
      endpoint,
      graphql(
        `mutation DefaultRole { createRole(input: { name: "Everybody", isDefault: true }) { __typename ... on CreateRolePayload { role { id } } } }`,
      ),
    );
    const { role } = payload(createRole, 'CreateRolePayload');
    const user = await create({ username: 'newcomer' });
    const { user: read } = await ask(
      endpoint,
      graphql(
        `query UserRoles($id: ID!) { user(id: $id) { roles { totalCount edges { node { id } } } } }`,
      ),
      { id: user.id },
    );
    expect(read?.roles).toEqual({ totalCount: 1, edges: [{ node: { id: role.id } }] });
  });

  test.each([
    ['in a name', { name: '\ud800' }, 'name'],
    ['in JSON', { customData: { list: ['\udc00'] } }, 'customData'],
    ['in the name of a field', { profile: { '\ud800': 1 } }, 'profile'],
  ])('refuses half of a surrogate pair %s', async (_where, input, field) => {
    const { createUser } = await ask(endpoint, CreateUser, { input });
    expect(createUser).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: [field] }],
    });
  });

  test('refuses a claim that is no string, and keeps other fields', async () => {
    const { createUser } = await ask(endpoint, CreateUser, {
      input: { profile: { birthdate: 5, family_name: {}, shoeSize: 44 } },
    });
    expect(createUser).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['profile', 'family_name'] }, { path: ['profile', 'birthdate'] }],
    });
    const profile = { birthdate: '1815-12-10', shoeSize: 44 };
    expect(await create({ profile })).toMatchObject({ profile });
  });

  test('accepts a backslash before u0000 literally', async () => {
    const customData = { path: 'C:\\u0000' };
    expect(await create({ customData })).toMatchObject({ customData });
  });

  test('refuses a NUL character, which the database cannot hold', async () => {
    const { createUser } = await ask(endpoint, CreateUser, {
      input: { name: 'a\0b', customData: { a: '\0' } },
    });
    expect(createUser).toMatchObject({ __typename: 'InvalidInputError' });
  });
});

const UpdateUser = graphql(`
  mutation UpdateUser($input: UpdateUserInput!) {
    updateUser(input: $input) {
      __typename
      ... on UpdateUserPayload { user { ...UserFields } }
      ... on Error { code message }
      ... on NotFoundError { id }
      ... on ConflictError { path }
      ... on InvalidInputError { issues { path message } }
    }
  }
`);

describe('updateUser', () => {
  test('keeps absent fields, clears null ones, and reports changes', async () => {
    const { id, updatedAt } = await create({
      username: 'bob',
      name: 'Bob',
      primaryEmail: 'bob@example.com',
    });
    service.clock.advance(1000);
    const raised = await raising(async () => {
      const { updateUser } = await ask(endpoint, UpdateUser, {
        input: { id, name: null, username: 'bobby' },
      });
      const { user } = payload(updateUser, 'UpdateUserPayload');
      expect(user).toMatchObject({
        username: 'bobby',
        name: null,
        primaryEmail: 'bob@example.com',
      });
      expect(Date.parse(user.updatedAt)).toBeGreaterThan(Date.parse(updatedAt));
    });
    expect(raised).toMatchObject([
      {
        name: 'User.Data.Updated',
        data: {
          id,
          name: null,
          changes: { name: { from: 'Bob', to: null }, username: { from: 'bob', to: 'bobby' } },
        },
      },
    ]);
    expect(Object.keys(raised[0]?.data['changes'] as object).sort()).toEqual(['name', 'username']);
  });

  test('raises nothing if nothing changes', async () => {
    const { id, updatedAt } = await create({ username: 'carol' });
    service.clock.advance(1000);
    const raised = await raising(async () => {
      const { updateUser } = await ask(endpoint, UpdateUser, { input: { id, username: 'carol' } });
      expect(payload(updateUser, 'UpdateUserPayload').user.updatedAt).toBe(updatedAt);
    });
    expect(raised).toEqual([]);
  });

  test('names the unknown id', async () => {
    const id = 'user_01h455vb4pex5vsknk084sn02q';
    const { updateUser } = await ask(endpoint, UpdateUser, { input: { id, name: 'X' } });
    expect(updateUser).toMatchObject({ __typename: 'NotFoundError', id });
  });

  test('reports correct changes of parallel updates', async () => {
    const { id } = await create({ username: 'dora', name: '0' });
    const raised = await raising(() =>
      Promise.all(
        Array.from({ length: 8 }, (_, n) =>
          ask(endpoint, UpdateUser, { input: { id, name: String(n + 1) } }),
        ),
      ),
    );
    const chain = raised.map(
      ({ data }) => (data['changes'] as { name: { from: string; to: string } }).name,
    );
    expect(chain).toHaveLength(8);
    for (const [index, { from }] of chain.entries()) {
      expect(from).toBe(index === 0 ? '0' : chain[index - 1]?.to);
    }
  });
});

test('merges custom data and profile at the first level', async () => {
  const { id } = await create({
    customData: { a: 1, nested: { x: 1 } },
    profile: { locale: 'de' },
  });
  const raised = await raising(async () => {
    const merged = await ask(
      endpoint,
      graphql(`
        mutation Merge($id: ID!, $customData: JSONObject!, $profile: JSONObject!) {
          updateUserCustomData(input: { id: $id, customData: $customData }) {
            __typename ... on UpdateUserCustomDataPayload { user { customData } }
          }
          updateUserProfile(input: { id: $id, profile: $profile }) {
            __typename ... on UpdateUserProfilePayload { user { profile } }
          }
        }
      `),
      {
        id,
        customData: { a: null, b: 2, nested: { y: 2 } },
        profile: { website: 'https://example.com' },
      },
    );
    expect(merged).toMatchObject({
      updateUserCustomData: { user: { customData: { b: 2, nested: { y: 2 } } } },
      updateUserProfile: { user: { profile: { locale: 'de', website: 'https://example.com' } } },
    });
  });
  expect(raised.map(({ name }) => name)).toEqual(['User.Data.Updated', 'User.Data.Updated']);
});

test('sets a password that the event does not contain', async () => {
  const { id } = await create({ username: 'erin' });
  const raised = await raising(async () => {
    const { updateUserPassword } = await ask(
      endpoint,
      graphql(`
        mutation SetPassword($id: ID!) {
          updateUserPassword(input: { id: $id, password: "a very new secret" }) {
            __typename ... on UpdateUserPasswordPayload { user { hasPassword } }
          }
        }
      `),
      { id },
    );
    expect(updateUserPassword).toMatchObject({ user: { hasPassword: true } });
  });
  expect(raised).toMatchObject([
    {
      name: 'User.Data.Updated',
      data: { id, changes: { hasPassword: { from: false, to: true } } },
    },
    { name: 'User.Credential.Updated', data: { credential: 'PASSWORD', change: 'ADDED' } },
  ]);
  expect(JSON.stringify(raised)).not.toMatch(/a very new secret|argon2|digest/i);
});

test('raises no event for a repeated suspension or reinstatement', async () => {
  const { id } = await create({ username: 'frank' });
  const Suspend = graphql(`
    mutation Suspend($id: ID!, $isSuspended: Boolean!) {
      updateUserSuspensionStatus(input: { id: $id, isSuspended: $isSuspended }) {
        __typename ... on UpdateUserSuspensionStatusPayload { user { isSuspended } }
      }
    }
  `);
  const raised = await raising(async () => {
    for (const isSuspended of [true, true, false]) {
      const answer = await ask(endpoint, Suspend, { id, isSuspended });
      expect(answer.updateUserSuspensionStatus).toMatchObject({ user: { isSuspended } });
    }
  });
  expect(raised.map(({ name, data }) => [name, data['isSuspended']])).toEqual([
    ['User.SuspensionStatus.Updated', true],
    ['User.SuspensionStatus.Updated', false],
  ]);
});

const DeleteUser = graphql(`
  mutation DeleteUser($id: ID!) {
    deleteUser(input: { id: $id }) {
      __typename
      ... on DeleteUserPayload { user { id username roles { edges { node { name } } } } }
      ... on NotFoundError { code id }
    }
  }
`);

test('deletes a user and returns its last state with roles', async () => {
  const { id } = await create({ username: 'grace' });
  const raised = await raising(async () => {
    const { deleteUser } = await ask(endpoint, DeleteUser, { id });
    expect(payload(deleteUser, 'DeleteUserPayload').user).toMatchObject({
      id,
      username: 'grace',
      roles: { edges: [{ node: { name: 'Everybody' } }] },
    });
    expect((await ask(endpoint, DeleteUser, { id })).deleteUser).toEqual({
      __typename: 'NotFoundError',
      code: 'NOT_FOUND',
      id,
    });
  });
  expect(raised).toMatchObject([{ name: 'User.Deleted', data: { id, username: 'grace' } }]);
});
