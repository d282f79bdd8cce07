import { expect, test, vi } from 'vitest';
import { send } from '../support/operations/graphql.ts';
import { asPage, step } from '../support/people/experience.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
} from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { exchange } from '../support/tokens.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const backend = await fixture.directory.createClient({ allowTokenExchange: true });

const signOut = async (id: string) =>
  send<{ signOutUser: object }, { id: string }>(
    { url: service.url, token: await service.managementToken('users:write') },
    'mutation ($id: ID!) { signOutUser(input: { id: $id }) { __typename ... on SignOutUserPayload { user { id } } } }',
    { id },
  );

test('ends a sign-in under way that is of the same second', async () => {
  const person = await fixture.createUser();
  const { browser } = await openSignInPage(service, fixture.client);
  const page = asPage(service, browser);
  const second = Math.ceil(Date.now() / 1000) * 1000;
  vi.useFakeTimers({ toFake: ['Date'], now: second + 100 });
  try {
    await step(page, 'signInWithPassword', { identifier: person.username, password });
    vi.setSystemTime(second + 500);
    await signOut(person.id);
    vi.setSystemTime(second + 900);
    expect(await step(page, 'submitInteraction')).toMatchObject({ code: 'INTERACTION_EXPIRED' });
  } finally {
    vi.useRealTimers();
  }
});

test('ends sessions and tokens, and allows a new sign-in', async () => {
  const { prisma } = service.app.services.database;
  const signIn = () =>
    fixture.signIn({ resource: fixture.resource.indicator, scope: 'openid offline_access read' });
  const exchanged = (subjectToken: string) =>
    exchange(service, backend, {
      subject_token: subjectToken,
      resource: fixture.resource.indicator,
    });
  const tokens = await signIn();
  expect((await exchanged(tokens.access_token)).status).toBe(200);

  const { data } = await signOut(fixture.user.id);
  expect(data).toEqual({
    signOutUser: { __typename: 'SignOutUserPayload', user: { id: fixture.user.id } },
  });
  expect(await prisma.oidcRecord.count({ where: { accountId: fixture.user.id } })).toBe(0);
  expect(await exchanged(tokens.access_token)).toMatchObject({
    status: 400,
    body: { error: 'invalid_request' },
  });

  const again = await signIn();
  expect((await exchanged(again.access_token)).status).toBe(200);
});

test('names the unknown id', async () => {
  const { data } = await signOut('user_01h455vb4pex5vsknk084sn02q');
  expect(data).toEqual({ signOutUser: { __typename: 'NotFoundError' } });
});
