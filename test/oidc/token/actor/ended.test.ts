import { describe, expect, test } from 'vitest';
import { managementIndicator } from '../../../../src/auth/scopes.ts';
import { basic } from '../../../support/client-credentials.ts';
import { createMaker } from '../../../support/operations/maker.ts';
import { overGraphQL } from '../../../support/operations/operations.ts';
import { createSignInFixture } from '../../../support/people/sign-in-fixture.ts';
import { startService } from '../../../support/service.ts';
import { accessTokenType, exchange, formOf, isActive } from '../../../support/tokens.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { directory, database, resource } = fixture;
const { done } = createMaker(overGraphQL(service, await service.managementToken()));
const management = await database.prisma.resource.findUniqueOrThrow({
  where: { indicator: managementIndicator },
});
const forApi = { resource: resource.indicator, scope: 'openid offline_access read' };

async function createPerson() {
  const person = await fixture.createUser();
  await directory.allowUser(person, resource, ['read']);
  await directory.allowUser(person, management, ['all']);
  return person;
}
const signIn = async ({ username }: { username: string | null }, request: object = forApi) =>
  (await fixture.signIn({ username: username ?? '', ...request })).access_token;

const backend = await directory.createClient({
  allowTokenExchange: true,
  allowImpersonation: true,
  mayActFor: [fixture.client.id],
  exchangeResources: [resource.indicator, managementIndicator],
});
const ask = (parameters: Record<string, string>, by = backend) =>
  exchange(service, by, { resource: resource.indicator, scope: 'read', ...parameters });
async function exchanged(parameters: Record<string, string>, by = backend): Promise<string> {
  const { status, body } = await ask(parameters, by);
  expect(status, JSON.stringify(body)).toBe(200);
  return String(body['access_token']);
}
const isGood = async (token: string) => [
  await isActive(service, backend, token),
  (await ask({ subject_token: token })).status === 200,
];
const dead = [false, false];

const ends: [string, (userId: string) => Promise<unknown>][] = [
  ['a sign-out', (id) => done('signOutUser', { id })],
  ['a suspension', (id) => done('updateUserSuspensionStatus', { id, isSuspended: true })],
  [
    'a new password',
    (id) => done('updateUserPassword', { id, password: 'a long way home, twice' }),
  ],
  ['a deletion', (id) => done('deleteUser', { id })],
];

describe.each(ends)('%s of who acted', (_what, end) => {
  test('ends what was issued with their actor_token, and what came from it', async () => {
    const [subject, actor, other] = await Promise.all([
      createPerson(),
      createPerson(),
      createPerson(),
    ]);
    const subject_token = await signIn(subject);
    const actor_token = await signIn(actor);
    const acted = await exchanged({
      subject_token,
      actor_token,
      actor_token_type: accessTokenType,
    });
    const further = await exchanged({ subject_token: acted });
    const byOther = await exchanged({
      subject_token,
      actor_token: await signIn(other),
      actor_token_type: accessTokenType,
    });
    await end(actor.id);
    for (const token of [actor_token, acted, further]) expect(await isGood(token)).toEqual(dead);
    for (const token of [subject_token, byOther]) expect(await isGood(token)).toEqual([true, true]);
  });
});

test('who signs in again acts again, and ends again', async () => {
  const [subject, actor] = await Promise.all([createPerson(), createPerson()]);
  const subject_token = await signIn(subject);
  for (let time = 0; time < 2; time += 1) {
    const acted = await exchanged({
      subject_token,
      actor_token: await signIn(actor),
      actor_token_type: accessTokenType,
    });
    expect(await isGood(acted)).toEqual([true, true]);
    await done('signOutUser', { id: actor.id });
    expect(await isGood(acted)).toEqual(dead);
  }
});

describe('what ends the token of an agent ends what the agent created', () => {
  async function impersonated() {
    const [user, agent] = await Promise.all([createPerson(), createPerson()]);
    const first = await signIn(agent, { resource: managementIndicator, scope: 'openid all' });
    const helper = await directory.createClient({
      allowTokenExchange: true,
      exchangeResources: [managementIndicator],
    });
    const forManagement = { resource: managementIndicator, scope: 'all' };
    const last = await exchanged({ subject_token: first, ...forManagement }, helper);
    const maker = createMaker(overGraphQL(service, last));
    const input = { userId: user.id, reason: 'A ticket' };
    const waiting = await maker.done('createSubjectToken', input);
    const { token } = await maker.done('createSubjectToken', input);
    const type = 'urn:signet:params:oauth:token-type:subject_token';
    const of = (one: string) => ({ subject_token: one, subject_token_type: type });
    const issued = await exchanged(of(token));
    expect(await isGood(issued)).toEqual([true, true]);
    return { first, last, helper, issued, waiting: of(waiting.token) };
  }

  test.each(['first', 'last'] as const)('the revocation of the %s token', async (which) => {
    const { issued, waiting, helper, ...tokens } = await impersonated();
    const { id, secret } = which === 'first' ? fixture.client : helper;
    const { status } = await fetch(`${service.url}/oidc/token/revocation`, {
      method: 'POST',
      headers: { authorization: basic(id, secret) },
      body: formOf({ token: tokens[which] }),
    });
    expect(status).toBe(200);
    expect(await isGood(issued)).toEqual(dead);
    expect((await ask(waiting)).status).toBe(400);
  });

  test('the deletion of the application that had it last', async () => {
    const { issued, waiting, helper } = await impersonated();
    await done('deleteApplication', { id: helper.id });
    expect(await isGood(issued)).toEqual(dead);
    expect((await ask(waiting)).status).toBe(400);
  });
});
