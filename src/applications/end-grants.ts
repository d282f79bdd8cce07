import type { Transaction } from '../db/transaction.ts';
import { maxAccessTokenTtlSeconds } from '../resources/operations.ts';
import type { Services } from '../services.ts';

/**
 * Ends everything issued to an application: codes, refresh tokens, access tokens, and what those were exchanged for.
 * Access tokens name their grant, so those that are being issued at this moment are invalid too.
 *
 * @param userId Only what was issued for this user; by default for all.
 */
export async function endGrantsOf(
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  applicationId: string,
  userId: string | null = null,
): Promise<void> {
  const now = clock.now().getTime();
  const expiresAt = new Date(now + maxAccessTokenTtlSeconds * 1000).toISOString();
  await tx.$executeRaw`
    WITH "ended" AS (
      DELETE FROM "OidcRecord"
       WHERE "clientId" = ${applicationId} AND (${userId}::text IS NULL OR "accountId" = ${userId})
      RETURNING "model", "id")
    INSERT INTO "RevokedToken" ("jti", "expiresAt")
    SELECT "id", ${expiresAt}::timestamptz FROM "ended" WHERE "model" = 'Grant'
    ON CONFLICT ("jti") DO UPDATE SET "expiresAt" = excluded."expiresAt"`;
}
