import type { RoleRecord } from '../events/records.ts';
import type { Role } from '../generated/prisma/client.ts';

/** A role as events show it. */
export const roleRecord = (role: Role): RoleRecord => ({
  id: role.id,
  name: role.name,
  description: role.description,
  type: role.type,
  isDefault: role.isDefault,
  createdAt: role.createdAt.toISOString(),
  updatedAt: role.updatedAt.toISOString(),
});
