import { createHash, randomBytes } from 'node:crypto';

/** A new application secret: 256 random bits in base64url, to be shown once. */
export const generateSecret = (): string => randomBytes(32).toString('base64url');

/** What is kept of a secret. Secrets are random and long, so a plain SHA-256 cannot be guessed backwards. */
export const digestSecret = (secret: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(secret).digest());
