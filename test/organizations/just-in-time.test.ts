import { describe, expect, onTestFinished, test } from 'vitest';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import { endOfLog, recordedSince } from '../support/people/account.ts';
import { enrollApp } from '../support/people/authenticator-app.ts';
import { asPage, step } from '../support/people/experience.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
} from '../support/people/federation.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const { client, createUser, database } = await createSignInFixture(service);
const { prisma } = database;
const admin = await manager(service);
const club = await startOpenIdProvider();
const guild = await startOpenIdProvider();
const providers = {
  Club: { peer: club, id: await connectSteered(service, club, 'Club') },
  Guild: { peer: guild, id: await connectSteered(service, guild, 'Guild') },
  // The same issuer as another provider, as a group of companies has it.
  Branch: { peer: club, id: await connectSteered(service, club, 'Branch') },
};

/** An organization with a just-in-time role, which people of these providers join. */
async function organization(names: readonly (keyof typeof providers)[] = ['Club', 'Guild']) {
  const organizationId = await admin.organization();
  const organizationRoleId = await admin.organizationRole();
  await admin.done('replaceOrganizationJitRoles', {
    organizationId,
    organizationRoleIds: [organizationRoleId],
  });
  for (const { id } of names.map((name) => providers[name])) {
    await admin.done('addOrganizationIdentityProvider', {
      organizationId,
      identityProviderId: id,
    });
  }
  return { organizationId, organizationRoleId };
}

let people = 0;
/** Somebody with an account, who comes by providers. */
async function person() {
  people += 1;
  const username = `joiner${people}`;
  const email = `${username}@example.com`;
  const { id } = await createUser({ username, primaryEmail: email, isEmailVerified: true });
  const come = async (name: keyof typeof providers, subject = username) => {
    const { browser, visit } = await openSignInPage(service, client);
    const { url } = await continueWith(browser, visit, name);
    const claims = { email, email_verified: true };
    const back = await browser.open(providers[name].peer.signedIn(url, subject, claims));
    expect(back.url.href).toContain(redirectUri);
  };
  const rolesIn = async (organizationId: string) => {
    const member = await prisma.organizationUser.findFirst({
      where: { organizationId, userId: id },
      include: { roles: true },
    });
    return member?.roles.map(({ organizationRoleId }) => organizationRoleId);
  };
  return { id, username, email, come, rolesIn };
}

test.each(['removeOrganizationUser', 'replaceOrganizationUsers'])(
  'who was removed by %s is not put back by another way in',
  async (removal) => {
    const { organizationId, organizationRoleId } = await organization();
    const { id, come, rolesIn } = await person();
    await come('Club');
    expect(await rolesIn(organizationId)).toEqual([organizationRoleId]);
    await (removal === 'removeOrganizationUser'
      ? admin.done('removeOrganizationUser', { organizationId, userId: id })
      : admin.done('replaceOrganizationUsers', { organizationId, userIds: [] }));
    // By a sign-in, by another provider, and by an identity that is linked again.
    await come('Club');
    expect(await rolesIn(organizationId)).toBeUndefined();
    await come('Guild');
    expect(await rolesIn(organizationId)).toBeUndefined();
    const identity = await prisma.userIdentity.findFirstOrThrow({
      where: { userId: id, identityProviderId: providers.Club.id },
    });
    await admin.done('deleteUserIdentity', { userId: id, identityId: identity.id });
    await come('Club');
    expect(await rolesIn(organizationId)).toBeUndefined();
    // An administrator puts them back, as any other member.
    await admin.done('addOrganizationUsers', { organizationId, userIds: [id] });
    expect(await rolesIn(organizationId)).toEqual([]);
  },
);

test('the roles are given when somebody joins, and not again', async () => {
  const { organizationId, organizationRoleId } = await organization();
  const { id, come, rolesIn } = await person();
  await come('Club');
  const roles = { organizationId, userId: id, organizationRoleId };
  await admin.done('removeOrganizationUserRole', roles);
  await come('Guild');
  expect(await rolesIn(organizationId)).toEqual([]);
});

test('who was added by hand gets none of them by coming', async () => {
  const { organizationId } = await organization();
  const { id, come, rolesIn } = await person();
  await admin.done('addOrganizationUsers', { organizationId, userIds: [id] });
  await come('Club');
  expect(await rolesIn(organizationId)).toEqual([]);
});

test('a removal from one organization keeps nobody out of another', async () => {
  const [one, another] = [await organization(), await organization()];
  const { id, come, rolesIn } = await person();
  await admin.done('addOrganizationUsers', { organizationId: one.organizationId, userIds: [id] });
  await admin.done('removeOrganizationUser', { organizationId: one.organizationId, userId: id });
  await come('Club');
  expect(await rolesIn(one.organizationId)).toBeUndefined();
  expect(await rolesIn(another.organizationId)).toEqual([another.organizationRoleId]);
});

describe('who is known by the same issuer from another provider', () => {
  test('joins the organization of the one that they come by', async () => {
    const { organizationId, organizationRoleId } = await organization(['Branch']);
    const { id, come, rolesIn } = await person();
    await come('Club');
    expect(await rolesIn(organizationId)).toBeUndefined();
    const start = await endOfLog(service);
    await come('Branch');
    expect(await rolesIn(organizationId)).toEqual([organizationRoleId]);
    expect(await recordedSince(service, start)).toContainEqual(
      expect.objectContaining({
        type: 'Organization.Membership.Updated',
        data: expect.objectContaining({ organizationId, addedUserIds: [id] }),
      }),
    );
    expect(await prisma.userIdentity.count({ where: { userId: id } })).toBe(1);
    await come('Branch');
    expect(await rolesIn(organizationId)).toEqual([organizationRoleId]);
  });

  test('is not put back by it', async () => {
    const { organizationId } = await organization(['Branch']);
    const { id, come, rolesIn } = await person();
    await come('Club');
    await come('Branch');
    await admin.done('removeOrganizationUser', { organizationId, userId: id });
    await come('Branch');
    expect(await rolesIn(organizationId)).toBeUndefined();
  });

  test('joins only after their second factor', async () => {
    const { organizationId, organizationRoleId } = await organization(['Branch']);
    const { username, email, come, rolesIn } = await person();
    await come('Club');
    const token = await service.managementToken();
    await changeSettings(service, token, { factors: ['TOTP'] });
    onTestFinished(() => changeSettings(service, token, { factors: [] }));
    const enrolling = asPage(service, (await openSignInPage(service, client)).browser);
    await step(enrolling, 'signInWithPassword', { identifier: email, password });
    const app = await enrollApp(enrolling, service.clock);
    service.clock.advance(30_000);

    const { browser, visit } = await openSignInPage(service, client);
    const { url } = await continueWith(browser, visit, 'Branch');
    await browser.open(club.signedIn(url, username, { email, email_verified: true }));
    expect(await rolesIn(organizationId)).toBeUndefined();
    const send = asPage(service, browser);
    await step(send, 'verifyTotp', { code: app.code() });
    expect(await step(send, 'submitInteraction')).toHaveProperty('redirectTo');
    expect(await rolesIn(organizationId)).toEqual([organizationRoleId]);
  });
});
