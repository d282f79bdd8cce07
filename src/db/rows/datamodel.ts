import { getDatamodel } from '../../generated/pothos.ts';

/** A column of a table, or a relation to other rows. */
export interface ModelField {
  readonly name: string;
  readonly kind: 'scalar' | 'enum' | 'object';
  /** The type of its values, or the model of the rows. */
  readonly type: string;
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly isId: boolean;
  /** Of a relation: both of its sides have the same name. */
  readonly relationName?: string;
  /** Of a relation: the columns that hold the key of the other row; empty on the other side. */
  readonly relationFromFields?: readonly string[];
}

/** A table. */
export interface Model {
  readonly fields: readonly ModelField[];
  /** Its primary key, if that has several columns. */
  readonly primaryKey: { readonly fields: readonly string[] } | null;
}

/**
 * What Prisma knows of the tables, as Pothos needs it too. It leaves out the names that `@map` gives to columns: the
 * models that are read by these have none.
 */
// The generated type says less than what is there.
export const datamodel = getDatamodel() as unknown as {
  readonly datamodel: { readonly models: Readonly<Record<string, Model>> };
};
