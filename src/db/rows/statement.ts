import { textForQuery } from '../sql.ts';
import { datamodel, type Model, type ModelField } from './datamodel.ts';

/** What Prisma's `findMany` takes. Anything else of it than what is here is {@link NotByDriver}. */
export interface RowsQuery {
  readonly where?: object | undefined;
  readonly orderBy?: object | readonly object[] | undefined;
  readonly take?: number | undefined;
  readonly select?: Readonly<Record<string, boolean | RowsQuery | undefined>> | undefined;
  readonly include?: Readonly<Record<string, boolean | RowsQuery | undefined>> | undefined;
}

/** A query holds something that no statement is made for here. */
export class NotByDriver extends Error {}

/** One statement that reads the rows of a query. */
export interface RowsStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** The row as Prisma gives it, of the driver's. */
  readonly read: (row: FoundRow) => FoundRow;
}

/** A row as the driver reads it. */
export type FoundRow = Record<string, unknown>;

const known = new Set(['where', 'orderBy', 'take', 'select', 'include']);
// Those of others are read differently by the driver and by Prisma.
const readable = new Set(['String', 'Boolean', 'Int', 'BigInt', 'DateTime', 'Json', 'Bytes']);

/**
 * Makes the statement of a query. Rows of relations come with it, as JSON.
 *
 * @throws {NotByDriver}
 */
export function statementOf(name: string, query: RowsQuery): RowsStatement {
  return new Writing().statement(name, query);
}

function modelOf(name: string): Model {
  const model = datamodel.datamodel.models[name];
  if (!model) throw new NotByDriver(`There is no model ${name}.`);
  return model;
}

/** The rows of a relation as an expression of JSON, and what makes rows of its value. */
interface InJson {
  readonly text: string;
  readonly read: (value: unknown) => unknown;
}

/** Writes one statement. */
class Writing {
  readonly #values: unknown[] = [];
  #tables = 0;

  statement(name: string, query: RowsQuery): RowsStatement {
    const model = modelOf(name);
    const { columns, relations } = selectionOf(model, query);
    const table = this.#table();
    const inJson = relations.map(([field, part]) => {
      const { text, read } = this.#relation(model, table, field, part);
      return { name: field.name, text, read };
    });
    const listed = [
      ...columns.map((column) => `${table}.${quoted(column.name)}`),
      ...inJson.map((relation) => `${relation.text} AS ${quoted(relation.name)}`),
    ];
    const text = `SELECT ${listed.join(', ')} ${this.#from(name, model, table, query)}`;
    const readers = [
      ...columns.flatMap((column) => {
        const read = fromDriver(column);
        return read ? [{ name: column.name, read }] : [];
      }),
      ...inJson,
    ];
    return {
      text,
      values: this.#values,
      read(row) {
        for (const { name, read } of readers) row[name] = read(row[name]);
        return row;
      },
    };
  }

  #table(): string {
    this.#tables += 1;
    return `t${this.#tables}`;
  }

  #value(value: unknown): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  #from(name: string, model: Model, table: string, query: RowsQuery, joined?: string): string {
    if (Object.keys(query).some((key) => !known.has(key))) throw new NotByDriver();
    const conditions = [joined ?? [], this.#condition(model, table, query.where ?? {})].flat();
    const { take } = query;
    const order = [query.orderBy ?? []].flat().map((part) => orderOf(model, table, part));
    return [
      `FROM ${quoted(name)} ${table} WHERE ${conditions.join(' AND ')}`,
      order.length > 0 ? `ORDER BY ${order.join(', ')}` : [],
      // As a part of the text: a plan for any limit would expect a tenth of the table.
      take === undefined ? [] : `LIMIT ${countOf(take)}`,
    ]
      .flat()
      .join(' ');
  }

  #relation(model: Model, table: string, field: ModelField, query: RowsQuery): InJson {
    const target = modelOf(field.type);
    const other = this.#table();
    const joined = joinOf({ model, table, field }, target, other);
    const { columns, relations } = selectionOf(target, query);
    const inside = relations.map(([inner, part]) => ({
      name: inner.name,
      ...this.#relation(target, other, inner, part),
    }));
    const parts = [
      ...columns.map((column) => jsonOf(column, `${other}.${quoted(column.name)}`)),
      ...inside.map(({ text }) => text),
    ];
    const from = this.#from(field.type, target, other, query, joined);
    const row = `json_build_array(${parts.join(', ')})`;
    const readers = [
      ...columns.map((column) => ({ name: column.name, read: fromJson(column) })),
      ...inside,
    ];
    const readRow = (values: readonly unknown[]) => {
      const object: Record<string, unknown> = {};
      for (const [i, { name, read }] of readers.entries()) object[name] = read(values[i]);
      return object;
    };
    return field.isList
      ? {
          text: `(SELECT json_agg("row") FROM (SELECT ${row} AS "row" ${from}) ${this.#table()})`,
          read: (rows: unknown) => ((rows ?? []) as unknown[][]).map(readRow),
        }
      : {
          text: `(SELECT ${row} ${from})`,
          read: (one: unknown) => (one === null ? null : readRow(one as unknown[])),
        };
  }

  /** A condition that is true or false of a row; with `OR` in brackets. */
  #condition(model: Model, table: string, condition: object | null): string {
    if (condition === null) throw new NotByDriver();
    const parts = Object.entries(condition).flatMap(([key, value]): string | string[] => {
      if (value === undefined) return [];
      const nested = () =>
        [value as object | object[]].flat().map((part) => this.#condition(model, table, part));
      if (key === 'AND') return nested().filter((part) => part !== 'TRUE');
      if (key === 'OR') {
        const any = nested();
        // To Prisma an empty part is none, and not one that every row meets.
        if (any.length === 0 || any.includes('TRUE')) throw new NotByDriver(key);
        return `(${any.map((part) => `(${part})`).join(' OR ')})`;
      }
      return this.#comparison(columnOf(model, key), `${table}.${quoted(key)}`, value);
    });
    return parts.length === 0 ? 'TRUE' : parts.join(' AND ');
  }

  #comparison(column: ModelField, place: string, value: unknown): string[] {
    // Prisma refuses to look for what cannot be: a cursor of another list may hold it.
    const nullable = () => {
      if (column.isRequired) throw new NotByDriver(column.name);
      return place;
    };
    if (value === null) return [`${nullable()} IS NULL`];
    if (typeof value !== 'object' || value instanceof Date)
      return [`${place} = ${this.#value(comparedWith(column, value))}`];
    return Object.entries(value).flatMap(([key, operand]) => {
      if (operand === undefined) return [];
      if (key === 'not' && operand === null) return [`${nullable()} IS NOT NULL`];
      if (key === 'in' && Array.isArray(operand)) {
        const each = operand.map((one) => comparedWith(column, one));
        const list = this.#value(each);
        // Ids are unique, so one plan is as good for any list. As an expression, the planner does not look into it.
        const hidden = column.isId && column.type === 'String';
        return [`${place} = ANY(${hidden ? `(SELECT ${list}::text[])::text[]` : list})`];
      }
      const operator = operators.get(key);
      if (operator === undefined) throw new NotByDriver(key);
      return [`${place} ${operator} ${this.#value(comparedWith(column, operand))}`];
    });
  }
}

const operators: ReadonlyMap<string, string> = new Map([
  ['equals', '='],
  ['gt', '>'],
  ['gte', '>='],
  ['lt', '<'],
  ['lte', '<='],
]);

const quoted = (name: string): string => `"${name}"`;

function fieldOf({ fields }: Model, name: string): ModelField {
  const field = fields.find((one) => one.name === name);
  if (!field) throw new NotByDriver(name);
  return field;
}

function columnOf(model: Model, name: string): ModelField {
  const field = fieldOf(model, name);
  if (field.kind === 'object') throw new NotByDriver(name);
  return field;
}

function selectionOf(model: Model, { select, include }: RowsQuery) {
  const columns: ModelField[] = [];
  const relations: [ModelField, RowsQuery][] = [];
  if (!select) columns.push(...model.fields.filter(({ kind }) => kind !== 'object'));
  for (const [name, value] of Object.entries(select ?? include ?? {})) {
    if (!value) continue;
    const field = fieldOf(model, name);
    if (field.kind === 'object') relations.push([field, value === true ? {} : value]);
    else columns.push(field);
  }
  for (const { kind, type, isList, name } of columns) {
    if (kind === 'scalar' && (!readable.has(type) || (isList && converted.has(type))))
      throw new NotByDriver(name);
  }
  return { columns, relations };
}

type Read = (value: unknown) => unknown;

const unlessNull =
  (read: Read): Read =>
  (value) =>
    value === null ? null : read(value);

/** What makes Prisma's value of the driver's; undefined where they are the same. */
function fromDriver({ type, isList }: ModelField): Read | undefined {
  // To Prisma a list without a value is empty.
  if (isList) return (value) => value ?? [];
  return converted.get(type)?.driver;
}

/** What makes Prisma's value of a column that came as JSON. */
function fromJson({ type, isList }: ModelField): Read {
  if (isList) return (value) => value ?? [];
  if (type === 'DateTime') return unlessNull((value) => new Date(value as string));
  return converted.get(type)?.json ?? ((value) => value);
}

/** A column as a part of JSON. */
const jsonOf = ({ type }: ModelField, place: string): string =>
  converted.get(type)?.toJson(place) ?? place;

/** Types whose values the driver gives otherwise than Prisma, and that JSON cannot hold. */
const converted: ReadonlyMap<
  string,
  { readonly driver: Read; readonly json: Read; readonly toJson: (place: string) => string }
> = new Map([
  [
    'Bytes',
    {
      driver: unlessNull((value) => new Uint8Array(value as Uint8Array)),
      json: unlessNull((value) => new Uint8Array(Buffer.from(value as string, 'hex'))),
      toJson: (place) => `encode(${place}, 'hex')`,
    },
  ],
  [
    'BigInt',
    {
      driver: unlessNull((value) => BigInt(value as string)),
      json: unlessNull((value) => BigInt(value as string)),
      toJson: (place) => `${place}::text`,
    },
  ],
]);

/** The condition by which rows of a relation belong to a row. */
function joinOf(
  { model, table, field }: { model: Model; table: string; field: ModelField },
  target: Model,
  other: string,
): string {
  const { relationFromFields: from = [], relationName } = field;
  const equal = (mine: readonly string[], theirs: readonly string[]) =>
    mine.map((name, i) => `${other}.${quoted(theirs[i] ?? '')} = ${table}.${quoted(name)}`);
  if (from.length > 0) return equal(from, keyOf(target)).join(' AND ');
  const back = target.fields.find(
    (one) => one.relationName === relationName && (one.relationFromFields ?? []).length > 0,
  );
  if (!back) throw new NotByDriver(field.name);
  return equal(keyOf(model), back.relationFromFields ?? []).join(' AND ');
}

/** The primary key, which every relation refers to. */
const keyOf = ({ fields, primaryKey }: Model): readonly string[] =>
  primaryKey?.fields ?? fields.filter(({ isId }) => isId).map(({ name }) => name);

function orderOf(model: Model, table: string, order: object): string {
  const [[name, value] = ['', undefined], ...others] = Object.entries(order);
  const { sort, nulls } =
    typeof value === 'string'
      ? { sort: value }
      : ((value ?? {}) as { sort?: unknown; nulls?: unknown });
  const isKnown =
    others.length === 0 &&
    (sort === 'asc' || sort === 'desc') &&
    (nulls === undefined || nulls === 'first' || nulls === 'last');
  if (!isKnown) throw new NotByDriver(name);
  const place = `${table}.${quoted(columnOf(model, name).name)} ${sort.toUpperCase()}`;
  return nulls ? `${place} NULLS ${nulls.toUpperCase()}` : place;
}

function countOf(take: number): number {
  if (!Number.isSafeInteger(take) || take < 0) throw new NotByDriver('take');
  return take;
}

// As cursors hold them. Prisma says what is wrong with others.
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A value to compare a column with, if its type is the column's. */
function comparedWith({ kind, type, isList, name }: ModelField, value: unknown): unknown {
  if (kind === 'scalar' && !isList) {
    if (type === 'String' && textForQuery(value) !== null) return value;
    if (type === 'Boolean' && typeof value === 'boolean') return value;
    if (type === 'Int' && Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31)
      return value;
    if (type === 'DateTime') {
      const date = typeof value === 'string' && instant.test(value) ? new Date(value) : value;
      if (date instanceof Date && !Number.isNaN(date.getTime())) return date;
    }
  }
  throw new NotByDriver(name);
}
