import { createPurge, type Purge, purgeAll } from '../db/purge.ts';
import { purging } from '../scheduler.ts';
import type { Services } from '../services.ts';

/** Deletes enrolments of authenticator apps and challenges of passkeys that were not answered in time. */
const purgeEnrollments = (services: Pick<Services, 'clock' | 'log'>): Purge =>
  purgeAll([
    createPurge(services, { table: 'TotpEnrollment', column: 'expiresAt' }),
    createPurge(services, { table: 'PasskeyChallenge', column: 'expiresAt' }),
  ]);

/** The jobs of this part. */
export const jobs = purging('enrollments', purgeEnrollments);
