import { createHmac } from 'node:crypto';
import type { Cipher } from '../keys/cipher.ts';

/**
 * HMAC-SHA-256 of some values, with a key for that use. A reader of the table learns neither the value nor whether a
 * guess is right.
 */
export const keyedDigest = (
  cipher: Pick<Cipher, 'deriveKey'>,
  use: string,
  values: readonly string[],
): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHmac('sha256', cipher.deriveKey(use)).update(JSON.stringify(values)).digest(),
  );
