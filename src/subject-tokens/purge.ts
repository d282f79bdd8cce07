import type { Transaction } from '../db/transaction.ts';
import type { Services } from '../services.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const batchSize = 1_000;

/**
 * Deletes subject tokens and personal access tokens that expired longer ago than events are kept: until then they say
 * who acted as whom.
 *
 * @returns Whether there may be more.
 */
export async function purgeSubjectTokens(
  { clock, config }: Pick<Services, 'clock' | 'config'>,
  tx: Transaction,
): Promise<boolean> {
  const before = new Date(clock.now().getTime() - config.eventRetentionDays * dayMs);
  const subjectTokens = await tx.$executeRaw`
    DELETE FROM "SubjectToken" WHERE "id" = ANY (ARRAY(
      SELECT "id" FROM "SubjectToken" WHERE "expiresAt" <= ${before}::timestamptz LIMIT ${batchSize}))`;
  const personalAccessTokens = await tx.$executeRaw`
    DELETE FROM "PersonalAccessToken" WHERE "id" = ANY (ARRAY(
      SELECT "id" FROM "PersonalAccessToken" WHERE "expiresAt" <= ${before}::timestamptz LIMIT ${batchSize}))`;
  return subjectTokens === batchSize || personalAccessTokens === batchSize;
}
