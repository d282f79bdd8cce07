import { createHash } from 'node:crypto';

/**
 * The id that a record is stored under. Most ids are credentials (codes, refresh tokens, session cookies), so the table
 * holds only their digests.
 */
export const storedId = (id: string) => createHash('sha256').update(id).digest('base64url');
