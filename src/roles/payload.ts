import { recordOf } from '../events/catalogue/records.ts';
import type { RecordKind } from '../events/record.ts';
import type { Role } from '../generated/prisma/client.ts';

/** A role as events show it. */
export const roleRecord = (role: Role) => recordOf('Role', role);

/** Roles, whose updates are events. */
export const roles: RecordKind<'Role.Data.Updated', Role> = {
  updated: 'Role.Data.Updated',
  shown: roleRecord,
  write: (tx, id, data) => tx.role.update({ where: { id }, data }),
};
