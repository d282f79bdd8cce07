import { createPurge, type Purge, purgeAll } from '../../../db/purge.ts';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { type Jobs, purging } from '../../../scheduler.ts';
import type { Services } from '../../../services.ts';
import { purgeUnused } from '../../registration/purge.ts';

const tables = [
  'OidcRecord',
  'RevokedToken',
  'UsedToken',
  'Session',
  'OneTimeToken',
  'SetupToken',
  'FirstPartySession',
  'AttemptCount',
  'SendingCount',
  'AddressCount',
  'SigningKey',
  'RegistrationToken',
] as const satisfies Prisma.ModelName[];

/**
 * Deletes expired rows: sessions, codes, refresh tokens and the like, the list of revoked access tokens, signing keys
 * whose last token has expired, and counts whose window has ended.
 */
export const purgeExpired = (services: Pick<Services, 'clock' | 'log'>): Purge =>
  purgeAll(tables.map((table) => createPurge(services, { table, column: 'expiresAt' })));

/** The jobs of this part. */
export const jobs: Jobs = (services) => [
  ...purging('expired', purgeExpired)(services),
  {
    name: 'purge-unused-applications',
    everyMs: 3_600_000,
    run: (tx) => purgeUnused(tx, services),
  },
];
