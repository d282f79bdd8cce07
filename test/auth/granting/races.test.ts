import { expect, test } from 'vitest';
import { managementIndicator } from '../../../src/auth/scopes.ts';
import {
  byPassword,
  byToken,
  everyScope,
  password,
  startAttack,
  upTo,
} from '../../support/granting/attacker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { openConsole } from '../../support/people/console.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { exchange } from '../../support/tokens.ts';

// Rights are given on one node while they are opened on the other.
const service = await startService();
const node = await startSecondNode(service);
const attack = await startAttack(service);
const { make, next, done, setUp, promote, empower, rightsBy, rightsIn, rightsOf } = attack;
const there = overGraphQL(node, await service.managementToken());
const rounds = Array.from({ length: 6 }, (_, i) => i);
const role = await attack.role();

const expectAtMost = (scopes: readonly string[], scope: string) =>
  expect(upTo(scope)).toEqual(expect.arrayContaining([...scopes]));

test('a one-time token is redeemed while its owner gets rights', async () => {
  for (const _ of rounds) {
    const email = `${next('owner')}@example.com`;
    const userId = await make.user({ primaryEmail: email, isEmailVerified: true });
    const { token } = await setUp('users:write', 'createOneTimeToken', { email });
    const browser = openConsole(service);
    await Promise.all([
      rightsIn(browser, byToken(email, token)),
      there('assignUserRoles', { userId, roleIds: [role] }),
    ]);
    expectAtMost((await rightsIn(browser)).scopes, 'users:write');
  }
});

test('a password is set while its owner gets rights', async () => {
  for (const _ of rounds) {
    const username = next('owner');
    const userId = await make.user({ username });
    await Promise.all([
      setUp('users:write', 'updateUserPassword', { id: userId, password }).catch(() => undefined),
      there('assignUserRoles', { userId, roleIds: [role] }),
    ]);
    expectAtMost(await rightsBy(byPassword(username)), 'users:write');
  }
});

test('a role is given while it gets scopes', async () => {
  for (const _ of rounds) {
    const username = next('friend');
    const userId = await make.user({ username, password });
    const roleId = await make.role();
    await Promise.all([
      setUp('users:write', 'assignUserRoles', { userId, roleIds: [roleId] }).catch(() => undefined),
      there('addRoleScopes', { roleId, scopeIds: attack.scopeIds }),
    ]);
    expectAtMost(await rightsBy(byPassword(username)), 'users:write');
  }
});

test('an application gets a secret while it gets rights', async () => {
  for (const _ of rounds) {
    const applicationId = await make.application();
    const roleIds = [await attack.role({ type: 'MACHINE_TO_MACHINE' })];
    const [made] = await Promise.all([
      setUp('applications:write', 'createApplicationSecret', { applicationId, name: 'mine' }).catch(
        () => undefined,
      ),
      there('assignApplicationRoles', { applicationId, roleIds }),
    ]);
    if (made) {
      const rights = await rightsOf({ id: applicationId, secret: made.secret });
      expectAtMost(rights, 'applications:write');
    }
  }
});

test('a role is taken and given back by somebody with less', async () => {
  const username = next('friend');
  const userId = await make.user({ username, password });
  const roleId = await make.role();
  await done('assignUserRoles', { userId, roleIds: [roleId] });
  await setUp('users:write', 'removeUserRole', { userId, roleId });
  await setUp('users:write', 'assignUserRoles', { userId, roleIds: [roleId] });
  await empower(roleId);
  expect(await rightsBy(byPassword(username))).toEqual(upTo('users:write'));
});

test('a token that acts for a user reaches none of Signet’s own APIs once they have rights', async () => {
  const gateway = await attack.directory.createClient({
    allowTokenExchange: true,
    allowImpersonation: true,
    allowPersonalAccessTokens: true,
    exchangeResources: [managementIndicator],
  });
  const userId = await make.user();
  const { token: subject } = await setUp('users:write', 'createSubjectToken', {
    userId,
    reason: 'Ticket 7',
  });
  const { token: personal } = await setUp('users:write', 'createPersonalAccessToken', {
    userId,
    name: 'mine',
    expiresAt: new Date(service.clock.now().getTime() + 86_400_000).toISOString(),
  });
  await promote(userId);
  for (const [type, token] of [
    ['subject_token', subject],
    ['personal_access_token', personal],
  ]) {
    const { body } = await exchange(node, gateway, {
      subject_token: token,
      subject_token_type: `urn:signet:params:oauth:token-type:${type}`,
      resource: managementIndicator,
      scope: everyScope,
    });
    expect(body).toMatchObject({ error: 'invalid_target' });
  }
});

test('roles of an organization and global ones are each bounded by who gave them', async () => {
  const username = next('member');
  const userId = await make.user({ username, password });
  const [organizationId, mine] = [await make.organization(), await make.organizationRole()];
  await done('addOrganizationUsers', { organizationId, userIds: [userId] });
  const organizationRoleIds = [mine];
  await setUp('organizations:write', 'assignOrganizationUserRoles', {
    ...{ organizationId, userId, organizationRoleIds },
  });
  const global = await make.role();
  await setUp('users:write', 'assignUserRoles', { userId, roleIds: [global] });
  await attack.empowerInOrganizations(mine);
  await empower(global);
  expect(await rightsBy(byPassword(username))).toEqual(upTo('organizations:write users:write'));
});
