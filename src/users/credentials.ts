import type { Transaction } from '../db/transaction.ts';
import type { EventData } from '../events/catalogue/catalogue.ts';
import { type NewEvent, type Origin, recordEvents } from '../events/record.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { maxAccessTokenTtlSeconds } from '../resources/operations.ts';
import type { Services } from '../services.ts';

type Data = EventData<'User.Credential.Updated'>;

/** A change of what a user signs in with, as an event. Only a password has no id. */
export const credentialEvent = (
  userId: string,
  credential: Data['credential'],
  change: Data['change'],
  { id, name }: { readonly id: string | null; readonly name: string | null } = passwordItself,
): NewEvent => ({
  type: 'User.Credential.Updated',
  data: { userId, credential, credentialId: id, change, name },
});

const passwordItself = { id: null, name: null };

/**
 * Deletes all personal access tokens of a user, who must be locked. Raises `User.Credential.Updated` for each.
 *
 * @returns Their ids.
 */
export const deletePersonalAccessTokens = (
  tx: Transaction,
  context: Origin,
  userId: string,
): Promise<string[]> => deleteThose(tx, context, Prisma.sql`"userId" = ${userId}`);

/**
 * Deletes personal access tokens, whoever's, that third-party applications created, and ends what was issued for them.
 * Call it before the consent or the application is deleted that they end with, with its row, or that of the consent's
 * user or application, locked. Raises `User.Credential.Updated` for each.
 */
export async function endPersonalAccessTokens(
  tx: Transaction,
  context: Origin,
  where: Prisma.PersonalAccessTokenWhereInput,
): Promise<void> {
  const tokens = await tx.personalAccessToken.findMany({ where, select: { id: true } });
  if (tokens.length === 0) return;
  const those = Prisma.sql`"id" = ANY (${tokens.map(({ id }) => id)}::text[])`;
  await revokeIssuedFor(tx, context, await deleteThose(tx, context, those));
}

/** Ends the access tokens that were issued by virtue of something else than a grant: they name it in their lineage. */
export const revokeIssuedFor = (
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  ids: readonly string[],
): Promise<unknown> =>
  tx.revokedToken.createMany({
    data: ids.map((jti) => ({
      jti,
      expiresAt: new Date(clock.now().getTime() + maxAccessTokenTtlSeconds * 1000),
    })),
    skipDuplicates: true,
  });

async function deleteThose(tx: Transaction, context: Origin, those: Prisma.Sql): Promise<string[]> {
  const tokens = await tx.$queryRaw<{ id: string; userId: string; name: string }[]>`
    WITH "deleted" AS (DELETE FROM "PersonalAccessToken" WHERE ${those} RETURNING "id", "userId", "name")
    SELECT "id", "userId", "name" FROM "deleted" ORDER BY "id"`;
  const removed = tokens.map(({ userId, ...token }) =>
    credentialEvent(userId, 'PERSONAL_ACCESS_TOKEN', 'REMOVED', token),
  );
  await recordEvents(tx, context, removed);
  return tokens.map(({ id }) => id);
}
