import { expect, test } from 'vitest';
import { withoutRefusals } from '../../support/events.ts';
import { send } from '../../support/operations/graphql.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { type Input, overGraphQL } from '../../support/operations/operations.ts';
import { callRest } from '../../support/operations/rest.ts';
import { startHeadless, step } from '../../support/people/experience.ts';
import { createSignInFixture, redirectUri } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { prisma } = service.app.services.database;
const admin = await service.managementToken();
const make = createMaker(overGraphQL(service, admin));
const { next, done } = make;
const fixture = await createSignInFixture(service);
const headless = await fixture.createApplication({ allowHeadlessSignIn: true });
const password = 'correct horse battery staple';

const signIn = async (identifier: string) => {
  const { send } = await startHeadless(service, { clientId: headless.id, redirectUri });
  return (await step(send, 'signInWithPassword', { identifier, password })).__typename;
};

interface Imported {
  readonly users: readonly { readonly id: string; readonly username: string | null }[];
  readonly failures: readonly object[];
}

const calls = {
  async GraphQL(users: readonly Input[], token = admin): Promise<Imported> {
    const { data } = await send<{ importUsers: Imported }, object>(
      { url: service.url, token },
      `mutation ($users: [ImportedUserInput!]!) { importUsers(input: { users: $users }) {
        ... on ImportUsersPayload { users { id username } failures { index code message } } } }`,
      { users },
    );
    if (!data) throw new Error('The import was refused.');
    return data.importUsers;
  },
  async REST(users: readonly Input[], token = admin): Promise<Imported> {
    const { body } = await callRest({ url: service.url, token }, 'POST', '/users/import', {
      users,
    });
    return body;
  },
};

/** Imports users, and adds what the log has of it. */
async function importUsers(users: readonly Input[], token?: string) {
  const last = await prisma.event.findFirst({ orderBy: { position: 'desc' } });
  const imported = await calls.GraphQL(users, token);
  const events = await prisma.event.findMany({
    where: { ...withoutRefusals, position: { gt: last?.position ?? 0 } },
    orderBy: { position: 'asc' },
  });
  return { ...imported, ids: imported.users.map(({ id }) => id), events };
}

const rolesOf = async (userId: string) =>
  Object.fromEntries(
    (await prisma.userRole.findMany({ where: { userId } })).map(({ roleId, setterScopes }) => [
      roleId,
      setterScopes,
    ]),
  );

test.each(['GraphQL', 'REST'] as const)(
  'a user comes over %s with roles, suspension and time of creation',
  async (via) => {
    const [first, second] = [await make.role(), await make.role()];
    const createdAt = '2019-05-06T07:08:09.123Z';
    const [username, suspended] = [next('former'), next('suspended')];
    const { users, failures } = await calls[via]([
      { username, password, roleIds: [first, second, first], createdAt },
      { username: suspended, password, isSuspended: true },
      { username: next('plain'), isSuspended: null, roleIds: null, createdAt: null },
    ]);
    expect(failures).toEqual([]);
    const rows = await prisma.user.findMany({ where: { id: { in: users.map(({ id }) => id) } } });
    const rowOf = (name: string) => rows.find((row) => row.username === name);
    expect(rowOf(username)).toMatchObject({
      isSuspended: false,
      createdAt: new Date(createdAt),
      updatedAt: expect.toSatisfy((at: Date) => at > new Date(createdAt)),
    });
    expect(rowOf(suspended)).toMatchObject({ isSuspended: true });
    expect(await rolesOf(rowOf(username)?.id ?? '')).toEqual({
      [first]: ['all'],
      [second]: ['all'],
    });
    expect(await signIn(username)).not.toBe('VerificationFailedError');
    expect(await signIn(suspended)).toBe('VerificationFailedError');
    await done('updateUserSuspensionStatus', {
      id: rowOf(suspended)?.id ?? '',
      isSuspended: false,
    });
    expect(await signIn(suspended)).not.toBe('VerificationFailedError');
  },
);

test('events tell of the roles beside the default ones', async () => {
  const [standard, other] = [await make.role({ isDefault: true }), await make.role()];
  const { ids, events } = await importUsers([
    { username: next('both'), roleIds: [standard, other], createdAt: '2020-01-01T00:00:00Z' },
    { username: next('standard'), roleIds: [standard], isSuspended: true },
    { username: next('none') },
  ]);
  const [both = '', one, none = ''] = ids;
  expect(events).toMatchObject([
    { type: 'User.Created', subjectId: both, data: { createdAt: '2020-01-01T00:00:00.000Z' } },
    {
      type: 'User.Roles.Updated',
      subjectId: both,
      data: { userId: both, addedRoleIds: [other], removedRoleIds: [] },
    },
    { type: 'User.Created', subjectId: one, data: { isSuspended: true } },
    { type: 'User.Created', subjectId: none, data: { isSuspended: false } },
  ]);
  expect(events).toHaveLength(4);
  expect(await rolesOf(both)).toEqual({ [standard]: ['all'], [other]: ['all'] });
  expect(await rolesOf(none)).toEqual({ [standard]: ['all'] });

  // What a default role gives to everybody, it gives to whom a caller with less gives it; and a caller with more renews.
  await prisma.role.update({ where: { id: standard }, data: { setterScopes: ['roles:write'] } });
  const given = [{ username: next('given'), roleIds: [standard, other] }];
  const narrow = await importUsers(given, await service.managementToken('users:write'));
  expect(await rolesOf(narrow.ids[0] ?? '')).toEqual({
    [standard]: ['roles:write'],
    [other]: ['users:write'],
  });
  const wide = await importUsers([{ username: next('given'), roleIds: [standard] }]);
  expect(await rolesOf(wide.ids[0] ?? '')).toEqual({ [standard]: ['all'] });
  await done('deleteRole', { id: standard });
});

test('what a row may not have is a failure of that row', async () => {
  const role = await make.role();
  const machines = await make.role({ type: 'MACHINE_TO_MACHINE' });
  const now = service.clock.now().getTime();
  const [kept, alsoKept] = [next('kept'), next('kept')];
  const { users, failures } = await importUsers([
    { username: next('row'), createdAt: new Date(now + 3_600_000).toISOString() },
    { username: kept, roleIds: [role], createdAt: '0001-01-01T00:00:00Z' },
    { username: next('row'), createdAt: '0001-01-01T00:00:00+01:00' },
    { username: next('row'), roleIds: [role, 'role_01h455vb4pex5vsknk084sn02q'] },
    { username: next('row'), roleIds: [machines] },
    { username: next('row'), roleIds: Array.from({ length: 101 }, (_, index) => `role_${index}`) },
    { username: kept, roleIds: [role] },
    { username: alsoKept, roleIds: [role] },
  ]);
  expect(users.map(({ username }) => username)).toEqual([kept, alsoKept]);
  expect(failures).toEqual([
    { index: 0, code: 'INVALID_INPUT', message: expect.stringMatching(/^createdAt: .*future/) },
    { index: 2, code: 'INVALID_INPUT', message: expect.stringMatching(/^createdAt: /) },
    { index: 3, code: 'NOT_FOUND', message: expect.stringContaining('role_01h455vb4') },
    { index: 4, code: 'INVALID_INPUT', message: expect.stringMatching(/^roleIds\.0: .*USER/) },
    { index: 5, code: 'INVALID_INPUT', message: expect.stringMatching(/^roleIds: .*100/) },
    { index: 6, code: 'CONFLICT', message: expect.stringContaining('username') },
  ]);
});
