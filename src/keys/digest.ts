import { createHash } from 'node:crypto';

/**
 * The stored digest of a credential: a secret, a token, the value of a cookie. Credentials are long and random, so a
 * plain SHA-256 cannot be reversed by guessing.
 */
export const digestOf = (credential: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(credential).digest());
