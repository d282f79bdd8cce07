import type { Transaction } from '../db/transaction.ts';
import type { Services } from '../services.ts';

const batchSize = 1_000;

/**
 * Deletes enrolments of authenticator apps that nobody has confirmed in time.
 *
 * @returns Whether there may be more.
 */
export async function purgeEnrollments(
  { clock }: Pick<Services, 'clock'>,
  tx: Transaction,
): Promise<boolean> {
  const deleted = await tx.$executeRaw`
    DELETE FROM "TotpEnrollment" WHERE "holder" = ANY (ARRAY(
      SELECT "holder" FROM "TotpEnrollment" WHERE "expiresAt" <= ${clock.now()}::timestamptz LIMIT ${batchSize}))`;
  return deleted === batchSize;
}
