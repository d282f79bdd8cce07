import { endGrantsOf } from '../../applications/end-grants.ts';
import { lockRow } from '../../db/lock.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { NotFoundError } from '../../errors.ts';
import type { UserGrant } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import type { Context, Services } from '../../services.ts';
import { type Consent, type ConsentRequest, noResource } from './asked.ts';

/** Records that a person allows an application these scopes, beside those allowed before. Raises no event. */
export async function recordConsent(
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  { userId, application }: Pick<ConsentRequest, 'userId' | 'application'>,
  { scopes, resources }: Consent,
): Promise<void> {
  // One statement, which locks the row: of two concurrent consents the second adds to the first.
  const rows = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO "UserGrant" ("id", "userId", "applicationId", "createdAt")
    VALUES (${newId('UserGrant')}, ${userId}, ${application.id}, ${clock.now().toISOString()}::timestamptz)
    ON CONFLICT ("userId", "applicationId") DO UPDATE SET "userId" = excluded."userId"
    RETURNING "id"`;
  const allowed = [
    ...scopes.map((name) => ({ resource: noResource, name })),
    ...resources.flatMap(({ indicator, scopes: some }) =>
      some.map(({ name }) => ({ resource: indicator, name })),
    ),
  ];
  await tx.userGrantScope.createMany({
    data: rows.flatMap(({ id }) => allowed.map((scope) => ({ grantId: id, ...scope }))),
    skipDuplicates: true,
  });
}

/**
 * Takes back what a person has allowed an application: its codes, refresh tokens and access tokens for this person end
 * at once, and it has to ask again. Raises no event.
 *
 * @returns The grant as it last was.
 * @throws {NotFoundError} of the user, or of the grant if it is not the user's.
 */
export async function revokeGrant(
  context: Context,
  { userId, grantId }: { readonly userId: string; readonly grantId: string },
): Promise<UserGrant> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', userId);
    const grant = await tx.userGrant.findFirst({ where: { id: grantId, userId } });
    if (!grant) throw new NotFoundError(grantId);
    // First, so that a sign-in under way waits for it: see loadGrant.
    await tx.userGrant.delete({ where: { id: grantId } });
    await endGrantsOf(tx, context, grant.applicationId, userId);
    return grant;
  });
}

/** Whether a person still allows an application anything; waits for a revocation under way. */
export async function isStillAllowed(
  { database }: Pick<Services, 'database'>,
  { userId, application }: Pick<ConsentRequest, 'userId' | 'application'>,
): Promise<boolean> {
  const rows = await database.prisma.$queryRaw<unknown[]>`
    SELECT 1 FROM "UserGrant" WHERE "userId" = ${userId} AND "applicationId" = ${application.id} FOR KEY SHARE`;
  return rows.length > 0;
}
