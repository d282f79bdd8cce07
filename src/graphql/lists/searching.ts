import type { Database } from '../../db/database.ts';
import { spellLocal } from '../../text/address.ts';
import { composed } from '../../text/typed.ts';
import { requestError } from '../request-error.ts';

/** The longest text to search for, in characters: longer ones cost the database seconds and find nothing. */
export const maxSearchLength = 256;

/** The common part of the descriptions of `search`. */
export const searchDescription = (parts: string): string =>
  `Part of ${parts}, whatever its case; at most ${maxSearchLength} characters.`;

/**
 * The condition that one of the fields contains a text, ignoring case. Pattern characters have no special meaning.
 *
 * @param search Blank or absent: every record matches.
 * @throws BAD_USER_INPUT when it is longer than {@link maxSearchLength}.
 */
export async function searching<Field extends string>(
  database: Pick<Database, 'sql'>,
  search: string | null | undefined,
  fields: readonly Field[],
) {
  const part = search?.trim();
  if (!part) return {};
  if (part.length > maxSearchLength) {
    throw requestError(
      'BAD_USER_INPUT',
      `"search" must have at most ${maxSearchLength} characters.`,
    );
  }
  // Versions before this have stored texts as they were typed, in decomposed form too. Many a locale folds A to Z alone,
  // and addresses hold no other capitals.
  const forms = [...new Set([composed(part), part.normalize('NFD'), searchedLocal(part)])];
  const spellings = (await keepsApart(database)) ? forms.flatMap(withEitherI) : forms;
  const anyOf = spellings.flatMap((spelling) => {
    const contains = spelling.replaceAll(/[\\%_]/g, '\\$&');
    const condition = { contains, mode: 'insensitive' } as const;
    return fields.map((field) => ({ [field]: condition }) as Record<Field, typeof condition>);
  });
  // Beneath AND: a filter may have an OR of its own beside it.
  return { AND: { OR: anyOf } };
}

/** A part of an address, as addresses are stored. */
const searchedLocal = (part: string): string => {
  const [local = '', ...rest] = part.split('@');
  return [spellLocal(local), ...rest].join('@');
};

// A database never changes its locale.
const apart = new WeakMap<Database['sql'], Promise<boolean>>();

/** Whether the database's locale keeps `I` and `i` apart, as the Turkish one does: its search goes by the locale. */
function keepsApart({ sql }: Pick<Database, 'sql'>): Promise<boolean> {
  const known = apart.get(sql);
  if (known) return known;
  const asked = sql
    .query<{ apart: boolean }>('locale', `SELECT lower('I') <> 'i' AS "apart"`, [])
    .then(([row]) => row?.apart === true);
  apart.set(sql, asked);
  asked.catch(() => apart.delete(sql));
  return asked;
}

const mostPlaces = 4;

/** The spellings of a text with `i` and `I` in each place of either; of a text with many, those that people type. */
function withEitherI(text: string): string[] {
  const [start = '', ...rest] = text.split(/i/i);
  if (rest.length > mostPlaces) {
    return [...new Set([text, text.replaceAll(/i/gi, 'i'), text.replaceAll(/i/gi, 'I')])];
  }
  return rest.reduce(
    (begun, part) => begun.flatMap((one) => [`${one}i${part}`, `${one}I${part}`]),
    [start],
  );
}
