import { decodeProtectedHeader } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import type { SigningAlgorithm } from '../../src/config.ts';
import { systemActor } from '../../src/services.ts';
import { rotateSigningKey } from '../../src/signing-keys/operations.ts';
import { settledEvents } from '../support/events.ts';
import { send } from '../support/operations/graphql.ts';
import { createSignInFixture } from '../support/people/sign-in-fixture.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { exchange, userToken } from '../support/tokens.ts';

const service = await startService();
const other = await startSecondNode(service);
const { services } = service.app;
const fixture = await createSignInFixture(service);
const { directory, user } = fixture;
const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
const leadMs = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: the documents here are text, so their results have no type.
const run = async (document: string, token?: string): Promise<any> => {
  const endpoint = { url: service.url, token: token ?? (await service.managementToken()) };
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return (await send<any, Record<string, never>>(endpoint, document)).data;
};
const setAlgorithm = async (id: string, algorithm: SigningAlgorithm | null) =>
  (
    await run(`mutation { updateResource(input: { id: "${id}", signingAlg: ${algorithm} }) {
      ... on UpdateResourcePayload { resource { signingAlg } } ... on Error { code } } }`)
  ).updateResource;
const countKeys = (algorithm: SigningAlgorithm) =>
  services.database.prisma.signingKey.count({ where: { algorithm } });

/** The algorithms of the tokens that both nodes issue for a resource, by each way to one. */
async function algorithmsFor(indicator: string): Promise<unknown[]> {
  for (const { app } of [service, other]) await app.services.keys.reload();
  const subject = await userToken(service, user.id, fixture.client);
  const exchanged = await Promise.all(
    [service, other].map((node) =>
      exchange(node, backend, { subject_token: subject, resource: indicator }),
    ),
  );
  const { access_token: ofSignIn } = await fixture.signIn({ resource: indicator });
  const tokens = [...exchanged.map(({ body }) => String(body['access_token'])), ofSignIn];
  return [...new Set(tokens.map((token) => decodeProtectedHeader(token).alg))];
}

test('tokens for a resource are signed in its algorithm once its key was published for long enough', async () => {
  onTestFinished(service.clock.freeze());
  const [strict, plain] = [await directory.createResource([]), await directory.createResource([])];
  expect(await setAlgorithm(strict.id, 'RS256')).toEqual({ resource: { signingAlg: 'RS256' } });
  const told = await settledEvents(service, await service.managementToken());
  expect(told.map(({ name }) => name).slice(-2)).toEqual([
    'SigningKey.Rotated',
    'Resource.Data.Updated',
  ]);
  const { keys } = (await (await fetch(`${other.url}/oidc/jwks`)).json()) as {
    keys: { alg: string }[];
  };
  expect(keys.map(({ alg }) => alg)).toEqual(['ES256', 'RS256']);

  service.clock.advance(leadMs - 1);
  expect(await algorithmsFor(strict.indicator)).toEqual(['ES256']);
  service.clock.advance(1);
  expect(await algorithmsFor(strict.indicator)).toEqual(['RS256']);
  expect(await algorithmsFor(plain.indicator)).toEqual(['ES256']);
  expect(decodeProtectedHeader(await service.managementToken()).alg).toBe('ES256');

  // Another resource finds the key there.
  await setAlgorithm(plain.id, 'RS256');
  expect(await algorithmsFor(plain.indicator)).toEqual(['RS256']);
  expect(await countKeys('RS256')).toBe(1);
  await setAlgorithm(plain.id, null);
  expect(await algorithmsFor(plain.indicator)).toEqual(['ES256']);
});

test('a change from one algorithm to another keeps the first until the second signs', async () => {
  onTestFinished(service.clock.freeze());
  const resource = await directory.createResource([]);
  await setAlgorithm(resource.id, 'RS256');
  service.clock.advance(leadMs);
  for (const algorithm of ['PS256', 'ES384'] as const) await setAlgorithm(resource.id, algorithm);
  expect(await algorithmsFor(resource.indicator)).toEqual(['RS256']);
  service.clock.advance(leadMs);
  expect(await algorithmsFor(resource.indicator)).toEqual(['ES384']);
});

test('a rotation renews the keys that resources ask for, with the lead too', async () => {
  onTestFinished(service.clock.freeze());
  const resource = await directory.createResource([], { signingAlg: 'EdDSA' });
  const context = { ...services, actor: systemActor, traceId: '', ip: null, userAgent: null };
  await rotateSigningKey(context, {});
  service.clock.advance(leadMs);
  expect(await algorithmsFor(resource.indicator)).toEqual(['EdDSA']);
  const kid = () => services.keys.signerFor({ signingAlg: 'EdDSA', signingAlgBefore: null }).kid;
  const before = kid();
  await rotateSigningKey(context, {});
  expect(kid()).toBe(before);
  service.clock.advance(leadMs);
  expect(kid()).not.toBe(before);
  expect(await algorithmsFor(resource.indicator)).toEqual(['EdDSA']);
  // The service's own algorithm may change beside it, and back.
  await rotateSigningKey(context, { algorithm: 'EdDSA' });
  service.clock.advance(leadMs);
  expect(await algorithmsFor(resource.indicator)).toEqual(['EdDSA']);
  await rotateSigningKey(context, { immediately: true });
  expect(await algorithmsFor(resource.indicator)).toEqual(['EdDSA']);
  expect(services.keys.current().algorithm).toBe('ES256');
});

test('a new resource may have an algorithm, and Signet’s own have none of their own', async () => {
  const { createResource } = await run(`mutation { createResource(input: {
    name: "Strict", indicator: "https://strict.example.com", signingAlg: RS256 }) {
      ... on CreateResourcePayload { resource { signingAlg } } } }`);
  expect(createResource).toEqual({ resource: { signingAlg: 'RS256' } });
  const management = await services.database.prisma.resource.findUniqueOrThrow({
    where: { indicator: 'urn:signet:management' },
  });
  expect(await setAlgorithm(management.id, 'PS256')).toEqual({ code: 'NOT_ALLOWED' });
});

test('a key that waits can be deleted unless an algorithm that is asked for would have none', async () => {
  onTestFinished(service.clock.freeze());
  const context = { ...services, actor: systemActor, traceId: '', ip: null, userAgent: null };
  const remove = async (id: string) =>
    (
      await run(`mutation { deleteSigningKey(input: { id: "${id}" }) {
        ... on DeleteSigningKeyPayload { signingKey { status } } ... on Error { code } } }`)
    ).deleteSigningKey;
  const waiting = async (algorithm: SigningAlgorithm) =>
    (
      await services.database.prisma.signingKey.findFirstOrThrow({
        where: { algorithm, retiredAt: null },
      })
    ).id;
  await services.database.prisma.resource.updateMany({ data: { signingAlg: null } });
  await rotateSigningKey(context, { immediately: true });
  const resource = await directory.createResource([]);
  await setAlgorithm(resource.id, 'RS256');
  expect(await remove(await waiting('RS256'))).toEqual({ code: 'NOT_ALLOWED' });
  await setAlgorithm(resource.id, null);
  expect(await remove(await waiting('RS256'))).toEqual({ signingKey: { status: 'PENDING' } });
  // Nor if it was to be the service's.
  await rotateSigningKey(context, { algorithm: 'RS256' });
  await setAlgorithm(resource.id, 'RS256');
  expect(await remove(await waiting('RS256'))).toEqual({ code: 'NOT_ALLOWED' });
  await setAlgorithm(resource.id, null);
  expect(await remove(await waiting('RS256'))).toEqual({ signingKey: { status: 'PENDING' } });
  expect(services.keys.current().algorithm).toBe('ES256');
});
