import { describe, expect, test } from 'vitest';
import {
  byCode,
  byPassword,
  password,
  type Steps,
  startAttack,
  upTo,
} from '../../support/granting/attacker.ts';
import { laterOperations } from '../../support/granting/later.ts';
import { startOpenIdProvider } from '../../support/peers/openid-provider.ts';
import { step } from '../../support/people/experience.ts';
import { allowPrivate, passThrough } from '../../support/people/federation.ts';
import { codeTo } from '../../support/people/messages.ts';
import { startService } from '../../support/service.ts';

const service = await startService(allowPrivate);
const provider = await startOpenIdProvider(service.clock);
const attack = await startAttack(service);
const { make, next, done, setUp, rightsBy, rightsOf, signedIn, rightsIn, m2m } = attack;
const { empowerInOrganizations } = attack;

await done('updateSignInExperience', { signUpIdentifiers: ['EMAIL'] });

const domainName = () => `${next('d').replace('_', '-')}.example.com`;

/** Registers with an address that a code proves. */
const registering =
  (email: string): Steps =>
  async (send) => {
    const sent = await step(send, 'sendCode', { purpose: 'REGISTER', email });
    const verificationId = sent['verification'].id;
    await step(send, 'verifyCode', { verificationId, code: await codeTo(service, email) });
    return step(send, 'register', { password });
  };

describe.each(['organizations:write', 'all'] as const)('by %s', (scope) => {
  test.each(['assignOrganizationUserRoles', 'replaceOrganizationUserRoles'])(
    '%s gives a member no more',
    async (operation) => {
      const username = next('member');
      const [organizationId, userId] = [
        await make.organization(),
        await make.user({ username, password }),
      ];
      await done('addOrganizationUsers', { organizationId, userIds: [userId] });
      const organizationRoleIds = [await make.organizationRole()];
      await setUp(scope, operation, { organizationId, userId, organizationRoleIds });
      await empowerInOrganizations(organizationRoleIds[0] ?? '');
      expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
      await done(operation, { organizationId, userId, organizationRoleIds });
      expect(await rightsBy(byPassword(username))).toEqual(upTo('all'));
    },
  );

  test.each(['assignOrganizationApplicationRoles', 'replaceOrganizationApplicationRoles'])(
    '%s gives an application no more',
    async (operation) => {
      const organizationId = await make.organization();
      const client = await attack.directory.createClient();
      const applicationId = client.id;
      await done('addOrganizationApplications', {
        organizationId,
        applicationIds: [applicationId],
      });
      const organizationRoleIds = [await make.organizationRole(m2m)];
      await setUp(scope, operation, { organizationId, applicationId, organizationRoleIds });
      await empowerInOrganizations(organizationRoleIds[0] ?? '');
      expect(await rightsOf(client)).toEqual(upTo(scope));
      await done(operation, { organizationId, applicationId, organizationRoleIds });
      expect(await rightsOf(client)).toEqual(upTo('all'));
    },
  );

  test('an invitation gives no more, whoever accepts it', async () => {
    const [organizationId, role] = [await make.organization(), await make.organizationRole()];
    const invitee = `${next('invitee')}@example.com`;
    const { organizationInvitation } = await setUp(scope, 'createOrganizationInvitation', {
      organizationId,
      invitee,
      organizationRoleIds: [role],
    });
    await empowerInOrganizations(role);
    const username = next('invited');
    const acceptedUserId = await make.user({ username, password, primaryEmail: invitee });
    await done('updateOrganizationInvitationStatus', {
      id: organizationInvitation.id,
      status: 'ACCEPTED',
      acceptedUserId,
    });
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
  });

  test('an invitation of an administrator that it accepts gives no more', async () => {
    const [role, invitee] = [await make.organizationRole(), `${next('invitee')}@example.com`];
    const id = await make.invitation({ invitee, organizationRoleIds: [role] });
    const username = next('invited');
    const acceptedUserId = await make.user({ username, password, primaryEmail: invitee });
    const input = { id, status: 'ACCEPTED', acceptedUserId };
    await setUp(scope, 'updateOrganizationInvitationStatus', input);
    await empowerInOrganizations(role);
    expect(await rightsBy(byPassword(username))).toEqual(upTo(scope));
  });

  test('an e-mail domain gives those who join no more', async () => {
    const [organizationId, domain, role] = [
      await make.organization(),
      domainName(),
      await make.organizationRole({ scopeIds: [] }),
    ];
    await setUp(scope, 'addOrganizationEmailDomain', { organizationId, domain });
    await done('replaceOrganizationJitRoles', { organizationId, organizationRoleIds: [role] });
    const early = await signedIn(registering(`early@${domain}`));
    await empowerInOrganizations(role);
    const late = await signedIn(registering(`late@${domain}`));
    for (const browser of [early, late])
      expect((await rightsIn(browser)).scopes).toEqual(upTo(scope));
    await done('removeOrganizationEmailDomain', { organizationId, domain });
    await done('addOrganizationEmailDomain', { organizationId, domain });
    expect(await rightsBy(registering(`renewed@${domain}`))).toEqual(upTo('all'));
  });

  test('roles given just in time are no more', async () => {
    const [organizationId, domain, role] = [
      await make.organization(),
      domainName(),
      await make.organizationRole(),
    ];
    const organizationRoleIds = [role];
    await setUp(scope, 'replaceOrganizationJitRoles', { organizationId, organizationRoleIds });
    await done('addOrganizationEmailDomain', { organizationId, domain });
    const early = await signedIn(registering(`early@${domain}`));
    await empowerInOrganizations(role);
    const late = await signedIn(registering(`late@${domain}`));
    for (const browser of [early, late])
      expect((await rightsIn(browser)).scopes).toEqual(upTo(scope));
    await done('replaceOrganizationJitRoles', { organizationId, organizationRoleIds });
    expect(await rightsBy(registering(`renewed@${domain}`))).toEqual(upTo('all'));
    const again = byCode({ email: `early@${domain}` }, () => codeTo(service, `early@${domain}`));
    expect(await rightsBy(again)).toEqual(upTo(scope));
  });
});

test.each(['organizations:write experience:read', 'all'])(
  'an identity provider added by %s gives those who join no more',
  async (scope) => {
    const [organizationId, role] = [await make.organization(), await make.organizationRole()];
    const { issuer, clientId, clientSecret } = provider;
    const domain = domainName();
    const { identityProvider } = await done('createIdentityProvider', {
      ...{ name: next('company'), kind: 'ENTERPRISE', emailDomains: [domain] },
      ...{ issuer, clientId, clientSecret },
    });
    const identityProviderId = identityProvider.id;
    await setUp(scope, 'addOrganizationIdentityProvider', { organizationId, identityProviderId });
    await done('replaceOrganizationJitRoles', { organizationId, organizationRoleIds: [role] });
    await empowerInOrganizations(role);
    const rights = await rightsBy(async (send, browser) => {
      const email = `colleague@${domain}`;
      const { url } = await step(send, 'startFederation', { email });
      provider.expect(next('subject'), { email, email_verified: true });
      return browser.open(await passThrough(url));
    });
    expect(rights).toEqual(upTo(scope));
    await done('deleteIdentityProvider', { id: identityProviderId });
  },
);

test.each(['organizations:write experience:read', 'all'])(
  'an identity provider that %s adds lets nobody in with more while the sign-up is closed',
  async (scope) => {
    const { issuer, clientId, clientSecret } = provider;
    const domain = domainName();
    const { identityProvider } = await done('createIdentityProvider', {
      ...{ name: next('company'), kind: 'ENTERPRISE', emailDomains: [domain] },
      ...{ issuer, clientId, clientSecret },
    });
    const identityProviderId = identityProvider.id;
    const add = async () => ({ organizationId: await make.organization(), identityProviderId });
    await done('updateSignInExperience', { signUpEnabled: false });
    await setUp(scope, 'addOrganizationIdentityProvider', await add());
    const roleId = await make.role({ isDefault: true });
    await attack.empower(roleId);
    const arriving =
      (email: string): Steps =>
      async (send, browser) => {
        const { url } = await step(send, 'startFederation', { email });
        provider.expect(next('subject'), { email, email_verified: true });
        return browser.open(await passThrough(url));
      };
    expect(await rightsBy(arriving(`colleague@${domain}`))).toEqual(upTo(scope));
    // An administrator lets them in too.
    await done('addOrganizationIdentityProvider', await add());
    expect(await rightsBy(arriving(`other@${domain}`))).toEqual(upTo('all'));
    await done('deleteRole', { id: roleId });
    await done('deleteIdentityProvider', { id: identityProviderId });
    await done('updateSignInExperience', { signUpEnabled: null });
  },
);

test('every later field of organizations is attacked', () => {
  expect(attack.missing(laterOperations.organizations)).toEqual([]);
});
