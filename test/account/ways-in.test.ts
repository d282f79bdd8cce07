import { describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { type AccountClient, createAccountFixture } from '../support/people/account.ts';
import { createIdentityProvider, manager } from '../support/people/federation.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createAccountFixture(service);
const { prisma } = fixture.database;
const admin = await manager(service);
await changeSettings(service, await service.managementToken(), { factors: ['PASSKEY'] });

const provider = (name: string, rest: object = {}) =>
  createIdentityProvider(service, {
    name,
    kind: 'SOCIAL',
    issuer: `https://${name}.example.com`,
    clientId: name,
    ...rest,
  });
const [club, pub] = [await provider('club'), await provider('pub')];
await provider('acme', { kind: 'ENTERPRISE', emailDomains: ['acme.example'] });

let people = 0;
/** A person who has proved who they are, and then lost what is not named. */
async function person(values: object) {
  people += 1;
  const username = `person${people}`;
  const { id } = await fixture.createUser({ username });
  const enrollmentSkippedAt = service.clock.now();
  await prisma.user.update({ where: { id }, data: { enrollmentSkippedAt } });
  const me = await fixture.signInTo(username);
  await me.run('verifyViewerPassword', { password });
  await prisma.user.update({
    where: { id },
    data: { passwordDigest: null, passwordAlgorithm: null, ...values },
  });
  return { id, me };
}

async function link(userId: string, identityProviderId: string): Promise<string> {
  const identity = { userId, identityProviderId, issuer: identityProviderId, subject: userId };
  const { id } = await prisma.userIdentity.create({
    data: { id: newId('UserIdentity'), linkedAt: service.clock.now(), ...identity },
  });
  return id;
}

const passkey = async (userId: string) =>
  (
    await prisma.userFactor.create({
      data: { id: newId('UserFactor'), userId, type: 'PASSKEY', createdAt: service.clock.now() },
    })
  ).id;

const refused = { __typename: 'NotAllowedError' };
const remove = (me: AccountClient, id: string) => me.run('deleteViewerIdentity', { id });

describe('the last way in', () => {
  test.each([
    ['a user name alone', {}],
    ['an address of a company', { primaryEmail: 'last@acme.example' }],
  ])('stays, beside %s', async (_what, values) => {
    const { id, me } = await person(values);
    const identity = await link(id, club);
    expect(await remove(me, identity)).toMatchObject(refused);
    expect(await prisma.userIdentity.count({ where: { id: identity } })).toBe(1);
  });

  test('stays, beside a provider that is disabled', async () => {
    const { id, me } = await person({});
    const [kept, other] = [await link(id, club), await link(id, pub)];
    await admin.done('updateIdentityProvider', { id: pub, enabled: false });
    expect(await remove(me, kept)).toMatchObject(refused);
    // It lets nobody in, so it may go.
    expect(await remove(me, other)).toMatchObject({ __typename: 'DeleteViewerIdentityPayload' });
    await admin.done('updateIdentityProvider', { id: pub, enabled: true });
  });

  test('may be a passkey', async () => {
    const { id, me } = await person({});
    const [identity, factor] = [await link(id, club), await passkey(id)];
    expect(await remove(me, identity)).toMatchObject({
      __typename: 'DeleteViewerIdentityPayload',
    });
    expect(await me.run('deleteViewerFactor', { id: factor })).toMatchObject(refused);
  });
});

test.each([
  ['an address that gets codes', { primaryEmail: 'codes@example.com' }],
  ['a telephone that gets codes', { primaryPhone: '+4915112345678' }],
])('an identity goes, beside %s', async (_what, values) => {
  const { id, me } = await person(values);
  expect(await remove(me, await link(id, club))).toMatchObject({
    __typename: 'DeleteViewerIdentityPayload',
  });
});

test('of two at once, one identity stays', async () => {
  const { id, me } = await person({});
  const both = [await link(id, club), await link(id, pub)];
  const codes = (await Promise.all(both.map((identity) => remove(me, identity)))).map(
    (answer) => answer.__typename,
  );
  expect(codes.sort()).toEqual(['DeleteViewerIdentityPayload', 'NotAllowedError']);
});
