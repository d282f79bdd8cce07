import { createPurge, type Purge } from '../db/purge.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { purging } from '../scheduler.ts';
import type { Services } from '../services.ts';

// Long enough to find out why a message did not arrive; addresses are not kept longer.
const keptMs = 7 * 24 * 60 * 60 * 1_000;

/** Deletes messages that ended a week ago. */
export const purgeMessages = (services: Pick<Services, 'clock' | 'log'>): Purge =>
  createPurge(services, {
    table: 'Message',
    column: 'createdAt',
    keptMs,
    where: Prisma.sql`r."nextAttemptAt" IS NULL`,
  });

/** The jobs of this part. */
export const jobs = purging('messages', purgeMessages);
