import { createPurge, type Purge, purgeAll } from '../db/purge.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { purging } from '../scheduler.ts';
import type { Services } from '../services.ts';
import { proofTtlSeconds } from './operations/proof.ts';

const keptMs = proofTtlSeconds * 1000;

/** Deletes proofs and codes that have expired. */
export const purgeProofs = (services: Pick<Services, 'clock' | 'log'>): Purge =>
  purgeAll([
    createPurge(services, { table: 'ViewerProof', column: 'provedAt', keptMs }),
    // Those of an interaction are deleted with it.
    createPurge(services, {
      table: 'Verification',
      column: 'expiresAt',
      keptMs,
      where: Prisma.sql`r."session" IS NOT NULL`,
    }),
    createPurge(services, { table: 'ViewerCode', column: 'expiresAt', keptMs }),
  ]);

/** The jobs of this part. */
export const jobs = purging('proofs', purgeProofs);
