import { GraphQLEmailAddress } from 'graphql-scalars';
import { z } from 'zod';
import { type InputIssue, type InputIssueCode, InvalidInputError } from './errors.ts';
import {
  asciiAddress,
  domainOf,
  hasNonAsciiLocal,
  mailAddress,
  needsSmtpUtf8,
  readDomain,
} from './text/address.ts';
import { composed, telephoneNumber } from './text/typed.ts';

/**
 * Checks an input against its schema and returns the parsed value.
 *
 * @param faults Faults that were found before.
 * @throws {InvalidInputError} with every fault.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  faults: readonly InputIssue[] = [],
): z.output<Schema> {
  return outputOf(read(schema, input), faults);
}

const read = <Schema extends z.ZodType>(schema: Schema, input: unknown) =>
  schema.safeParse(input, { reportInput: true });

function outputOf<Value>(
  parsed: z.ZodSafeParseResult<Value>,
  faults: readonly InputIssue[] = [],
): Value {
  if (parsed.success && faults.length === 0) return parsed.data;
  throw new InvalidInputError([...(parsed.error?.issues ?? []).map(issueOf), ...faults]);
}

const issueOf = (issue: z.core.$ZodIssue): InputIssue => ({
  path: issue.path.map(String),
  message: issue.message,
  code: codeOf(issue),
});

/** The code and message of a broken rule, as options of zod's `refine` and of a custom issue. */
export const fault = (code: InputIssueCode, message: string) => ({ message, params: { code } });

function codeOf(issue: z.core.$ZodIssue): InputIssueCode {
  const isNumber = 'origin' in issue && /^(?:number|int|bigint)$/.test(issue.origin);
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'REQUIRED' : 'INVALID_TYPE';
    case 'too_small':
      return isNumber ? 'TOO_SMALL' : 'TOO_SHORT';
    case 'too_big':
      return isNumber ? 'TOO_LARGE' : 'TOO_LONG';
    case 'invalid_format':
      return 'INVALID_FORMAT';
    case 'unrecognized_keys':
      return 'UNKNOWN_FIELD';
    case 'custom':
      return (issue.params?.['code'] as InputIssueCode | undefined) ?? 'INVALID_VALUE';
    default:
      return 'INVALID_VALUE';
  }
}

const passes = (parse: (value: unknown) => unknown) => (value: string) => {
  try {
    parse(value);
    return true;
  } catch {
    return false;
  }
};

// PostgreSQL's text cannot hold a NUL character.
const hasNoNul = (value: string) => !value.includes('\0');
const isUnicode = (value: string) => value.isWellFormed();
const noNul = fault('INVALID_FORMAT', 'must not hold a NUL character');
const noLoneSurrogate = fault('INVALID_FORMAT', 'must not hold half of a surrogate pair');

const textOf = (type: z.ZodString, max: number) =>
  type
    .max(max, `must have at most ${max} characters`)
    .refine(hasNoNul, noNul)
    .refine(isUnicode, noLoneSurrogate);

/** Text of at most `max` characters, as it is: for identifiers and secrets. */
export const text = (max: number) => textOf(z.string(), max);

/** Text for people: in composed form (NFC), so that it is found and equal however a keyboard composed it. */
export const composedText = (max: number) => textOf(z.string().overwrite(composed), max);

/** A name, as {@link composedText}: trimmed, and not empty. */
export const name = (max = 128) => composedText(max).trim().min(1, 'must not be empty');

/**
 * A text in the form in which texts are compared without case: A to Z alone are folded, as `folded` in `db/sql.ts` does.
 */
export const foldCase = (value: string): string =>
  value.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

const isMailAddress = (value: string): boolean =>
  readDomain(domainOf(value)) !== null &&
  (needsSmtpUtf8(value)
    ? hasNonAsciiLocal(value)
    : passes(GraphQLEmailAddress.parseValue)(asciiAddress(value)));

/**
 * An e-mail address, as {@link mailAddress} spells it, to compare with others. What is written to is read by
 * {@link AddressedInput}.
 */
export const anyEmailAddress = text(320)
  .overwrite(mailAddress)
  .refine(isMailAddress, {
    ...fault('INVALID_FORMAT', 'must be an e-mail address'),
    abort: true,
  });

const ofAscii = 'the part before the @ must be of ASCII characters';

/** An e-mail address that every mail server takes, as {@link mailAddress} spells it. */
export const asciiEmailAddress = anyEmailAddress.refine((value) => !needsSmtpUtf8(value), {
  message: ofAscii,
  params: { code: 'INVALID_VALUE', isNonAscii: true },
});

const isNonAscii = (issue: z.core.$ZodIssue): boolean =>
  issue.code === 'custom' && issue.params?.['isNonAscii'] === true;

/** The schema of an e-mail address within an {@link AddressedInput}. */
export type EmailAddress = typeof anyEmailAddress;

/**
 * The schema of an input with e-mail addresses that are written to. Which of them are taken depends on the sender of
 * e-mail: so values to be stored come from `parseAddressed` in `messages/senders`, which asks it.
 */
export class AddressedInput<Schema extends z.ZodType> {
  readonly #ascii: Schema;
  readonly #any: Schema;

  constructor(schemaOf: (emailAddress: EmailAddress) => Schema) {
    this.#ascii = schemaOf(asciiEmailAddress);
    this.#any = schemaOf(anyEmailAddress);
  }

  /**
   * Checks an input, as {@link parseInput} does.
   *
   * @param whyNot Asks why the sender cannot send to an address that {@link needsSmtpUtf8}; undefined if it can. Called
   *   only for an input that has one.
   * @throws {InvalidInputError} with every fault.
   */
  async parse(
    input: unknown,
    whyNot: () => Promise<string | undefined>,
  ): Promise<z.output<Schema>> {
    const parsed = read(this.#ascii, input);
    if (!parsed.error?.issues.some(isNonAscii)) return outputOf(parsed);
    const reason = await whyNot();
    if (reason === undefined) return parseInput(this.#any, input);
    throw new InvalidInputError(
      parsed.error.issues.map((issue) => ({
        ...issueOf(issue),
        ...(isNonAscii(issue) && { message: `${ofAscii}: ${reason}` }),
      })),
    );
  }

  /**
   * Checks an input that a service will be given later, and that it may refuse for its sender.
   *
   * @throws {InvalidInputError} with every other fault.
   */
  preview(input: unknown): z.output<Schema> {
    return parseInput(this.#any, input);
  }
}

/** What an {@link AddressedInput} is given. */
export type InputOf<Input> = Input extends AddressedInput<infer Schema> ? z.input<Schema> : never;

/** The domain of an e-mail address, as {@link readDomain} spells it: at least two labels. */
export const emailDomain = text(253)
  .transform((value) => readDomain(value) ?? value)
  .refine(
    (value) => readDomain(value)?.includes('.'),
    fault('INVALID_FORMAT', 'must be a domain name, such as example.com'),
  );

// graphql-scalars takes numbers without the plus sign; the contract's E.164 does not.
/** A telephone number, as {@link telephoneNumber} reads it, in E.164. */
export const phoneNumber = text(320)
  .overwrite(telephoneNumber)
  .regex(/^\+[1-9]\d{6,14}$/, 'must be a telephone number in E.164, such as +4915112345678');

/** An absolute URL, http or https. */
export const webUrl = text(2048).refine(
  (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  fault('INVALID_FORMAT', 'must be an http or https URL'),
);

/**
 * Whether an instant lies in the years that RFC 3339 can write and the database can hold. An offset can carry one that
 * was well written out of them.
 */
export const isInKnownYears = (instant: Date): boolean =>
  instant.getUTCFullYear() >= 1 && instant.getUTCFullYear() <= 9999;

/** What is said of an instant that {@link isInKnownYears} refuses. */
export const outsideKnownYears = 'must lie in the years 1 to 9999, in UTC';

/** An instant. */
export const instant = z.date().refine(isInKnownYears, fault('INVALID_VALUE', outsideKnownYears));

/** A field of a patch that can be absent but not null. */
export const notNull = <Field extends z.ZodType>(field: Field) =>
  field.nullish().transform((value, context) => {
    if (value !== null) return value as z.output<Field> | undefined;
    context.addIssue({ code: 'custom', ...fault('NOT_NULLABLE', 'cannot be cleared') });
    return z.NEVER;
  });

/** A list without duplicates. */
export const distinct = <Item extends z.ZodType<string>>(item: Item, max: number) =>
  z
    .array(item)
    .max(max, `must have at most ${max} entries`)
    .transform((items) => [...new Set(items)]);

/** The largest JSON object of one field, in bytes of UTF-8. */
export const maxJsonBytes = 64 * 1024;

/** The most levels of objects and lists in a JSON object; the object itself is the first. */
export const maxJsonDepth = 64;

/** A JSON object of at most 64 KiB and {@link maxJsonDepth} levels. */
export const jsonObject = z
  .record(z.string(), z.unknown())
  // This check comes first: the later checks, storage and comparison all recurse.
  .refine((value) => isWithinDepth(value, maxJsonDepth), {
    ...fault('TOO_DEEP', `must have at most ${maxJsonDepth} levels`),
    abort: true,
  })
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= maxJsonBytes,
    fault('TOO_LONG', 'must be at most 64 KiB'),
  )
  .refine((value) => everyText(value, hasNoNul), noNul)
  .refine((value) => everyText(value, isUnicode), noLoneSurrogate);

/** Whether a JSON value has no more levels of objects and lists. */
export const isWithinDepth = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((part) => isWithinDepth(part, levels - 1)));

/** Whether a condition holds for every text in a JSON value, field names included. */
function everyText(value: unknown, holds: (text: string) => boolean): boolean {
  if (typeof value === 'string') return holds(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => holds(key) && everyText(part, holds));
}

/** A record with a patch applied: an undefined field keeps its value. */
export const patched = <Row extends object>(row: Row, patch: object): Row => ({
  ...row,
  ...Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)),
});

type Tree = { readonly [field: string]: unknown };

const isGroup = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Applies a patch to stored settings: an undefined field keeps its value, null removes it, so that its default applies.
 * In a group, only the given fields change.
 */
export function mergeSettings(stored: Tree, patch: Tree): Tree {
  const merged: Record<string, unknown> = { ...stored };
  for (const [field, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const before = merged[field];
    if (value === null) delete merged[field];
    else
      merged[field] = isGroup(value) ? mergeSettings(isGroup(before) ? before : {}, value) : value;
  }
  return merged;
}
