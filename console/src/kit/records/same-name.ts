/** The signs of typography, and what a keyboard has instead. */
const onKeyboards: readonly (readonly [RegExp, string])[] = [
  [/[\u2018-\u201b\u02bc\u2032\u00b4`]/g, "'"],
  [/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/\s+/g, ' '],
];

const asTyped = (name: string): string =>
  onKeyboards
    .reduce((text, [sign, key]) => text.replaceAll(sign, key), name.normalize('NFC'))
    .trim();

/** Whether a typed name is a record's: the keyboard's apostrophes, quotation marks, dashes and spaces will do. */
export const isSameName = (typed: string, name: string): boolean =>
  asTyped(typed) === asTyped(name);
