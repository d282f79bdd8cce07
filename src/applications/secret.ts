import { createHash, randomBytes } from 'node:crypto';

/** A new application secret: 256 random bits in base64url, shown once. */
export const generateSecret = (): string => randomBytes(32).toString('base64url');

/** The stored digest of a secret. Secrets are long and random, so a plain SHA-256 cannot be reversed by guessing. */
export const digestSecret = (secret: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(secret).digest());
