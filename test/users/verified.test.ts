import { describe, expect, test } from 'vitest';
import { settled } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { database } = service.app.services;
const endpoint = { url: service.url, token: await service.managementToken() };

type Result = Record<string, unknown>;

async function run(operation: 'createUser' | 'updateUser', input: object): Promise<Result> {
  const name = `${operation[0]?.toUpperCase()}${operation.slice(1)}`;
  const { data } = await send<Record<string, Result>, object>(
    endpoint,
    `mutation ($input: ${name}Input!) { ${operation}(input: $input) {
       ... on ${name}Payload { user { id isEmailVerified isPhoneVerified } }
       ... on InvalidInputError { issues { path } } } }`,
    { input },
  );
  return data?.[operation] ?? {};
}
const create = async (input: object) =>
  (await run('createUser', input))['user'] as { id: string; isEmailVerified: boolean };
const update = async (id: string, input: object) =>
  (await run('updateUser', { id, ...input }))['user'];

const addresses = (name: string) => ({ primaryEmail: `${name}@example.com` });

test('is unverified by default', async () => {
  const user = await create({ ...addresses('plain'), primaryPhone: '+4915100000001' });
  expect(user).toMatchObject({ isEmailVerified: false, isPhoneVerified: false });
});

test('can be set on new and existing users, with event', async () => {
  const user = await create({ ...addresses('new'), isEmailVerified: true });
  expect(user).toMatchObject({ isEmailVerified: true, isPhoneVerified: false });
  await update(user.id, { primaryPhone: '+4915100000002', isPhoneVerified: true });
  await settled(database);
  const { data } = await database.prisma.event.findFirstOrThrow({
    where: { subjectId: user.id, type: 'User.Data.Updated' },
  });
  expect(data).toMatchObject({
    isEmailVerified: true,
    isPhoneVerified: true,
    changes: { isPhoneVerified: { from: false, to: true } },
  });
});

describe('an update of a verified address', () => {
  test.each<[string, object, boolean]>([
    ['to another', { primaryEmail: 'other@example.com' }, false],
    [
      'to another that is verified too',
      { primaryEmail: 'b@example.com', isEmailVerified: true },
      true,
    ],
    ['to none', { primaryEmail: null }, false],
    ['to the same in another case', { primaryEmail: 'SAME4@example.com' }, true],
    ['of something else', { name: 'Ada' }, true],
    ['that takes it back', { isEmailVerified: false }, false],
    ['that clears it', { isEmailVerified: null }, false],
  ])('%s', async (what, patch, isEmailVerified) => {
    const name = what === 'to the same in another case' ? 'same4' : what.replaceAll(' ', '-');
    const user = await create({ ...addresses(name), isEmailVerified: true });
    expect(await update(user.id, patch)).toMatchObject({ isEmailVerified });
  });
});

test('is refused without an address', async () => {
  expect(await run('createUser', { username: 'nobody', isPhoneVerified: true })).toEqual({
    issues: [{ path: ['isPhoneVerified'] }],
  });
  const user = await create({ username: 'somebody' });
  expect(await run('updateUser', { id: user.id, isEmailVerified: true })).toEqual({
    issues: [{ path: ['isEmailVerified'] }],
  });
});

test('an import accepts it in each row', async () => {
  const { data } = await send<{ importUsers: { users: object[]; failures: object[] } }, object>(
    endpoint,
    `mutation ($users: [ImportedUserInput!]!) { importUsers(input: { users: $users }) {
       ... on ImportUsersPayload {
         users { primaryEmail isEmailVerified } failures { index code } } } }`,
    {
      users: [
        { ...addresses('first'), isEmailVerified: true },
        { username: 'second', isEmailVerified: true },
        addresses('third'),
      ],
    },
  );
  expect(data?.importUsers).toEqual({
    users: [
      { primaryEmail: 'first@example.com', isEmailVerified: true },
      { primaryEmail: 'third@example.com', isEmailVerified: false },
    ],
    failures: [{ index: 1, code: 'INVALID_INPUT' }],
  });
});
