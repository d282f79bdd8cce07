import { describe, expect, test } from 'vitest';
import { NotAllowedError } from '../../src/errors.ts';
import { newId } from '../../src/ids.ts';
import { createOrganizationInvitation } from '../../src/organization-invitations/operations.ts';
import { systemActor } from '../../src/services.ts';
import { testCall } from '../support/log.ts';
import { ask, graphql, payload } from '../support/operations/graphql.ts';
import { startMailServer } from '../support/peers/mail-server.ts';
import { createAccountFixture, endOfLog, recordedSince } from '../support/people/account.ts';
import { manager } from '../support/people/federation.ts';
import { useMailServer } from '../support/people/messages.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { password } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { adminOf } from '../support/webhooks.ts';

const Invite = graphql(`
  mutation InviteForTest($input: CreateOrganizationInvitationInput!) {
    createOrganizationInvitation(input: $input) {
      __typename
      ... on CreateOrganizationInvitationPayload {
        organizationInvitation { id url expiresAt }
      }
    }
  }
`);

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const fixture = await createAccountFixture(service);
const { directory, createUser, newPerson, database } = fixture;
const { prisma } = database;
const { baseUrl } = service.app.services;
const admin = await adminOf(service);
const organization = await directory.createOrganization();
const now = service.clock.now();
const role = await prisma.organizationRole.create({
  data: {
    id: newId('OrganizationRole'),
    name: 'Clerk',
    type: 'USER',
    createdAt: now,
    updatedAt: now,
  },
});

const invite = async (invitee: string, more: object = {}) => {
  const input = {
    organizationId: organization.id,
    invitee,
    organizationRoleIds: [role.id],
    ...more,
  };
  const { createOrganizationInvitation } = await ask(admin, Invite, { input });
  return payload(createOrganizationInvitation, 'CreateOrganizationInvitationPayload')
    .organizationInvitation;
};

const rolesOf = (userId: string) =>
  prisma.organizationUserRole.findMany({ where: { userId, organizationId: organization.id } });

const joined = [
  'Organization.Membership.Updated',
  'Organization.MemberRoles.Updated',
  'OrganizationInvitation.Data.Updated',
];

let count = 0;
const person = (values: object = {}) => {
  count += 1;
  return createUser({
    username: `invited${count}`,
    primaryEmail: `invited${count}@example.com`,
    isEmailVerified: true,
    ...values,
  });
};

/** Opens an invitation's link in a new browser, and signs in there. */
async function open(url: string, username: string) {
  const browser = openBrowser(baseUrl);
  const page = await browser.open(new URL(url).pathname + new URL(url).search);
  return { browser, page: await browser.submit(page, { identifier: username, password }) };
}

describe('the link of an invitation', () => {
  test('leads through the sign-in to a page that makes its reader a member', async () => {
    const { id: userId, username, primaryEmail } = await person();
    const { id, url } = await invite(primaryEmail?.toUpperCase() ?? '');
    expect(url).toBe(`${baseUrl}/account/invitation?id=${id}`);
    const { browser, page } = await open(url, username ?? '');
    expect(page.body).toContain(`You are invited to join ${organization.name}.`);
    const start = await endOfLog(service);
    const done = await browser.submit(page, {});
    expect(done.body).toContain('You are a member now.');
    expect(done.body).toContain(organization.name);
    expect((await recordedSince(service, start)).map(({ type }) => type)).toEqual(joined);
    expect(await rolesOf(userId)).toMatchObject([{ organizationRoleId: role.id }]);
    const again = await browser.open(`/account/invitation?id=${id}`);
    expect(again.body).toContain('It was accepted or taken back, or has expired.');
  });

  test('is of no use to somebody else, who learns no address', async () => {
    const { id: userId, username } = await person();
    const { url } = await invite('whoever@example.com');
    const { browser, page } = await open(url, username ?? '');
    expect(page.body).toContain('The invitation is for another e-mail address.');
    expect(page.body).not.toContain('whoever@example.com');
    expect(page.body).toContain('/account/sign-out');
    const start = await endOfLog(service);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
    await browser.request(new URL(url).pathname + new URL(url).search, {
      method: 'POST',
      headers: { origin: new URL(baseUrl).origin },
      body: new URLSearchParams({ csrf }),
    });
    expect(await recordedSince(service, start)).toEqual([]);
    expect(await rolesOf(userId)).toEqual([]);
  });

  test('asks an address that nobody has verified to be confirmed first', async () => {
    const { username, primaryEmail } = await person({ isEmailVerified: false });
    const { url } = await invite(primaryEmail ?? '');
    const { page } = await open(url, username ?? '');
    expect(page.body).toContain('First confirm that the e-mail address is yours');
    expect(page.body).toContain('/account/email');
  });

  test('says so in German', async () => {
    const { username, primaryEmail } = await person();
    const { id } = await invite(primaryEmail ?? '');
    const { browser } = await open(`${baseUrl}/account`, username ?? '');
    const response = await browser.request(`/account/invitation?id=${id}`, {
      headers: { 'accept-language': 'de' },
    });
    expect(await response.text()).toContain(
      `Sie sind eingeladen, ${organization.name} beizutreten.`,
    );
  });
});

describe('acceptViewerInvitation', () => {
  test('makes the person a member, once', async () => {
    const { user, me } = await newPerson({ isEmailVerified: true });
    const { id } = await invite(user.primaryEmail ?? '');
    const start = await endOfLog(service);
    expect(await me.run('acceptViewerInvitation', { id })).toMatchObject({
      __typename: 'AcceptViewerInvitationPayload',
      viewer: { id: user.id },
    });
    expect((await recordedSince(service, start)).map(({ type }) => type)).toEqual(joined);
    expect(await me.run('acceptViewerInvitation', { id })).toMatchObject({
      __typename: 'NotAllowedError',
    });
    expect(await prisma.organizationInvitation.findUnique({ where: { id } })).toMatchObject({
      status: 'ACCEPTED',
      acceptedUserId: user.id,
    });
  });

  test('brings nobody back who was removed after it was made', async () => {
    const { user, me } = await newPerson({ isEmailVerified: true });
    const before = await invite(user.primaryEmail ?? '');
    const members = { organizationId: organization.id, userIds: [user.id] };
    const maker = await manager(service);
    await maker.done('addOrganizationUsers', members);
    service.clock.advance(1000);
    await maker.done('removeOrganizationUser', {
      organizationId: organization.id,
      userId: user.id,
    });
    const start = await endOfLog(service);
    expect(await me.run('acceptViewerInvitation', { id: before.id })).toMatchObject({
      __typename: 'NotAllowedError',
    });
    const { page } = await open(before.url, user.username ?? '');
    expect(page.body).toContain('It was accepted or taken back, or has expired.');
    expect(await recordedSince(service, start)).toEqual([]);
    // An administrator knows of the removal: by a new invitation, or by accepting it for them.
    await maker.done('updateOrganizationInvitationStatus', { id: before.id, status: 'REVOKED' });
    service.clock.advance(1000);
    const again = await invite(user.primaryEmail ?? '');
    expect(await me.run('acceptViewerInvitation', { id: again.id })).toMatchObject({
      __typename: 'AcceptViewerInvitationPayload',
    });
    expect(await rolesOf(user.id)).toHaveLength(1);
  });

  test('is refused for an address that is not verified, for another one, and when it is over', async () => {
    const { user, me } = await newPerson({ isEmailVerified: false });
    const { id } = await invite(user.primaryEmail ?? '');
    const other = await invite('somebody.else@example.com');
    const start = await endOfLog(service);
    const refused = { __typename: 'NotAllowedError' };
    expect(await me.run('acceptViewerInvitation', { id })).toMatchObject(refused);
    await prisma.user.update({ where: { id: user.id }, data: { isEmailVerified: true } });
    expect(await me.run('acceptViewerInvitation', { id: other.id })).toMatchObject(refused);
    expect(
      await me.run('acceptViewerInvitation', { id: newId('OrganizationInvitation') }),
    ).toMatchObject({ __typename: 'NotFoundError' });
    await prisma.organizationInvitation.update({ where: { id }, data: { expiresAt: now } });
    expect(await me.run('acceptViewerInvitation', { id })).toMatchObject(refused);
    expect(await recordedSince(service, start)).toEqual([]);
    expect(await rolesOf(user.id)).toEqual([]);
  });
});

describe('the message of an invitation', () => {
  test('goes to the invitee if asked for, with the link and the days it lasts', async () => {
    const server = await startMailServer();
    await useMailServer(admin, server);
    await invite('silent@example.com');
    const { url } = await invite('grace@example.com', { sendMessage: true });
    const [mail, ...others] = await server.arrived(1);
    expect(others).toEqual([]);
    expect(mail?.to).toEqual(['grace@example.com']);
    const text = mail?.mail.text ?? '';
    expect(mail?.mail.subject).toBe(`You are invited to join ${organization.name}`);
    expect(text).toContain(url);
    expect(text).toContain('The invitation expires in 7 days.');
    const [row, ...more] = await prisma.message.findMany({ where: { template: 'INVITATION' } });
    expect(more).toEqual([]);
    expect(row).toMatchObject({ recipient: 'grace@example.com', channel: 'EMAIL' });
  });

  test('is refused with the invitation where nothing can send it', async () => {
    await prisma.messageSender.deleteMany();
    const { services } = service.app;
    const { config } = services;
    // Without the outbox of the embedded set-up.
    const server = { ...config.database, kind: 'postgresql', url: '' } as never;
    const call = { ...testCall, actor: systemActor };
    const context = { ...services, ...call, config: { ...config, database: server } };
    const start = await endOfLog(service);
    const input = { organizationId: organization.id, invitee: 'nobody@example.com' };
    await expect(
      createOrganizationInvitation(context, { ...input, sendMessage: true }),
    ).rejects.toThrow(NotAllowedError);
    expect(await recordedSince(service, start)).toEqual([]);
    await createOrganizationInvitation(context, input);
  });
});
