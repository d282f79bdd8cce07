import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { composed as inForm } from '../../src/text/typed.ts';
import { apply, plan } from '../support/operations/configuration.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { callRest } from '../support/operations/rest.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { createSignInFixture, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const endpoint = { url: service.url, token: await service.managementToken() };
const call = overGraphQL(service, endpoint.token);
const admin = createMaker(call);

const [composed, decomposed] = ['Zo\u00eb', 'Zoe\u0308'];
const find = async (list: string, search: string) => {
  const path = `/${list}?search=${encodeURIComponent(search)}`;
  return (await callRest(endpoint, 'GET', path)).body[list].map(({ id }: { id: string }) => id);
};

// Sorted by a library they would take an hour.
const endlessMarks = `Z${'\u0301\u0316'.repeat(500_000)}`;

test('a name, a password or a profile with endless marks is refused like any that is too long', async () => {
  const refused = { code: 'INVALID_INPUT' };
  expect(await call('createUser', { name: endlessMarks })).toMatchObject(refused);
  expect(await call('createUser', { profile: { nickname: endlessMarks } })).toMatchObject(refused);
  expect(await call('createRole', { name: 'r', description: endlessMarks })).toMatchObject(refused);
  const app = await fixture.createApplication({ allowHeadlessSignIn: true });
  const { send } = await startHeadless(service, { clientId: app.id, redirectUri });
  const password = endlessMarks.slice(0, 30_000);
  expect(await step(send, 'register', { username: 'endless', password })).toMatchObject({
    reasons: [{ code: 'TOO_LONG' }],
  });
});

test('a letter with endless marks stays as it is, also with those that are marks in another form alone', () => {
  const letter = `\uFF8A${'\u0301\uFF9E'.repeat(100)}`;
  expect(inForm(letter, 'NFKC')).toBe(letter);
  expect(inForm('\uFF8A\uFF9E', 'NFKC')).toBe('\u30D0');
});

describe('a name in decomposed form', () => {
  test.each([
    ['user', 'users', 'createUser', {}],
    ['organization', 'organizations', 'createOrganization', {}],
    ['role', 'roles', 'createRole', {}],
    ['application', 'applications', 'createApplication', { type: 'TRADITIONAL' }],
  ])('of one %s is stored composed, and found in both', async (kind, list, operation, values) => {
    const name = `${decomposed} of ${list}`;
    const description = kind === 'user' ? {} : { description: `For ${decomposed}` };
    const { payload } = await call(operation, { ...values, ...description, name });
    const { id } = payload[kind];
    expect((await callRest(endpoint, 'GET', `/${list}/${id}`)).body[kind]).toMatchObject({
      name: name.normalize('NFC'),
      ...(kind === 'user' ? {} : { description: `For ${composed}` }),
    });
    for (const search of [`${composed} of ${list}`, `${decomposed} OF`]) {
      expect(await find(list, search)).toEqual([id]);
    }
  });

  test('is not free where the composed one is taken', async () => {
    await admin.role({ name: `${composed} alone` });
    expect(await call('createRole', { name: `${decomposed} alone` })).toMatchObject({
      code: 'CONFLICT',
      path: ['name'],
    });
  });

  test('that a version before has stored is found in both', async () => {
    const [id, now] = [newId('User'), service.clock.now()];
    const name = `${decomposed} the elder`;
    await prisma.user.create({ data: { id, name, createdAt: now, updatedAt: now } });
    for (const search of [name, name.normalize('NFC')])
      expect(await find('users', search)).toEqual([id]);
  });

  test('is composed in a profile, and customData stays as it is', async () => {
    const id = await admin.user({
      profile: { given_name: decomposed },
      customData: { name: decomposed },
    });
    expect(await prisma.user.findUniqueOrThrow({ where: { id } })).toMatchObject({
      profile: { given_name: composed },
      customData: { name: decomposed },
    });
  });

  test('has as many characters as the composed one', async () => {
    await admin.user({ name: 'e\u0308'.repeat(128) });
  });

  test('is taken at a sign-up', async () => {
    const client = await fixture.createApplication({ allowHeadlessSignIn: true });
    const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
    const registered = await step(send, 'register', {
      username: 'zoe',
      password: 'a long way home, twice',
      profile: { name: ` ${decomposed} `, given_name: decomposed },
    });
    expect(registered).toMatchObject({ interaction: { nextSteps: ['SUBMIT'] } });
    await step(send, 'submitInteraction');
    expect(await prisma.user.findFirst({ where: { username: 'zoe' } })).toMatchObject({
      name: composed,
      profile: { given_name: composed },
    });
  });

  test('is no change in a configuration', async () => {
    const document = { roles: [{ name: `${decomposed} by file`, type: 'USER' }] };
    await apply(endpoint, document);
    expect((await plan(endpoint, document)).changes).toEqual([]);
  });
});
