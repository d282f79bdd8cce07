import { seedDirectory } from '../support/operations/directory.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import type { TestService } from '../support/service.ts';

const expiresAt = '2100-01-01T00:00:00.000Z';

/**
 * Creates one record of each kind that the management API shows, related wherever records can be.
 *
 * @returns The id of a message: no list has those.
 */
export async function createOneOfEach(service: TestService): Promise<string> {
  const make = createMaker(overGraphQL(service, await service.managementToken()));
  const { done } = make;
  const seed = seedDirectory(service.app.services.database, service.clock);

  const scopeIds = [await make.scope()];
  const roleId = await make.role({ scopeIds });
  const machineRole = await make.role({ scopeIds, type: 'MACHINE_TO_MACHINE' });

  const applicationId = await make.application();
  await done('createApplicationSecret', { applicationId, name: 'Second' });
  await done('assignApplicationRoles', { applicationId, roleIds: [machineRole] });
  await make.trustedIssuer({ applicationId });
  await make.crossAppConnection({ applicationId });
  await done('createRegistrationToken', { expiresAt });

  const userId = await make.user();
  const identityProviderId = await make.identityProvider({ kind: 'ENTERPRISE' });
  await done('assignUserRoles', { userId, roleIds: [roleId] });
  await done('createPersonalAccessToken', { userId, name: 'Build', expiresAt });
  await done('createSubjectToken', { userId, reason: 'A ticket' });
  await seed.createSession(userId);
  await seed.createFactor(userId);
  await seed.createIdentity(userId, identityProviderId);
  await seed.createGrant(userId, applicationId);

  const organizationScopeId = await make.organizationScope();
  const machines = await make.organizationRole({ type: 'MACHINE_TO_MACHINE' });
  const organizationRoleId = await make.organizationRole({
    organizationScopeIds: [organizationScopeId],
  });
  await done('addOrganizationRoleResourceScopes', { organizationRoleId, scopeIds });
  await make.invitation();
  const organizationId = await make.organization();
  await done('addOrganizationUsers', { organizationId, userIds: [userId] });
  await done('addOrganizationApplications', { organizationId, applicationIds: [applicationId] });
  await done('assignOrganizationUserRoles', {
    organizationId,
    userId,
    organizationRoleIds: [organizationRoleId],
  });
  await done('assignOrganizationApplicationRoles', {
    organizationId,
    applicationId,
    organizationRoleIds: [machines],
  });
  await done('addOrganizationEmailDomain', { organizationId, domain: 'acme.example.com' });
  await done('addOrganizationIdentityProvider', { organizationId, identityProviderId });
  await done('replaceOrganizationJitRoles', {
    organizationId,
    organizationRoleIds: [organizationRoleId],
  });

  const id = await make.webhook();
  await done('testWebhook', { id });
  const test = { channel: 'EMAIL', recipient: 'ada@example.com' };
  return (await done('sendTestMessage', test)).testMessage.id;
}
