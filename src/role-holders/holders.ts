import { lockRow, lockUser } from '../db/lock.ts';
import type { Transaction } from '../db/transaction.ts';
import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { NewEvent } from '../events/record.ts';
import type { RoleType } from '../generated/prisma/client.ts';

/** The two kinds of roles: their tables, and the words for them in inputs and descriptions. */
export const roleKinds = {
  roles: { table: 'Role', id: 'roleId', ids: 'roleIds', noun: 'role', article: 'a' },
  organizationRoles: {
    table: 'OrganizationRole',
    id: 'organizationRoleId',
    ids: 'organizationRoleIds',
    noun: 'organization role',
    article: 'an',
  },
} as const;

/** The columns that identify one holder. */
export type HolderKey<Column extends string> = Readonly<Record<Column, string>>;

/** One kind of what can have roles. */
export interface RoleHolder<Column extends string, Row> {
  /** As in the names of its mutations, such as `assign<name>Roles`; its join table is `<name>Role`. */
  readonly name: 'User' | 'Application' | 'OrganizationUser' | 'OrganizationApplication';
  readonly key: readonly Column[];
  readonly kind: keyof typeof roleKinds;
  /** The type of the roles that it can have. */
  readonly type: RoleType;
  /**
   * Locks a holder until the transaction ends, and reads it.
   *
   * @throws {NotFoundError} {@link NotAllowedError} when such a holder cannot have roles.
   */
  readonly lock: (tx: Transaction, key: HolderKey<Column>) => Promise<Row>;
  /** The event of roles that a holder has got and lost. */
  readonly event: (
    key: HolderKey<Column>,
    added: readonly string[],
    removed: readonly string[],
  ) => NewEvent;
}

const holder = <Column extends string, Row>(row: RoleHolder<Column, Row>) => row;

const memberRolesEvent = (
  key: {
    readonly organizationId: string;
    readonly userId?: string;
    readonly applicationId?: string;
  },
  addedOrganizationRoleIds: readonly string[],
  removedOrganizationRoleIds: readonly string[],
): NewEvent => ({
  type: 'Organization.MemberRoles.Updated',
  data: {
    organizationId: key.organizationId,
    userId: key.userId ?? null,
    applicationId: key.applicationId ?? null,
    addedOrganizationRoleIds,
    removedOrganizationRoleIds,
  },
});

/** A user, outside organizations. */
export const userHolder = holder({
  name: 'User',
  key: ['userId'],
  kind: 'roles',
  type: 'USER',
  lock: (tx, { userId }) => lockUser(tx, userId),
  event: ({ userId }, addedRoleIds, removedRoleIds) => ({
    type: 'User.Roles.Updated',
    data: { userId, addedRoleIds, removedRoleIds },
  }),
});

/** A machine-to-machine application, outside organizations. */
export const applicationHolder = holder({
  name: 'Application',
  key: ['applicationId'],
  kind: 'roles',
  type: 'MACHINE_TO_MACHINE',
  lock: async (tx, { applicationId: id }) => {
    await lockRow(tx, 'Application', id);
    const application = await tx.application.findUniqueOrThrow({ where: { id } });
    if (application.type === 'MACHINE_TO_MACHINE') return application;
    throw new NotAllowedError('Only machine-to-machine applications have roles of their own.');
  },
  event: ({ applicationId }, addedRoleIds, removedRoleIds) => ({
    type: 'Application.Roles.Updated',
    data: { applicationId, addedRoleIds, removedRoleIds },
  }),
});

// Every change of an organization's members locks its row, so a membership found here stays until the end. Only the
// deletion of the user or application itself bypasses that lock; then the foreign key refuses.

/** A user as a member of an organization. */
export const organizationUserHolder = holder({
  name: 'OrganizationUser',
  key: ['organizationId', 'userId'],
  kind: 'organizationRoles',
  type: 'USER',
  lock: async (tx, key) => {
    await lockRow(tx, 'Organization', key.organizationId);
    const where = { organizationId_userId: key };
    const member = await tx.organizationUser.findUnique({ where });
    if (!member) throw new NotFoundError(key.userId);
    return member;
  },
  event: memberRolesEvent,
});

/** An application as a member of an organization. */
export const organizationApplicationHolder = holder({
  name: 'OrganizationApplication',
  key: ['organizationId', 'applicationId'],
  kind: 'organizationRoles',
  type: 'MACHINE_TO_MACHINE',
  lock: async (tx, key) => {
    await lockRow(tx, 'Organization', key.organizationId);
    const where = { organizationId_applicationId: key };
    const member = await tx.organizationApplication.findUnique({ where });
    if (!member) throw new NotFoundError(key.applicationId);
    return member;
  },
  event: memberRolesEvent,
});
