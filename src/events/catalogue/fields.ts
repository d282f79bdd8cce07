import { type IdKind, newId } from '../../ids.ts';
import type { LiveModel } from './live-records.ts';

/** A JSON Schema (2020-12, the dialect of OpenAPI 3.1). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The GraphQL type of a value. */
export type ValueType = 'ID' | 'String' | 'Int' | 'Boolean' | 'DateTime' | 'JSONObject' | 'Strings';

/** A type of value as the schema builder takes it. */
export const graphQLTypeOf = (type: ValueType) =>
  type === 'Strings' ? (['String'] as ['String']) : type;

/** A GraphQL field that resolves to the records named in the data, as they are now. */
export interface LiveField {
  readonly name: string;
  readonly model: LiveModel;
  readonly description: string;
}

/** How GraphQL shows a field of an event's data, besides in `data` itself. */
export type TypedField =
  | {
      readonly kind: 'value';
      readonly type: ValueType;
      readonly description: string;
    }
  | ({ readonly kind: 'record' } & LiveField)
  | ({ readonly kind: 'records' } & LiveField)
  | { readonly kind: 'changes' };

/** A field of an event's data: its type, JSON Schema, GraphQL field and sample value. */
export interface Field<Value = unknown> {
  readonly schema: JsonSchema;
  /** Absent: GraphQL shows the field in `data` only. */
  readonly typed?: TypedField;
  readonly sample: (now: Date) => Value;
}

/** The fields of an object, in the order of the documentation. */
export type Fields = Readonly<Record<string, Field>>;

/** The JSON that the fields describe. */
export type DataOf<Table extends Fields> = {
  readonly [Name in keyof Table]: Table[Name] extends Field<infer Value> ? Value : never;
};

const value =
  <Value>(schema: JsonSchema, type: ValueType, usual: Value | ((now: Date) => Value)) =>
  (description: string, sample: Value | ((now: Date) => Value) = usual): Field<Value> => ({
    schema,
    typed: { kind: 'value', type, description },
    sample: sample instanceof Function ? sample : () => sample,
  });

const string = { type: 'string' };
const stringOrNull = { type: ['string', 'null'] };

export const text = value<string>(string, 'String', 'test');
export const textOrNull = value<string | null>(stringOrNull, 'String', null);
export const flag = value<boolean>({ type: 'boolean' }, 'Boolean', false);
/** An instant, as ISO 8601 in UTC. */
export const instant = value<string>({ ...string, format: 'date-time' }, 'DateTime', (now) =>
  now.toISOString(),
);
export const instantOrNull = value<string | null>(
  { ...stringOrNull, format: 'date-time' },
  'DateTime',
  null,
);
export const json = value<unknown>(
  { type: 'object', additionalProperties: true },
  'JSONObject',
  () => ({}),
);

export const jsonOrNull = value<unknown>(
  { type: ['object', 'null'], additionalProperties: true },
  'JSONObject',
  null,
);

export const integer = value<number>({ type: 'integer' }, 'Int', 1);
export const integerOrNull = value<number | null>({ type: ['integer', 'null'] }, 'Int', null);
export const texts = value<readonly string[]>(
  { type: 'array', items: string },
  'Strings',
  () => [],
);
export const idOrNull = value<string | null>(stringOrNull, 'ID', null);

/** The id of a record of this kind. */
export const id = (kind: IdKind, description = "The record's id."): Field<string> =>
  value<string>(string, 'ID', () => newId(kind))(description);

/** One of a few words. */
export const oneOf = <const Word extends string>(
  words: readonly [Word, ...Word[]],
  description: string,
  sample: NoInfer<Word> = words[0],
): Field<Word> => value<Word>({ ...string, enum: words }, 'String', sample)(description);

/** One of a few words, or null. */
export const oneOfOrNull = <const Word extends string>(
  words: readonly [Word, ...Word[]],
  description: string,
  sample: NoInfer<Word> = words[0],
): Field<Word | null> =>
  value<Word | null>({ ...stringOrNull, enum: [...words, null] }, 'String', sample)(description);

/** A field that GraphQL shows in `data` only. */
export const untyped = <Value>({ schema, sample }: Field<Value>): Field<Value> => ({
  schema,
  sample,
});

/** Ends the description of a field that reads a record at the time of the request. */
export const asItIsNow = 'as it is now; null once it is deleted.';
const asTheyAreNow = 'Those that still exist, as they are now.';

const shownOne = (live: LiveField): TypedField => ({
  ...live,
  kind: 'record',
  description: `${live.description} ${asItIsNow}`,
});

/** The id of a record, which GraphQL shows as the record itself. */
export const idOf = (live: LiveField): Field<string> => ({
  ...id(live.model),
  typed: shownOne(live),
});

/** The id of a record or null, which GraphQL shows as the record itself. */
export const idOrNullOf = (live: LiveField): Field<string | null> => ({
  schema: stringOrNull,
  typed: shownOne(live),
  sample: () => newId(live.model),
});

/**
 * A list that names records, by id or by an object with their id.
 *
 * @param inSample How many records the sample names.
 */
export const listOf = <Item>(
  item: Pick<Field<Item>, 'schema' | 'sample'>,
  inSample: 0 | 1,
  live: LiveField,
): Field<readonly Item[]> => ({
  schema: { type: 'array', items: item.schema },
  typed: { ...live, kind: 'records', description: `${live.description} ${asTheyAreNow}` },
  sample: (now) => (inSample ? [item.sample(now)] : []),
});

/** An object of these fields. */
export const object = <Table extends Fields>(table: Table): Field<DataOf<Table>> => ({
  schema: {
    type: 'object',
    properties: mapFields(table, ({ schema }) => schema),
    required: Object.keys(table),
  },
  sample: (now) => mapFields(table, ({ sample }) => sample(now)) as DataOf<Table>,
});

/** A list of objects, which GraphQL shows in `data` only. */
export const listed = <Item>(item: Field<Item>): Field<readonly Item[]> => ({
  schema: { type: 'array', items: item.schema },
  sample: (now) => [item.sample(now)],
});

const mapFields = <Result>(table: Fields, map: (field: Field) => Result) =>
  Object.fromEntries(Object.entries(table).map(([name, field]) => [name, map(field)]));

/** The id of a record that is named by its id or by an object with its id; null if none is named. */
export const idIn = (named: unknown): string | null =>
  typeof named === 'string' ? named : ((named as { readonly id: string } | null)?.id ?? null);
