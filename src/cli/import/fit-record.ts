import { InvalidInputError, NotAllowedError } from '../../errors.ts';
import type { Part } from './part.ts';

/** The values of a record, under the names that Signet gives them. */
export type Values = Readonly<Record<string, unknown>>;

type Fields = Record<string, unknown>;

/**
 * Leaves out of a record what Signet refuses, and says it, value by value.
 *
 * @param part The record in the export.
 * @param read Reads the record as the service does.
 * @param together Fields of which none stands without the others.
 * @returns What is left of the record, as the service reads it; undefined if it cannot be without what is refused.
 */
export function fitRecord(
  part: Part,
  given: Values,
  read: (values: unknown) => object,
  together: readonly string[] = [],
): Values | undefined {
  const values: Fields = structuredClone(withoutNothing(given));
  for (;;) {
    try {
      const fitting = read(values) as Values;
      return Object.fromEntries(
        Object.entries(values).map(([field, value]) => [field, fitting[field] ?? value]),
      );
    } catch (error) {
      if (error instanceof NotAllowedError) {
        part.leave(`is not taken: ${error.message}`);
        return undefined;
      }
      if (!(error instanceof InvalidInputError)) throw error;
      if (!drop(part, values, error.issues, together)) return undefined;
    }
  }
}

const withoutNothing = (values: Values): Fields =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value != null && !isEmpty(value)),
  );

const isEmpty = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof Date) &&
  Object.keys(value).length === 0;

/** @returns Whether the record can be without what is refused. */
function drop(
  part: Part,
  values: Fields,
  issues: InvalidInputError['issues'],
  together: readonly string[],
): boolean {
  const refused = new Map<unknown[], Set<number>>();
  let isPossible = true;
  for (const { path, message } of issues) {
    const [field = '', step] = path;
    const value = values[field];
    if (value === undefined) {
      if (together.includes(field)) continue;
      part.leave(`is not taken: it has no ${path.join('.')}`);
      isPossible = false;
    } else if (Array.isArray(value) && step !== undefined) {
      part.leave(`${field}: ${JSON.stringify(value[Number(step)])} ${message}; it is left out`);
      refused.set(value, (refused.get(value) ?? new Set<number>()).add(Number(step)));
    } else {
      part.leave(`${path.join('.')} ${message}; it is left out`);
      const group = value as Fields;
      if (step !== undefined && Object.hasOwn(group, step)) delete group[step];
      else for (const name of together.includes(field) ? together : [field]) delete values[name];
    }
  }
  for (const [list, places] of refused) {
    list.splice(0, list.length, ...list.filter((_value, index) => !places.has(index)));
  }
  return isPossible;
}
