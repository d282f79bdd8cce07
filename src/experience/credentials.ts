import type { Services } from '../auth/context.ts';
import { needsRehash, rehashPassword, verifyPassword } from '../users/password.ts';

/** The longest password that is looked at: hashing takes time by length. */
const maxPasswordLength = 256;

/**
 * Finds the user who has that user name or e-mail address, whatever the case, and that password. Unknown, suspended
 * and wrong are the same null, in the same time.
 */
export async function findByCredentials(
  { database }: Pick<Services, 'database'>,
  identifier: string,
  password: string,
): Promise<{ id: string } | null> {
  const name = identifier.trim();
  // PostgreSQL's text cannot hold NUL, so no one has such a name.
  const isPossible = !name.includes('\0') && password.length <= maxPasswordLength;
  // A user name holds no "@" and an e-mail address does, so one index answers.
  const [user] = !isPossible
    ? []
    : name.includes('@')
      ? await database.prisma.$queryRaw<Found[]>`
          SELECT "id", "passwordDigest", "isSuspended" FROM "User"
           WHERE lower("primaryEmail") = lower(${name})`
      : await database.prisma.$queryRaw<Found[]>`
          SELECT "id", "passwordDigest", "isSuspended" FROM "User"
           WHERE lower("username") = lower(${name})`;
  const isRight = await verifyPassword(user?.passwordDigest ?? null, isPossible ? password : '');
  if (!user || !isRight || user.isSuspended) return null;
  const { id, passwordDigest } = user;
  // An imported digest is replaced at the first chance: the password is known at no other time.
  if (passwordDigest !== null && needsRehash(passwordDigest)) {
    await rehashPassword(database, { id, passwordDigest }, password);
  }
  return { id };
}

interface Found {
  readonly id: string;
  readonly passwordDigest: string | null;
  readonly isSuspended: boolean;
}
