import { createPurge, type Purge, purgeAll } from '../db/purge.ts';
import { purging } from '../scheduler.ts';
import type { Services } from '../services.ts';

// A browser that returns late still learns where to begin again.
const keptMs = 24 * 60 * 60 * 1000;

/** Deletes interactions that ended a day ago, with their verifications, and federations that have expired. */
const purgeInteractions = (services: Pick<Services, 'clock' | 'log'>): Purge =>
  purgeAll([
    createPurge(services, { table: 'Interaction', column: 'expiresAt', keptMs }),
    // Interactions delete their own federations. Those that people begin in their account have no interaction.
    createPurge(services, { table: 'Federation', column: 'expiresAt' }),
  ]);

/** The jobs of this part. */
export const jobs = purging('interactions', purgeInteractions);
