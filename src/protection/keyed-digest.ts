import { createHmac } from 'node:crypto';
import type { Cipher } from '../keys/cipher.ts';
import type { KeptUse } from '../keys/kept-uses.ts';

/** HMAC-SHA-256 of some values. */
export const digestWith = (key: Buffer, values: readonly string[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHmac('sha256', key).update(JSON.stringify(values)).digest());

/**
 * HMAC-SHA-256 of some values, with the kept key for that use. A reader of the table learns neither the value nor
 * whether a guess is right.
 */
export const keyedDigest = (
  cipher: Pick<Cipher, 'keptKey'>,
  use: KeptUse,
  values: readonly string[],
): Uint8Array<ArrayBuffer> => digestWith(cipher.keptKey(use), values);
