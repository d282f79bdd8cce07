import type { Transaction } from '../db/transaction.ts';
import type { EventData } from '../events/catalogue/catalogue.ts';
import { type NewEvent, recordEvents } from '../events/record.ts';
import type { Context } from '../services.ts';

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
export async function deletePersonalAccessTokens(
  tx: Transaction,
  context: Context,
  userId: string,
): Promise<string[]> {
  const tokens = await tx.$queryRaw<{ id: string; name: string }[]>`
    WITH "deleted" AS (DELETE FROM "PersonalAccessToken" WHERE "userId" = ${userId} RETURNING "id", "name")
    SELECT "id", "name" FROM "deleted" ORDER BY "id"`;
  const removed = tokens.map((token) =>
    credentialEvent(userId, 'PERSONAL_ACCESS_TOKEN', 'REMOVED', token),
  );
  await recordEvents(tx, context, removed);
  return tokens.map(({ id }) => id);
}
