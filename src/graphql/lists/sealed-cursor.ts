import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { Cipher } from '../../keys/cipher.ts';
import { requestError } from '../request-error.ts';

const tagLength = 16;

type Keys = Pick<Cipher, 'keptKey'>;

const keysOf = new WeakMap<Keys, { encryption: Buffer; tag: Buffer }>();

function derive(cipher: Keys) {
  let keys = keysOf.get(cipher);
  if (!keys) {
    keys = { encryption: cipher.keptKey('cursor'), tag: cipher.keptKey('cursor-tag') };
    keysOf.set(cipher, keys);
  }
  return keys;
}

const tagOf = (key: Buffer, list: string, id: string) =>
  createHmac('sha256', key).update(`${list}\n${id}`).digest().subarray(0, tagLength);

/**
 * The cursor of a row whose id requires another scope to read; it does not reveal the id. The same row always has the
 * same cursor, because pages compare cursors: the nonce is derived from the id (as in RFC 5297).
 *
 * @param list The list's name: a cursor of one list is invalid in another.
 */
export function sealCursor(cipher: Keys, list: string, id: string): string {
  const { encryption, tag } = derive(cipher);
  const nonce = tagOf(tag, list, id);
  const aes = createCipheriv('aes-256-ctr', encryption, nonce);
  return Buffer.concat([nonce, aes.update(id, 'utf8'), aes.final()]).toString('base64url');
}

/**
 * The id behind a sealed cursor.
 *
 * @throws BAD_USER_INPUT if it is not a cursor of this list.
 */
export function openCursor(cipher: Keys, list: string, cursor: string, argument: string): string {
  const { encryption, tag } = derive(cipher);
  const sealed = Buffer.from(cursor, 'base64url');
  if (sealed.length > tagLength) {
    const nonce = sealed.subarray(0, tagLength);
    const aes = createDecipheriv('aes-256-ctr', encryption, nonce);
    const id = Buffer.concat([aes.update(sealed.subarray(tagLength)), aes.final()]).toString();
    if (timingSafeEqual(tagOf(tag, list, id), nonce)) return id;
  }
  throw requestError('BAD_USER_INPUT', `"${argument}" is not a cursor of this list.`);
}
