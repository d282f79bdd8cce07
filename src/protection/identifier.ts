import type { User } from '../generated/prisma/client.ts';
import { foldCase } from '../input.ts';
import type { Cipher } from '../keys/cipher.ts';
import { mailAddress } from '../text/address.ts';
import { telephoneNumber, withoutSeparators, withoutSpaceAround } from '../text/typed.ts';
import { keyedDigest } from './keyed-digest.ts';

/** What a person, or nobody, is known by, as `Identifier.Lockout` shows it. */
export interface Identifier {
  readonly type: 'username' | 'email' | 'phone';
  readonly value: string;
}

/**
 * The kind of identifier that a person typed. A user name begins with a letter or "_" and has no "@", so the three
 * kinds always differ.
 */
export function readIdentifier(typed: string): Identifier {
  const value = withoutSpaceAround(typed);
  const isNumber = /^[+\d(\uFF0B\uFF08]/.test(withoutSeparators(value));
  const type = value.includes('@') ? 'email' : isNumber ? 'phone' : 'username';
  return { type, value: normalValue({ type, value }) };
}

/**
 * The normal spelling of an identifier, for look-ups and counters: spellings that find the same person must share a
 * counter.
 */
export function normalValue({ type, value }: Identifier): string {
  // A to Z alone: with the Kelvin sign for "k" and U+0130 for "i", a name of six letters would have a dozen spellings.
  if (type === 'phone') return telephoneNumber(value);
  return foldCase(type === 'email' ? mailAddress(value) : withoutSpaceAround(value));
}

/** The identifiers of a person. */
export function identifiersOf({
  username,
  primaryEmail,
  primaryPhone,
}: Pick<User, 'username' | 'primaryEmail' | 'primaryPhone'>): Identifier[] {
  const values = { username, email: primaryEmail, phone: primaryPhone };
  return Object.entries(values).flatMap(([type, value]) =>
    value === null ? [] : [{ type: type as Identifier['type'], value }],
  );
}

/** The digest that replaces an identifier in tables: people type passwords where a name belongs. */
export const identifierDigest = (
  cipher: Pick<Cipher, 'keptKey'>,
  { type, value }: Identifier,
): Uint8Array<ArrayBuffer> =>
  keyedDigest(cipher, 'identifier', [type, normalValue({ type, value })]);
