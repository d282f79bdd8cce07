import { endGrantsOf } from '../../applications/end-grants.ts';
import { lockRow } from '../../db/lock.ts';
import { type Told, untold } from '../../db/told.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { NotFoundError } from '../../errors.ts';
import { type NewEvent, recordEvent, recordEvents } from '../../events/record.ts';
import type { Prisma, UserGrant, UserGrantScope } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import type { Context, Services } from '../../services.ts';
import { endPersonalAccessTokens, revokeIssuedFor } from '../../users/credentials.ts';
import { type Consent, type ConsentRequest, noResource } from './asked.ts';

/**
 * Records that a person allows an application these scopes, beside those allowed before. Raises `User.Grant.Created` with
 * the scopes that were not.
 */
export async function recordConsent(
  tx: Transaction,
  context: Context,
  { userId, application }: Pick<ConsentRequest, 'userId' | 'application'>,
  { scopes, resources }: Consent,
): Promise<Told<void>> {
  // One statement, which locks the row: of two concurrent consents the second adds to the first.
  const [grant] = await tx.$queryRaw<{ id: string; isNew: boolean }[]>`
    INSERT INTO "UserGrant" ("id", "userId", "applicationId", "createdAt")
    VALUES (${newId('UserGrant')}, ${userId}, ${application.id}, ${context.clock.now().toISOString()}::timestamptz)
    ON CONFLICT ("userId", "applicationId") DO UPDATE SET "userId" = excluded."userId"
    RETURNING "id", "xmax" = 0 AS "isNew"`;
  if (!grant) throw new Error('An upsert gave no row.');
  const allowed = [
    ...scopes.map((name) => ({ resource: noResource, name })),
    ...resources.flatMap(({ indicator, scopes: some }) =>
      some.map(({ name }) => ({ resource: indicator, name })),
    ),
  ];
  const added = await tx.userGrantScope.createManyAndReturn({
    data: allowed.map((scope) => ({ grantId: grant.id, ...scope })),
    skipDuplicates: true,
  });
  if (added.length === 0 && !grant.isNew) return untold(undefined);
  return recordEvent(tx, context, 'User.Grant.Created', {
    userId,
    grantId: grant.id,
    applicationId: application.id,
    scopes: namesOfGrant(added),
  });
}

/**
 * Takes back what a person has allowed an application: its codes, refresh tokens and access tokens for this person end
 * at once, and it has to ask again. Raises `User.Grant.Revoked`, and `User.Credential.Updated` for each personal access
 * token that it created by virtue of it.
 *
 * @returns The grant in its last state.
 * @throws {NotFoundError} of the user, or of the grant if it is not the user's.
 */
export async function revokeGrant(
  context: Context,
  { userId, grantId }: { readonly userId: string; readonly grantId: string },
): Promise<UserGrant> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'User', userId);
    const found = await tx.userGrant.findFirst({
      where: { id: grantId, userId },
      include: { scopes: { orderBy: inOrder } },
    });
    if (!found) throw new NotFoundError(grantId);
    const { scopes, ...grant } = found;
    await lockRow(tx, 'UserGrant', grantId);
    await endPersonalAccessTokens(tx, context, { grantId });
    // Before what the application has, so that a sign-in under way waits for it: see loadGrant.
    await tx.userGrant.delete({ where: { id: grantId } });
    await endGrantsOf(tx, context, grant.applicationId, userId);
    await revokeIssuedFor(tx, context, [grantId]);
    const told = await recordEvent(tx, context, 'User.Grant.Revoked', {
      userId,
      grantId,
      applicationId: grant.applicationId,
      scopes: namesOfGrant(scopes),
    });
    return told.with(grant);
  });
}

/**
 * Takes back what everybody has allowed an application, which must be locked. Raises `User.Grant.Revoked` for each of
 * them, and `User.Credential.Updated` as {@link revokeGrant}.
 */
export async function revokeGrantsOf(
  tx: Transaction,
  context: Context,
  applicationId: string,
): Promise<Told<void>> {
  const grants = await tx.userGrant.findMany({
    where: { applicationId },
    include: { scopes: { orderBy: inOrder } },
    orderBy: { id: 'asc' },
  });
  await endPersonalAccessTokens(tx, context, { grant: { applicationId } });
  const ids = grants.map(({ id }) => id);
  await tx.userGrant.deleteMany({ where: { id: { in: ids } } });
  await endGrantsOf(tx, context, applicationId);
  await revokeIssuedFor(tx, context, ids);
  if (grants.length === 0) return untold(undefined);
  return recordEvents(
    tx,
    context,
    grants.map(
      ({ id: grantId, userId, scopes }): NewEvent => ({
        type: 'User.Grant.Revoked',
        data: { userId, grantId, applicationId, scopes: namesOfGrant(scopes) },
      }),
    ),
  );
}

/** The order of a grant's scopes: those of OpenID Connect first. */
export const inOrder = [
  { resource: 'asc' },
  { name: 'asc' },
] satisfies Prisma.UserGrantScopeOrderByWithRelationInput[];

/** The names of allowed scopes. Two resources may have scopes of one name. */
export const namesOfGrant = (scopes: readonly Pick<UserGrantScope, 'name'>[]): string[] => [
  ...new Set(scopes.map(({ name }) => name)),
];

/** Whether a person still allows an application anything; waits for a revocation under way. */
export async function isStillAllowed(
  { database }: Pick<Services, 'database'>,
  { userId, application }: Pick<ConsentRequest, 'userId' | 'application'>,
): Promise<boolean> {
  const rows = await database.prisma.$queryRaw<unknown[]>`
    SELECT 1 FROM "UserGrant" WHERE "userId" = ${userId} AND "applicationId" = ${application.id} FOR KEY SHARE`;
  return rows.length > 0;
}
