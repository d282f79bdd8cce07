import { GraphQLEmailAddress } from 'graphql-scalars';
import { z } from 'zod';
import { InvalidInputError } from './errors.ts';

/**
 * Checks an input against its schema and returns it as the schema has it.
 *
 * @throws {InvalidInputError} with every fault.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new InvalidInputError(
    parsed.error.issues.map(({ path, message }) => ({ path: path.map(String), message })),
  );
}

const passes = (parse: (value: unknown) => unknown) => (value: string) => {
  try {
    parse(value);
    return true;
  } catch {
    return false;
  }
};

// PostgreSQL's text holds neither.
const hasNoNul = (value: string) => !value.includes('\0');
const isUnicode = (value: string) => value.isWellFormed();
const noNul = 'must not hold a NUL character';
const noLoneSurrogate = 'must not hold half of a surrogate pair';

/** Text of one field: no longer than `max` characters. */
export const text = (max: number) =>
  z
    .string()
    .max(max, `must have at most ${max} characters`)
    .refine(hasNoNul, noNul)
    .refine(isUnicode, noLoneSurrogate);

/** A name: not empty, no space around it. */
export const name = (max = 128) => text(max).trim().min(1, 'must not be empty');

/** An e-mail address. */
export const emailAddress = text(320).refine(
  passes(GraphQLEmailAddress.parseValue),
  'must be an e-mail address',
);

// graphql-scalars takes numbers without the plus, which the contract's E.164 does not.
/** A telephone number in E.164. */
export const phoneNumber = text(16).regex(
  /^\+[1-9]\d{6,14}$/,
  'must be a telephone number in E.164, such as +4915112345678',
);

/** An absolute URL, http or https. */
export const webUrl = text(2048).refine(
  (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  'must be an http or https URL',
);

/** A field of a patch that can be left alone but not cleared. */
export const notNull = <Field extends z.ZodType>(field: Field) =>
  field.nullish().transform((value, context) => {
    if (value !== null) return value as z.output<Field> | undefined;
    context.addIssue('cannot be cleared');
    return z.NEVER;
  });

/** A list without its doubles. */
export const distinct = <Item extends z.ZodType<string>>(item: Item, max: number) =>
  z
    .array(item)
    .max(max, `must have at most ${max} entries`)
    .transform((items) => [...new Set(items)]);

const maxJsonBytes = 64 * 1024;

/** A JSON object of at most 64 KiB. */
export const jsonObject = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= maxJsonBytes, 'must be at most 64 KiB')
  .refine((value) => everyText(value, hasNoNul), noNul)
  .refine((value) => everyText(value, isUnicode), noLoneSurrogate);

/** Whether something holds for every text in a JSON value, the names of fields among them. */
function everyText(value: unknown, holds: (text: string) => boolean): boolean {
  if (typeof value === 'string') return holds(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => holds(key) && everyText(part, holds));
}

/** A record with a patch laid over it: an undefined field is left alone. */
export const patched = <Row extends object>(row: Row, patch: object): Row => ({
  ...row,
  ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
});
