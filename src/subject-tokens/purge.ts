import { createPurge, type Purge, purgeAll } from '../db/purge.ts';
import { purging } from '../scheduler.ts';
import type { Services } from '../services.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/**
 * Deletes subject tokens and personal access tokens that expired longer ago than events are kept: until then they say
 * who acted as whom.
 */
export function purgeSubjectTokens(services: Pick<Services, 'clock' | 'config' | 'log'>): Purge {
  const keptMs = services.config.eventRetentionDays * dayMs;
  return purgeAll([
    createPurge(services, { table: 'SubjectToken', column: 'expiresAt', keptMs }),
    createPurge(services, { table: 'PersonalAccessToken', column: 'expiresAt', keptMs }),
  ]);
}

/** The jobs of this part. */
export const jobs = purging('subject-tokens', purgeSubjectTokens);
