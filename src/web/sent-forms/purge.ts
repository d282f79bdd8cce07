import { createPurge } from '../../db/purge.ts';
import { purging } from '../../scheduler.ts';

// Longer than a person goes back and forth.
const keptMs = 60 * 60 * 1000;

/** Deletes the answers to forms that were sent an hour ago. */
export const jobs = purging('sent-forms', (services) =>
  createPurge(services, { table: 'SentForm', column: 'sentAt', keptMs }),
);
