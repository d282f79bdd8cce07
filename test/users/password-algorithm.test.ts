import { expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const endpoint = { url: service.url, token: await service.managementToken() };
const passwordDigest = 'abf7aad6438836dbe526aa231abde2d0eef74d42';
const mutation = (algorithm: string) => `
  mutation ($algorithm: PasswordAlgorithm) {
    importUsers(input: { users: [{ passwordDigest: "${passwordDigest}", passwordAlgorithm: ${algorithm} }] }) {
      ... on ImportUsersPayload { users { hasPassword } failures { code } }
    }
  }`;
const imported = { data: { importUsers: { users: [{ hasPassword: true }], failures: [] } } };

test('an algorithm is an enum in documents and variables', async () => {
  const { data } = await send<{ __type: object }, object>(
    endpoint,
    '{ __type(name: "PasswordAlgorithm") { kind enumValues { name } } }',
    {},
  );
  expect(data?.__type).toEqual({
    kind: 'ENUM',
    enumValues: 'ARGON2D ARGON2I ARGON2ID BCRYPT MD5 PBKDF2 SCRYPT SHA1 SHA256 SHA512'
      .split(' ')
      .map((name) => ({ name })),
  });
  const literal = mutation('SHA1').replace('($algorithm: PasswordAlgorithm)', '');
  expect(await send<unknown, object>(endpoint, literal, {})).toMatchObject(imported);
  expect(await send<unknown, object>(endpoint, literal.replace('SHA1', 'ROT13'), {})).toMatchObject(
    { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] },
  );
  expect(
    await send<unknown, object>(endpoint, mutation('$algorithm'), { algorithm: 1 }),
  ).toMatchObject({ status: 400, errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
});

test.each(['SHA1', 'sha1', 'SHA-1'])('a variable, and REST, name it %s', async (algorithm) => {
  expect(
    await send<unknown, object>(endpoint, mutation('$algorithm'), { algorithm }),
  ).toMatchObject(imported);
  const users = [{ passwordDigest, passwordAlgorithm: algorithm }];
  expect((await callRest(endpoint, 'POST', '/users/import', { users })).body).toMatchObject({
    users: [{ hasPassword: true }],
    failures: [],
  });
});
