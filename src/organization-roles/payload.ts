import { type OrganizationScopeReference, recordOf } from '../events/catalogue/records.ts';
import type { RecordKind } from '../events/record.ts';
import type { OrganizationRole, OrganizationScope } from '../generated/prisma/client.ts';

/** An organization role as events show it. */
export const organizationRoleRecord = (role: OrganizationRole) =>
  recordOf('OrganizationRole', role);

/** An organization scope as events show it. */
export const organizationScopeRecord = (scope: OrganizationScope) =>
  recordOf('OrganizationScope', scope);

/** An organization scope as events about organization roles show it. */
export const organizationScopeReference = ({
  id,
  name,
}: OrganizationScope): OrganizationScopeReference => ({ id, name });

/** Organization roles, whose updates are events. */
export const organizationRoles: RecordKind<'OrganizationRole.Data.Updated', OrganizationRole> = {
  updated: 'OrganizationRole.Data.Updated',
  shown: organizationRoleRecord,
  write: (tx, id, data) => tx.organizationRole.update({ where: { id }, data }),
};

/** Organization scopes, whose updates are events. */
export const organizationScopes: RecordKind<'OrganizationScope.Data.Updated', OrganizationScope> = {
  updated: 'OrganizationScope.Data.Updated',
  shown: organizationScopeRecord,
  write: (tx, id, data) => tx.organizationScope.update({ where: { id }, data }),
};
