import type { Database } from '../db/database.ts';
import { folded } from '../db/sql.ts';
import { Prisma, type User } from '../generated/prisma/client.ts';
import { type Identifier, normalValue } from '../protection/identifier.ts';
import type { SignInExperience } from '../sign-in-experience/settings.ts';

/** Whether people can sign in with this kind of identifier. */
export const isOfferedFor = (
  { signInIdentifiers }: Pick<SignInExperience, 'signInIdentifiers'>,
  { type }: Pick<Identifier, 'type'>,
): boolean => signInIdentifiers.some((offered) => offered.toLowerCase() === type);

/**
 * Finds the user with an identifier, in one statement for every kind. Null if nobody has it, or if sign-in by that kind
 * of identifier is off. Suspended users are found too.
 */
export async function findUserByIdentifier(
  prisma: Pick<Database['prisma'], '$queryRaw'>,
  settings: Pick<SignInExperience, 'signInIdentifiers'>,
  identifier: Identifier,
): Promise<User | null> {
  const { type } = identifier;
  const normal = normalValue(identifier);
  // Identifiers hold no other characters, some of which PostgreSQL could not store as text.
  const value =
    isOfferedFor(settings, identifier) && /^[^\s\p{Cc}\p{Cs}]{1,320}$/u.test(normal) ? normal : '';
  // Uses the unique expression indexes. The value is already folded.
  const rows = {
    username: () =>
      prisma.$queryRaw<
        User[]
      >`SELECT * FROM "User" WHERE ${folded(Prisma.sql`"username"`)} = ${value}`,
    email: () =>
      prisma.$queryRaw<
        User[]
      >`SELECT * FROM "User" WHERE ${folded(Prisma.sql`"primaryEmail"`)} = ${value}`,
    phone: () => prisma.$queryRaw<User[]>`SELECT * FROM "User" WHERE "primaryPhone" = ${value}`,
  };
  const [user] = await rows[type]();
  return user ?? null;
}
