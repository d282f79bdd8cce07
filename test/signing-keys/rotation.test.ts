import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, onTestFinished, test, vi } from 'vitest';
import { loadSigningKeys } from '../../src/keys/signing-keys.ts';
import { followSigningKeys } from '../../src/signing-keys/operations.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { services } = service.app;
const directory = seedDirectory(services.database, service.clock);

const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const readJwks = async () =>
  (await (await fetch(`${service.url}/oidc/jwks`)).json()) as JSONWebKeySet;
const verify = async (token: string) =>
  jwtVerify(token, createLocalJWKSet(await readJwks()), { currentDate: service.clock.now() });

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
const run = async (document: string, token?: string): Promise<any> => {
  const endpoint = { url: service.url, token: token ?? (await service.managementToken()) };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return send<any, Record<string, never>>(endpoint, document);
};
const rotate = async (input = '{}') =>
  (
    await run(`mutation { rotateSigningKey(input: ${input}) { ... on RotateSigningKeyPayload {
      signingKey { id algorithm isCurrent retiredAt publicJwk }
      retiredSigningKey { id isCurrent retiredAt expiresAt } } } }`)
  ).data.rotateSigningKey;
const remove = async (id: string) =>
  (
    await run(`mutation { deleteSigningKey(input: { id: "${id}" }) {
      __typename ... on Error { code } ... on DeleteSigningKeyPayload { signingKey { id } } } }`)
  ).data.deleteSigningKey;

test('a new key signs; the old one verifies its tokens', async () => {
  await directory.createResource([], { accessTokenTtlSeconds: 7200 });
  const before = await service.managementToken();
  const { signingKey, retiredSigningKey } = await rotate();
  expect(signingKey).toMatchObject({ algorithm: 'ES256', isCurrent: true, retiredAt: null });
  expect(retiredSigningKey).toMatchObject({ id: kidOf(before), isCurrent: false });

  const after = await service.managementToken();
  expect(kidOf(after)).toBe(signingKey.id);
  expect((await readJwks()).keys.map(({ kid }) => kid)).toEqual([signingKey.id, kidOf(before)]);
  for (const token of [before, after]) await expect(verify(token)).resolves.toBeDefined();
  expect((await run('{ users(first: 1) { pageInfo { hasNextPage } } }', before)).status).toBe(200);

  service.clock.advance(7200_000 - 60_000);
  expect((await readJwks()).keys).toHaveLength(2);
  service.clock.advance(180_000);
  expect((await readJwks()).keys.map(({ kid }) => kid)).toEqual([signingKey.id]);
});

test('uses the requested algorithm for access and id tokens', async () => {
  const { signingKey } = await rotate('{ algorithm: PS256 }');
  expect(decodeProtectedHeader(await service.managementToken())).toMatchObject({
    alg: 'PS256',
    kid: signingKey.id,
  });
  const discovery = await (
    await fetch(`${service.url}/oidc/.well-known/openid-configuration`)
  ).json();
  expect(discovery).toMatchObject({
    id_token_signing_alg_values_supported: expect.arrayContaining(['PS256']),
  });
  await rotate('{ algorithm: ES256 }');
});

test('no field and no answer shows private material', async () => {
  const { signingKey } = await rotate();
  expect(Object.keys(signingKey.publicJwk).sort()).toEqual(
    ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'].sort(),
  );
  const list = await run('{ signingKeys { totalCount edges { node { id publicJwk } } } }');
  expect(JSON.stringify(list)).not.toMatch(/"(d|p|q|dp|dq|qi|k|oth)":/);
  for (const { d, p, q } of (await readJwks()).keys) expect({ d, p, q }).toEqual({});
});

test('only a retired key can be deleted, with its tokens', async () => {
  const old = await service.managementToken();
  const { signingKey, retiredSigningKey } = await rotate();
  expect(await remove(signingKey.id)).toEqual({
    __typename: 'NotAllowedError',
    code: 'NOT_ALLOWED',
  });

  expect(await remove(retiredSigningKey.id)).toMatchObject({
    signingKey: { id: retiredSigningKey.id },
  });
  const { status, errors } = await run('{ users(first: 1) { totalCount } }', old);
  expect(status).toBe(401);
  expect(errors[0].extensions.code).toBe('UNAUTHENTICATED');
  await expect(verify(old)).rejects.toThrow();
  expect(await remove(retiredSigningKey.id)).toEqual({
    __typename: 'NotFoundError',
    code: 'NOT_FOUND',
  });
});

test('keys require the scope all', async () => {
  const client = await directory.createClient();
  const management = await services.database.prisma.resource.findUniqueOrThrow({
    where: { indicator: 'urn:signet:management' },
  });
  await directory.allowClient(client, management, ['applications:write']);
  const token = await service.managementToken('applications:write', client);
  for (const document of [
    'mutation { rotateSigningKey(input: {}) { __typename } }',
    '{ signingKeys { totalCount } }',
    `{ node(id: "${services.keys.current().kid}") { id } }`,
  ]) {
    const { errors } = await run(document, token);
    expect(errors[0].extensions).toMatchObject({ code: 'FORBIDDEN', requiredScope: 'all' });
  }
});

test('another node verifies the new key’s tokens at once', async () => {
  const other = await loadSigningKeys({ ...services, prisma: services.database.prisma });
  const { signingKey } = await rotate();
  await expect(other.publicKey(signingKey.id)).resolves.toMatchObject({ algorithm: 'ES256' });
  expect(other.current().kid).toBe(signingKey.id);
});

test('a key whose last token has expired leaves the database', async () => {
  await rotate();
  service.clock.advance(25 * 3600_000);
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const stop = followSigningKeys(services);
  vi.advanceTimersByTime(60_000);
  await stop();
  expect(await services.database.prisma.signingKey.count()).toBe(1);
});
