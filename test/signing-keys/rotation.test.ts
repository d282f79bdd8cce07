import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { quietTransaction } from '../../src/db/transaction.ts';
import { loadSigningKeys } from '../../src/keys/signing-keys.ts';
import { purgeExpired } from '../../src/oidc/provider/storage/expiry.ts';
import { systemActor } from '../../src/services.ts';
import { jobs, rotateSigningKey } from '../../src/signing-keys/operations.ts';
import { settledEvents } from '../support/events.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { send } from '../support/operations/graphql.ts';
import { startSecondNode, startService } from '../support/service.ts';

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
const keyFields =
  'id algorithm isCurrent status createdAt activeFrom retiredAt expiresAt publicJwk';
/** Makes a key that waits. */
const prepare = async (input = '{}') =>
  (
    await run(`mutation { rotateSigningKey(input: ${input}) { ... on RotateSigningKeyPayload {
      signingKey { ${keyFields} } retiredSigningKey { ${keyFields} } } } }`)
  ).data.rotateSigningKey;
const leadMs = 60_000;
const byNobody = { actor: systemActor, traceId: '', ip: null, userAgent: null };
/** Makes a key, and lets it begin to sign. */
async function rotate(input?: string) {
  const rotated = await prepare(input);
  service.clock.advance(leadMs);
  return rotated;
}
const readKeys = async () =>
  (await run(`{ signingKeys { edges { node { ${keyFields} } } } }`)).data.signingKeys.edges.map(
    ({ node }: { node: object }) => node,
  );
const remove = async (id: string) =>
  (
    await run(`mutation { deleteSigningKey(input: { id: "${id}" }) {
      __typename ... on Error { code } ... on DeleteSigningKeyPayload { signingKey { id } } } }`)
  ).data.deleteSigningKey;

test('a new key signs; the old one verifies its tokens', async () => {
  await directory.createResource([], { accessTokenTtlSeconds: 7200 });
  onTestFinished(service.clock.freeze());
  const before = await service.managementToken();
  const { signingKey, retiredSigningKey } = await prepare();
  const waiting = { isCurrent: false, status: 'PENDING', retiredAt: null };
  const signing = { isCurrent: true, status: 'ACTIVE' };
  expect(signingKey).toMatchObject({ algorithm: 'ES256', ...waiting });
  expect(Date.parse(signingKey.activeFrom) - Date.parse(signingKey.createdAt)).toBe(leadMs);
  expect(retiredSigningKey).toMatchObject({
    ...{ id: kidOf(before), ...signing, retiredAt: signingKey.activeFrom },
  });
  expect((await readJwks()).keys.map(({ kid }) => kid)).toEqual([kidOf(before), signingKey.id]);
  service.clock.advance(leadMs - 5_000);
  expect(kidOf(await service.managementToken())).toBe(kidOf(before));
  service.clock.advance(5_000);
  const [newest, replaced] = await readKeys();
  expect(newest).toMatchObject({ id: signingKey.id, ...signing, retiredAt: null });
  expect(replaced).toMatchObject({ id: kidOf(before), isCurrent: false, status: 'RETIRED' });

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

test('all keys but the newest can be deleted, with their tokens', async () => {
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
  const { signingKey } = await prepare();
  await expect(other.publicKey(signingKey.id)).resolves.toMatchObject({ algorithm: 'ES256' });
  expect(other.current().kid).toBe(services.keys.current().kid);
  expect(other.current().kid).not.toBe(signingKey.id);
  const { version } = other;
  service.clock.advance(leadMs);
  expect(other.current().kid).toBe(signingKey.id);
  expect(services.keys.current().kid).toBe(signingKey.id);
  expect(other.version).toBe(version + 1);
});

test('the next key signs at once when the one that signs is deleted', async () => {
  const leaked = await service.managementToken();
  const { signingKey, retiredSigningKey } = await prepare();
  expect(retiredSigningKey.id).toBe(kidOf(leaked));
  expect(await remove(retiredSigningKey.id)).toMatchObject({ signingKey: { id: kidOf(leaked) } });
  expect(kidOf(await service.managementToken())).toBe(signingKey.id);
  expect((await readKeys())[0]).toMatchObject({ id: signingKey.id, isCurrent: true });
  expect((await run('{ users(first: 1) { totalCount } }', leaked)).status).toBe(401);
});

test('of two rotations in a row the second one counts, and every token stays valid', async () => {
  const [before, first] = [await service.managementToken(), await prepare()];
  service.clock.advance(leadMs / 2);
  const second = await prepare();
  expect(kidOf(await service.managementToken())).toBe(kidOf(before));
  service.clock.advance(leadMs / 2);
  const between = await service.managementToken();
  expect(kidOf(between)).toBe(first.signingKey.id);
  service.clock.advance(leadMs / 2);
  const after = await service.managementToken();
  expect(kidOf(after)).toBe(second.signingKey.id);
  for (const token of [before, between, after]) await expect(verify(token)).resolves.toBeDefined();
});

test('a key that leaked is replaced at once, and what waits with it', async () => {
  onTestFinished(service.clock.freeze());
  const before = await service.managementToken();
  const waiting = await prepare();
  const { signingKey, retiredSigningKey } = await prepare('{ immediately: true }');
  const now = service.clock.now().toISOString();
  expect(signingKey).toMatchObject({ status: 'ACTIVE', isCurrent: true, activeFrom: now });
  expect(retiredSigningKey).toMatchObject({
    ...{ id: kidOf(before), status: 'RETIRED', isCurrent: false, retiredAt: now },
  });
  const after = await service.managementToken();
  expect(kidOf(after)).toBe(signingKey.id);
  for (const token of [before, after]) await expect(verify(token)).resolves.toBeDefined();
  service.clock.advance(2 * leadMs);
  expect(kidOf(await service.managementToken())).toBe(signingKey.id);
  const keys = await readKeys();
  expect(keys.find(({ id }: { id: string }) => id === waiting.signingKey.id)).toMatchObject({
    ...{ status: 'RETIRED', isCurrent: false },
  });
});

test('a key that waits can be deleted: the one that it was to replace goes on', async () => {
  onTestFinished(service.clock.freeze());
  const before = await service.managementToken();
  const first = await prepare();
  service.clock.advance(leadMs / 2);
  const second = await prepare();
  // The first of two: the key before it signs until the second begins.
  expect(await remove(first.signingKey.id)).toMatchObject({ signingKey: {} });
  service.clock.advance(leadMs / 2);
  expect(kidOf(await service.managementToken())).toBe(kidOf(before));
  expect(await remove(second.signingKey.id)).toMatchObject({ signingKey: {} });
  service.clock.advance(leadMs);
  expect(kidOf(await service.managementToken())).toBe(kidOf(before));
  const [newest] = await readKeys();
  expect(newest).toMatchObject({
    ...{ id: kidOf(before), status: 'ACTIVE', isCurrent: true, retiredAt: null, expiresAt: null },
  });
  await expect(verify(before)).resolves.toBeDefined();
  expect(await remove(newest.id)).toMatchObject({ code: 'NOT_ALLOWED' });
});

test('a key stays for the tokens of a lifetime that was raised while its successor waited', async () => {
  onTestFinished(service.clock.freeze());
  const resource = await directory.createResource([]);
  const { retiredSigningKey } = await prepare();
  const days = 20 * 24 * 3_600_000;
  const { data } = await run(`mutation { updateResource(input: { id: "${resource.id}",
    accessTokenTtlSeconds: ${days / 1000} }) { __typename } }`);
  expect(data.updateResource.__typename).toBe('UpdateResourcePayload');
  const kept = (await readKeys()).find(({ id }: { id: string }) => id === retiredSigningKey.id);
  expect(Date.parse(kept.expiresAt)).toBe(Date.parse(kept.retiredAt) + days + 60_000);
});

test('another SIGNING_ALG is that of the next key; until that signs, the old one does', async () => {
  onTestFinished(service.clock.freeze());
  const old = kidOf(await service.managementToken());
  const other = await startSecondNode(service, { SIGNING_ALG: 'PS256' });
  const tokenOf = (node: typeof service | typeof other) =>
    node.managementToken(undefined, service.admin);
  for (const node of [service, other]) expect(kidOf(await tokenOf(node))).toBe(old);
  await rotateSigningKey({ ...other.app.services, ...byNobody }, {});
  for (const node of [service, other]) {
    await node.app.services.keys.reload();
    expect(kidOf(await tokenOf(node))).toBe(old);
  }
  service.clock.advance(leadMs);
  for (const node of [service, other]) {
    expect(decodeProtectedHeader(await tokenOf(node))).toMatchObject({ alg: 'PS256' });
  }
  await rotate();
});

test('the key set is at its well-known address too', async () => {
  const [asked, known] = await Promise.all(
    ['jwks', '.well-known/jwks.json'].map((path) => fetch(`${service.url}/oidc/${path}`)),
  );
  expect(await known?.json()).toEqual(await asked?.json());
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await fetch(`${service.url}/oidc/.well-known/jwks.json`, {
      method,
    });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': expect.stringMatching(/^application\/jwk-set\+json/),
      'cache-control': 'public, max-age=15',
      'access-control-allow-origin': '*',
    });
  }
});

test('makes a key by itself once the last one has signed for so many days', async () => {
  const set = async (days: number | null) =>
    (
      await run(`mutation { updateServiceSettings(input: { signingKeyRotationDays: ${days} }) {
        ... on UpdateServiceSettingsPayload { serviceSettings { signingKeyRotationDays } } } }`)
    ).data.updateServiceSettings.serviceSettings;
  const runJobs = async () => {
    await Promise.all(
      [1, 2].map(() =>
        quietTransaction(services.database, async (tx) => {
          for (const job of jobs(services)) await job.run(tx);
        }),
      ),
    );
    // As it does every few seconds.
    await services.keys.reload();
  };
  const newest = async () => (await readKeys())[0];
  const day = 24 * 3_600_000;
  const { signingKey } = await rotate();

  await runJobs();
  service.clock.advance(100 * day);
  await runJobs();
  expect(await newest()).toMatchObject({ id: signingKey.id });

  expect(await set(101)).toEqual({ signingKeyRotationDays: 101 });
  await runJobs();
  expect(await newest()).toMatchObject({ id: signingKey.id });
  service.clock.advance(day);
  await runJobs();
  expect(await newest()).toMatchObject({ status: 'PENDING' });
  const keys = await readKeys();
  expect(keys[1]).toMatchObject({ id: signingKey.id, isCurrent: true });
  await runJobs();
  expect(await readKeys()).toHaveLength(keys.length);
  const told = await settledEvents(service, await service.managementToken());
  expect(told.at(-1)).toMatchObject({
    name: 'SigningKey.Rotated',
    data: { signingKeyId: keys[0].id },
  });

  expect(await set(null)).toEqual({ signingKeyRotationDays: null });
  service.clock.advance(1000 * day);
  await runJobs();
  expect(await newest()).toMatchObject({ id: keys[0].id, isCurrent: true });
});

test('a key whose last token has expired leaves the database', async () => {
  await rotate();
  await services.database.prisma.signingKey.updateMany({
    where: { expiresAt: { not: null } },
    data: { expiresAt: new Date(Date.now() - 60_000) },
  });
  await quietTransaction(services.database, purgeExpired(services));
  expect(await services.database.prisma.signingKey.count()).toBe(1);
});
