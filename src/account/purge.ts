import type { Transaction } from '../db/transaction.ts';
import type { Services } from '../services.ts';
import { proofTtlSeconds } from './operations/proof.ts';

const batchSize = 1_000;

/**
 * Deletes proofs and codes that are of no use any more.
 *
 * @returns Whether there may be more.
 */
export async function purgeProofs(
  { clock }: Pick<Services, 'clock'>,
  tx: Transaction,
): Promise<boolean> {
  const before = new Date(clock.now().getTime() - proofTtlSeconds * 1000);
  const proofs = await tx.$executeRaw`
    DELETE FROM "ViewerProof" WHERE "session" = ANY (ARRAY(
      SELECT "session" FROM "ViewerProof" WHERE "provedAt" <= ${before}::timestamptz LIMIT ${batchSize}))`;
  // A verified address can be used for as long as a proof counts.
  const codes = await tx.$executeRaw`
    DELETE FROM "ViewerCode" WHERE "id" = ANY (ARRAY(
      SELECT "id" FROM "ViewerCode" WHERE "expiresAt" <= ${before}::timestamptz LIMIT ${batchSize}))`;
  return proofs === batchSize || codes === batchSize;
}
