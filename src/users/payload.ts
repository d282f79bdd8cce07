import type { UserRecord } from '../events/records.ts';
import type { User } from '../generated/prisma/client.ts';

/** A user as events show it. */
export const userRecord = (user: User): UserRecord => ({
  id: user.id,
  username: user.username,
  primaryEmail: user.primaryEmail,
  primaryPhone: user.primaryPhone,
  isEmailVerified: user.isEmailVerified,
  isPhoneVerified: user.isPhoneVerified,
  name: user.name,
  avatar: user.avatar,
  profile: user.profile,
  customData: user.customData,
  isSuspended: user.isSuspended,
  hasPassword: user.passwordDigest !== null,
  lastSignInAt: user.lastSignInAt?.toISOString() ?? null,
  createdAt: user.createdAt.toISOString(),
  updatedAt: user.updatedAt.toISOString(),
});
