// A letter of no writing has so many marks (UAX #15 §12.1 allows 30). To sort the marks of one letter takes quadratic
// time: two seconds for 40,000 of them, and an hour for what a body can hold.
const mostMarks = 128;
// The two of half-width katakana are letters, and marks in NFKC.
const manyMarks = /[\p{M}\uFF9E\uFF9F]{2,}/gu;

/**
 * A text in the form in which texts are stored and compared, the same however a keyboard composed it. A text with a
 * letter of more than 128 marks stays as it is.
 *
 * @param form `NFKC` is for comparisons alone: it makes letters of other shapes alike.
 */
export function composed(text: string, form: 'NFC' | 'NFKC' = 'NFC'): string {
  for (const [marks] of text.matchAll(manyMarks)) if (marks.length > mostMarks) return text;
  return text.normalize(form);
}

// What people type or paste, without what keyboards, scripts and messages add to it. Never for passwords.

// The marks of direction (UAX #9 §2), and two signs without width that come with what is copied.
const unseen = /[\u061C\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/;
const around = new RegExp(`\\s|${unseen.source}`);

/**
 * What may stand between the digits of a number, as a pattern of one character: spaces, dashes and what is not seen. To
 * people the bullet of U+2043 is a hyphen too, and Japanese keyboards put the middle dot or the mark of a long vowel.
 */
export const separator = String.raw`[\s\p{Cf}\p{DI}\p{Dash}\u2043\u30FB\u30FC\uFF65\uFF70]`;
const separators = new RegExp(separator, 'gu');

/** A name or an address that was typed, without spaces and marks of direction around it. */
export function withoutSpaceAround(text: string): string {
  // Two loops: a pattern for the end takes quadratic time for spaces in the middle.
  let start = 0;
  let end = text.length;
  while (start < end && around.test(text.charAt(start))) start += 1;
  while (start < end && around.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

// Without 0 to 9, which stay: a call for each digit of a long text takes time.
const otherDigits = /[^\P{Nd}0-9]/gu;

/** A code that was typed: digits of any script are 0 to 9, and spaces, hyphens and marks of direction are dropped. */
export const withoutSeparators = (text: string): string =>
  text.replaceAll(separators, '').replaceAll(otherDigits, worthOf);

/** A telephone number that was typed, in E.164 if it has its country's code. */
export const telephoneNumber = (text: string): string =>
  withoutSeparators(text)
    // "(+44) (0)20 …" has its country's code in brackets as well.
    .replace(/^[(\uFF08]((?:[+\uFF0B]|00)[1-9]\d{0,2})[)\uFF09]/, '$1')
    .replace(/^\uFF0B/, '+')
    .replace(/^00/, '+')
    .replace(/^(\+[1-9]\d{0,2})[(\uFF08]0[)\uFF09]/, '$1')
    .replaceAll(/[().\uFF08\uFF09\uFF0E]/g, '');

const worths = new Map<string, string>();

// The digits of a script follow one another from its zero (UAX #44, "Numeric_Type"), and so do scripts without a gap.
// Kept, because the way to the first zero is up to 49 characters long. There are a few hundred digits.
function worthOf(digit: string): string {
  const known = worths.get(digit);
  if (known !== undefined) return known;
  const place = digit.codePointAt(0) as number;
  let first = place;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  const worth = String((place - first) % 10);
  worths.set(digit, worth);
  return worth;
}
