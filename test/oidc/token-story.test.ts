import { createRemoteJWKSet, jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { signIn } from '../support/people/sign-in.ts';
import { startService } from '../support/service.ts';
import { exchange } from '../support/tokens.ts';

// From an empty directory to an exchanged token and its end, through the public doors alone.

const service = await startService();
const { issuer } = service.app.services;
const token = await service.managementToken();

/** Sends a mutation and returns what its payload has under a name. */
async function mutate(
  name: string,
  input: object,
  select: string,
): Promise<Record<string, string>> {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const { data, errors } = await send<Record<string, Record<string, never>>>(
    { url: service.url, token },
    `mutation { result: ${name}(input: ${literal(input)}) {
       __typename ... on ${type}Payload { ${select} } ... on Error { code message } } }`,
  );
  expect(errors).toBeUndefined();
  expect(data?.['result']).toMatchObject({ __typename: `${type}Payload` });
  const { __typename, ...fields } = data?.['result'] ?? {};
  return fields as Record<string, never>;
}

// GraphQL's input literals are JSON but for the names and the enum values, which have no quotes.
const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(literal).join(',')}]`;
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value);
    return /^"[A-Z_]{3,}"$/.test(text) ? text.slice(1, -1) : text;
  }
  return `{${Object.entries(value)
    .map(([name, each]) => `${name}:${literal(each)}`)
    .join(',')}}`;
};

const idOf = async (name: string, input: object, thing: string) =>
  ((await mutate(name, input, `${thing} { id }`))[thing] as unknown as { id: string }).id;

const redirectUri = 'https://shop.example.com/callback';
const [username, password] = ['ada', 'correct horse battery staple'];
const [gateway, orders] = ['https://gateway.example.com/api', 'https://orders.example.com/api'];

const createClient = async (input: object) => {
  const { application, secret = '' } = (await mutate(
    'createApplication',
    input,
    'application { id } secret',
  )) as unknown as { application: { id: string }; secret: string };
  return { id: application.id, secret };
};

await mutate('createResource', { name: 'Gateway', indicator: gateway }, 'resource { id }');
const resourceId = await idOf('createResource', { name: 'Orders', indicator: orders }, 'resource');
const scopeIds = [
  await idOf('createScope', { resourceId, name: 'orders:read' }, 'scope'),
  await idOf('createScope', { resourceId, name: 'orders:write' }, 'scope'),
];
const roleId = await idOf('createRole', { name: 'Buyer', scopeIds: scopeIds.slice(0, 1) }, 'role');
const userId = await idOf('createUser', { username, password }, 'user');
await mutate('assignUserRoles', { userId, roleIds: [roleId] }, 'user { id }');
const web = { type: 'TRADITIONAL', redirectUris: [redirectUri] };
const shop = await createClient({ name: 'Shop', ...web });
const backend = await createClient({
  name: 'Backend',
  type: 'MACHINE_TO_MACHINE',
  allowTokenExchange: true,
});

const enter = (current = password, client = shop) =>
  signIn(service, {
    client,
    redirectUri,
    username,
    password: current,
    resource: gateway,
    scope: 'openid offline_access',
  });
const swap = (subjectToken: string) =>
  exchange(service, backend, {
    subject_token: subjectToken,
    resource: orders,
    scope: 'orders:read orders:write',
  });
const refused = { status: 400, body: { error: 'invalid_request' } };

test('an exchanged token names the user and the acting service', async () => {
  const { access_token: accessToken } = await enter();
  const { status, body } = await swap(accessToken);
  expect(status).toBe(200);
  const { payload } = await jwtVerify(
    body['access_token'] as string,
    createRemoteJWKSet(new URL(`${issuer}/jwks`)),
    { issuer, audience: orders, typ: 'at+jwt' },
  );
  expect(payload).toMatchObject({
    sub: userId,
    client_id: backend.id,
    scope: 'orders:read',
    act: { sub: backend.id },
  });
});

test('neither an id token nor a refresh token is exchangeable', async () => {
  const { id_token: idToken = '', refresh_token: refreshToken = '' } = await enter();
  expect(idToken).not.toBe('');
  expect(refreshToken).not.toBe('');
  expect(await swap(idToken)).toMatchObject(refused);
  expect(await swap(refreshToken)).toMatchObject(refused);
});

test('rights given and taken show in the next exchange', async () => {
  const { access_token: accessToken } = await enter();
  await mutate('addRoleScopes', { roleId, scopeIds: scopeIds.slice(1) }, 'role { id }');
  expect(await swap(accessToken)).toMatchObject({ body: { scope: 'orders:read orders:write' } });
  await mutate('removeUserRole', { userId, roleId }, 'user { id }');
  expect(await swap(accessToken)).toMatchObject({ status: 200, body: { scope: '' } });
});

test.each([
  ['a forced sign-out', 'signOutUser', { id: userId }, password],
  [
    'a new password',
    'updateUserPassword',
    { id: userId, password: 'another long one' },
    'another long one',
  ],
] as const)(
  '%s ends earlier tokens; a new sign-in gives valid ones',
  async (_what, name, input, next) => {
    const { access_token: accessToken } = await enter();
    const exchanged = (await swap(accessToken)).body['access_token'] as string;
    await mutate(name, input, 'user { id }');
    expect(await swap(accessToken)).toMatchObject(refused);
    expect(await swap(exchanged)).toMatchObject(refused);
    // Tokens of the very millisecond of the change count as issued before it.
    service.clock.advance(1);
    expect(await swap((await enter(next)).access_token)).toMatchObject({ status: 200 });
  },
);

test('suspension ends them for good', async () => {
  const { access_token: accessToken } = await enter('another long one');
  await mutate('updateUserSuspensionStatus', { id: userId, isSuspended: true }, 'user { id }');
  expect(await swap(accessToken)).toMatchObject(refused);
  await mutate('updateUserSuspensionStatus', { id: userId, isSuspended: false }, 'user { id }');
  expect(await swap(accessToken)).toMatchObject(refused);
  service.clock.advance(1);
  expect(await swap((await enter('another long one')).access_token)).toMatchObject({ status: 200 });
});

test('the switch takes effect at the next call', async () => {
  const { access_token: accessToken } = await enter('another long one');
  const turn = (allowTokenExchange: boolean) =>
    mutate('updateApplication', { id: backend.id, allowTokenExchange }, 'application { id }');
  await turn(false);
  expect(await swap(accessToken)).toMatchObject({
    status: 400,
    body: { error: 'unauthorized_client' },
  });
  await turn(true);
  expect(await swap(accessToken)).toMatchObject({ status: 200 });
});

test('deleting the application or the user ends their tokens', async () => {
  const { access_token: accessToken } = await enter('another long one');
  const exchanged = (await swap(accessToken)).body['access_token'] as string;
  await mutate('deleteApplication', { id: shop.id }, 'application { id }');
  expect(await swap(accessToken)).toMatchObject(refused);
  expect(await swap(exchanged)).toMatchObject(refused);
  const market = await createClient({ name: 'Market', ...web });
  const { access_token: other } = await enter('another long one', market);
  expect(await swap(other)).toMatchObject({ status: 200 });
  await mutate('deleteUser', { id: userId }, 'user { id }');
  expect(await swap(other)).toMatchObject(refused);
});
