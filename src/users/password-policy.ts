import { dictionary } from '@zxcvbn-ts/language-common';
import type { PasswordPolicy } from '../sign-in-experience/settings.ts';
import { composed } from '../text/typed.ts';
import { normalPassword } from './password.ts';

/** The longest accepted password, in code points (NIST SP 800-63B-4 §3.1.1.2 asks for at least 64). */
export const maxPasswordLength = 256;

/** Why a password is rejected. */
export interface PasswordRejection {
  readonly code:
    | 'TOO_SHORT'
    | 'TOO_LONG'
    | 'INVALID_CHARACTER'
    | 'COMMON'
    | 'USER_DATA'
    | 'BLOCKLISTED';
  /** The text to show. */
  readonly message: string;
}

/** Words that a password must not be made of: about the person and the product. */
export interface PasswordSubject {
  readonly username?: string | null;
  readonly primaryEmail?: string | null;
  readonly primaryPhone?: string | null;
  readonly name?: string | null;
  readonly productName?: string | null;
}

/** Whether a password is short enough to be hashed; the time of hashing grows with the length. */
export const isOfPossibleLength = (password: string): boolean =>
  // A code point has at most two units, and NFC composes only a handful of them.
  password.length <= maxPasswordLength * 8 &&
  [...normalPassword(password)].length <= maxPasswordLength;

/**
 * Every reason to reject a password; empty if it is accepted. There are no composition rules (NIST SP 800-63B-4
 * §3.1.1.2): a password must be long enough, and not among the first guesses.
 */
export function rejections(
  policy: PasswordPolicy,
  password: string,
  about: PasswordSubject,
): PasswordRejection[] {
  const normal = normalPassword(password);
  const length = [...normal].length;
  const bare = bareOf(normal);
  const faults: (PasswordRejection | false)[] = [
    length < policy.minLength && {
      code: 'TOO_SHORT',
      message: `The password must have at least ${policy.minLength} characters.`,
    },
    length > maxPasswordLength && {
      code: 'TOO_LONG',
      message: `The password must have at most ${maxPasswordLength} characters.`,
    },
    (normal.includes('\0') || !normal.isWellFormed()) && {
      code: 'INVALID_CHARACTER',
      message: 'The password contains a character that cannot be stored.',
    },
    policy.rejectCommon &&
      length <= maxPasswordLength &&
      isCommon(normal) && {
        code: 'COMMON',
        message: 'The password is on a list of common passwords.',
      },
    policy.rejectUserData &&
      isMadeOf(bare, wordsAbout(about)) && {
        code: 'USER_DATA',
        message:
          'The password must not be made of your name, your addresses or the name of the product.',
      },
    isMadeOf(bare, policy.blocklist.map(bareOf)) && {
      code: 'BLOCKLISTED',
      message: 'The password contains a word that is not allowed here.',
    },
  ];
  return faults.filter((fault) => fault !== false);
}

let common: ReadonlySet<string> | undefined;

function isCommon(password: string): boolean {
  common ??= new Set(dictionary['passwords-common']);
  const lower = password.toLowerCase();
  return common.has(lower) || isRepetition(lower) || isSequence(lower);
}

/** "aaaaaaaa", "abcabcabc": at most four characters, repeated. */
const isRepetition = (text: string) => /^(.{1,4}?)\1{2,}$/su.test(text);

/** "abcdefgh", "98765432": each character follows the previous one. */
function isSequence(text: string): boolean {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  if (points.length < 4) return false;
  const steps = new Set(points.slice(1).map((point, i) => point - (points[i] ?? 0)));
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}

// "J.o.h.n-1985!" is made of "john": characters other than letters and digits do not make it harder to guess.
const bareOf = (text: string) =>
  composed(text, 'NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');

const minWordLength = 4;
const maxLeftOver = 4;

/** Whether little of a password is left once a word is removed. */
function isMadeOf(password: string, words: readonly string[]): boolean {
  return words.some((word) => {
    if (word === '') return false;
    if (password === word) return true;
    if ([...word].length < minWordLength || !password.includes(word)) return false;
    return [...password.replaceAll(word, '')].length <= maxLeftOver;
  });
}

function wordsAbout({ username, primaryEmail, primaryPhone, name, productName }: PasswordSubject) {
  const [local = '', domain = ''] = primaryEmail?.split('@') ?? [];
  const texts = [username, primaryEmail, local, domain, primaryPhone, name, productName, 'Signet'];
  const words = texts.flatMap((text) => (text ? [text, ...text.split(/[^\p{L}\p{N}]+/u)] : []));
  return [...new Set(words.map(bareOf))];
}
