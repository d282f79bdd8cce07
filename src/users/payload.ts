import { updateUserRow } from '../db/user-row.ts';
import { recordOf } from '../events/catalogue/records.ts';
import type { RecordKind } from '../events/record.ts';
import type { User } from '../generated/prisma/client.ts';

/** A user as events show it. */
export const userRecord = (user: User) =>
  recordOf('User', { ...user, hasPassword: user.passwordDigest !== null });

/** Users, whose updates are events. */
export const users: RecordKind<'User.Data.Updated', User> = {
  updated: 'User.Data.Updated',
  shown: userRecord,
  write: updateUserRow,
};

/** Users, when they are suspended or the suspension ends. */
export const suspensions: RecordKind<'User.SuspensionStatus.Updated', User> = {
  ...users,
  updated: 'User.SuspensionStatus.Updated',
};
