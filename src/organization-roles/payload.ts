import type {
  OrganizationRoleRecord,
  OrganizationScopeRecord,
  OrganizationScopeReference,
} from '../events/records.ts';
import type { OrganizationRole, OrganizationScope } from '../generated/prisma/client.ts';

/** An organization role as events show it. */
export const organizationRoleRecord = (role: OrganizationRole): OrganizationRoleRecord => ({
  id: role.id,
  name: role.name,
  description: role.description,
  type: role.type,
  createdAt: role.createdAt.toISOString(),
  updatedAt: role.updatedAt.toISOString(),
});

/** An organization scope as events show it. */
export const organizationScopeRecord = (scope: OrganizationScope): OrganizationScopeRecord => ({
  id: scope.id,
  name: scope.name,
  description: scope.description,
  createdAt: scope.createdAt.toISOString(),
  updatedAt: scope.updatedAt.toISOString(),
});

/** An organization scope as events about organization roles show it. */
export const organizationScopeReference = ({
  id,
  name,
}: OrganizationScope): OrganizationScopeReference => ({ id, name });
