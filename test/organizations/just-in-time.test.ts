import { expect, test } from 'vitest';
import { startOpenIdProvider } from '../support/peers/openid-provider.ts';
import {
  allowPrivate,
  connectSteered,
  continueWith,
  manager,
} from '../support/people/federation.ts';
import {
  createSignInFixture,
  openSignInPage,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
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
};

/** An organization with a just-in-time role, which people of both providers join. */
async function organization() {
  const organizationId = await admin.organization();
  const organizationRoleId = await admin.organizationRole();
  await admin.done('replaceOrganizationJitRoles', {
    organizationId,
    organizationRoleIds: [organizationRoleId],
  });
  for (const { id } of Object.values(providers)) {
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
  return { id, username, come, rolesIn };
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
