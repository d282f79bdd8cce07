import { Prisma } from '../../generated/prisma/client.ts';
import { mailAddress, readDomain } from '../../text/address.ts';
import type { Database } from '../database.ts';
import { brokenConstraint, quietTransaction } from '../transaction.ts';

const readers = [
  ['User', 'primaryEmail', mailAddress],
  ['OrganizationInvitation', 'invitee', mailAddress],
  ['OneTimeToken', 'email', mailAddress],
  ['OrganizationEmailDomain', 'domain', readDomain],
  ['IdentityProviderEmailDomain', 'domain', readDomain],
] as const;

/**
 * Gives the domains that a node of a version before has written in their ASCII form the spelling in which they are
 * found. No event tells of it: they are the same addresses.
 *
 * @returns Those that stay as they are, because a row has the other spelling already.
 */
export async function spellDomains(
  database: Pick<Database, 'prisma' | 'hints' | 'lend'>,
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const [tableName, columnName, read] of readers) {
    const [table, column] = [Prisma.raw(`"${tableName}"`), Prisma.raw(`"${columnName}"`)];
    const found = await database.prisma.$queryRaw<{ written: string }[]>`
      SELECT DISTINCT ${column} AS "written" FROM ${table} WHERE ${column} ILIKE '%xn--%'`;
    for (const { written } of found) {
      const spelled = read(written);
      if (spelled === null || spelled === written) continue;
      try {
        await quietTransaction(
          database,
          (tx) => tx.$executeRaw`
            UPDATE ${table} SET ${column} = ${spelled} WHERE ${column} = ${written}`,
        );
      } catch (error) {
        if (brokenConstraint(error) === undefined) throw error;
        left.push(written);
      }
    }
  }
  return left;
}
