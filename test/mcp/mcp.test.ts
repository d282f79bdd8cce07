import { describe, expect, test } from 'vitest';
import { connectMcp, type Revision } from '../support/mcp/client.ts';
import { startService } from '../support/service.ts';

const service = await startService({ MCP: 'true' });
const { prisma } = service.app.services.database;
const admin = await service.managementToken();

const createUser = `mutation ($input: CreateUserInput!) {
  createUser(input: $input) {
    __typename
    ... on CreateUserPayload { user { id username } }
    ... on ConflictError { path }
  }
}`;
const usersNamed = (username: string) => prisma.user.count({ where: { username } });

describe.each<Revision>(['2026-07-28', 'legacy'])('a client of revision %s', (revision) => {
  test('finds an operation, tries it and makes the change', async () => {
    const { client, call } = await connectMcp(service, admin, { revision });
    expect(client.getServerVersion()).toMatchObject({ name: 'signet' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_operations', 'query', 'mutate']);

    const found = await call('search_operations', { query: 'create user' });
    expect(found.result.operations[0]).toMatchObject({
      kind: 'mutation',
      name: 'createUser',
      scopes: ['users:write'],
      arguments: [{ name: 'input', type: 'CreateUserInput!' }],
      result: 'CreateUserResult!',
    });

    const username = `by_${revision.replaceAll('-', '_')}`;
    const asked = { document: createUser, variables: { input: { username } } };
    const tried = await call('mutate', asked);
    expect(tried).toMatchObject({
      isError: false,
      result: {
        digest: expect.any(String),
        data: { createUser: { user: { username } } },
        extensions: { dryRun: { events: [{ type: 'User.Created' }] } },
      },
    });
    expect(await usersNamed(username)).toBe(0);

    const { digest } = tried.result;
    const made = await call('mutate', { ...asked, confirm: true, digest });
    expect(made.result).toEqual({
      data: {
        createUser: {
          __typename: 'CreateUserPayload',
          user: { id: expect.stringMatching(/^user_/), username },
        },
      },
    });
    const { id } = made.result.data.createUser.user;
    expect(await prisma.event.count({ where: { subjectId: id } })).toBe(1);

    const read = await call('query', {
      document: 'query ($id: ID!) { user(id: $id) { username } }',
      variables: { id },
    });
    expect(read.result).toEqual({ data: { user: { username } } });
  });
});

describe('search_operations', () => {
  const search = async (query: string) => {
    const { call } = await connectMcp(service, admin);
    return (await call('search_operations', { query })).result;
  };

  test('has the types of what it finds, whole', async () => {
    const { operations, types } = await search('replaceUserRoles');
    expect(operations[0].name).toBe('replaceUserRoles');
    for (const type of [
      'input ReplaceUserRolesInput',
      'union ReplaceUserRolesResult',
      'type ReplaceUserRolesPayload',
      'type VersionConflictError',
      'type User implements Node',
    ])
      expect(types).toContain(type);
  });

  test.each([
    ['suspend a user', 'updateUserSuspensionStatus'],
    ['list the roles', 'roles'],
    ['who can', 'whoCan'],
    ['rotate the secret of a webhook', 'rotateWebhookSecret'],
    ['apply configuration', 'applyConfiguration'],
    ['sign out', 'signOutUser'],
    ['organization members', 'addOrganizationUsers'],
  ])('finds by %j the operation %s', async (words, name) => {
    const { operations } = await search(words);
    expect(operations.map((found: { name: string }) => found.name)).toContain(name);
  });

  test('lists all names without words, and a type by its name', async () => {
    const all = await search('');
    expect(all).toMatchObject({ operations: [], types: '' });
    expect(all.others).toEqual(
      expect.arrayContaining(['users', 'createUser', 'planConfiguration']),
    );
    expect((await search('RoleConnection')).types).toMatch(/^type RoleConnection /m);
    expect(await search('xyzzy')).toEqual({ operations: [], others: [], types: '' });
  });
});

test('a caller with no such scope is refused as at /graphql', async () => {
  const { call } = await connectMcp(service, await service.managementToken('roles:read'));
  const asked = { document: createUser, variables: { input: { username: 'narrow' } } };
  const refused = await call('mutate', asked);
  expect(refused).toMatchObject({
    isError: true,
    result: { errors: [{ extensions: { code: 'FORBIDDEN', requiredScope: 'users:write' } }] },
  });
  expect(refused.result.digest).toBeUndefined();
});

test('events name the caller, the address and the program', async () => {
  const { call } = await connectMcp(service, admin, { headers: { 'user-agent': 'agent/1' } });
  const asked = { document: createUser, variables: { input: { username: 'told' } } };
  const { digest } = (await call('mutate', asked)).result;
  const made = await call('mutate', { ...asked, confirm: true, digest });
  const { id } = made.result.data.createUser.user;
  const event = await prisma.event.findFirstOrThrow({ where: { subjectId: id } });
  expect(event).toMatchObject({ actorId: service.admin.id, userAgent: 'agent/1' });
});

describe('a secret', () => {
  test('comes in the confirmed answer only', async () => {
    const { call } = await connectMcp(service, admin);
    const asked = {
      document: `mutation {
        createApplication(input: { name: "Agent", type: MACHINE_TO_MACHINE }) {
          ... on CreateApplicationPayload { application { id } secret } } }`,
    };
    const tried = await call('mutate', asked);
    const trial = tried.result.data.createApplication;
    const made = await call('mutate', { ...asked, confirm: true, digest: tried.result.digest });
    const { application, secret } = made.result.data.createApplication;
    expect(secret).toEqual(expect.any(String));
    expect(JSON.stringify(tried.result)).not.toContain(secret);
    const token = (id: string, value: string) =>
      service.managementToken('all', { id, secret: value }).catch(String);
    // Neither a secret of the trial nor one of the application that was made.
    expect(await token(trial.application.id, String(trial.secret))).toContain('invalid_client');
    expect(await token(application.id, String(trial.secret))).toContain('invalid_client');
  });
});
