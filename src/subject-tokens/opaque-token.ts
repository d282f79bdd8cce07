import { randomBytes } from 'node:crypto';
import { idPrefixes } from '../ids.ts';
import { digestOf } from '../keys/digest.ts';

type OpaqueKind = 'SubjectToken' | 'PersonalAccessToken' | 'RegistrationToken';

/** A new token: 256 random bits behind the prefix of its kind, by which scanners of leaked secrets know it. */
export function generateToken(kind: OpaqueKind) {
  const token = `${idPrefixes[kind]}_${randomBytes(32).toString('base64url')}`;
  return { token, digest: digestOf(token) };
}

/** The digest of a token that was sent in, in hexadecimal. */
export const digestInHex = (token: string): string => Buffer.from(digestOf(token)).toString('hex');
