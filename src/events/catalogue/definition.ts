import type { DataOf, Fields } from './fields.ts';
import { changes, type RecordModel, records } from './records.ts';

/** A type of event. */
export interface EventDefinition {
  /** When it is recorded, for readers of the schema and the documentation. */
  readonly description: string;
  readonly data: Fields;
  /**
   * The field of `data` that names the record it is about: its id, or the whole record. Null: it is about no record.
   */
  readonly subject: string | null;
  /** The kind of record that `data` holds whole: the subject, as written. */
  readonly holds?: RecordModel;
  /** Sample values that replace those of the fields. */
  readonly sample?: Data;
}

/** The JSON of an event. */
export type Data = Readonly<Record<string, unknown>>;

/** The entry of a type, which says what its data is. */
export interface Entry<Table extends Fields> extends EventDefinition {
  readonly data: Table;
  readonly subject: (keyof NoInfer<Table> & string) | null;
  readonly sample?: Partial<DataOf<NoInfer<Table>>>;
}

/** Defines a type of event. */
export const define = <Table extends Fields>(entry: Entry<Table>) => entry;

type Records = typeof records;
type Updated = {
  readonly [Model in RecordModel]: Records[Model] & { readonly changes: typeof changes };
};

/** The entry of a creation or a deletion. */
export const written = <Model extends RecordModel>(
  holds: Model,
  description: string,
): Entry<Records[Model]> => ({ description, data: records[holds], subject: 'id', holds });

/** The entry of an update. */
export const updated = <Model extends RecordModel>(
  holds: Model,
  description: string,
  sample?: Partial<DataOf<Updated[Model]>>,
): Entry<Updated[Model]> => ({
  description,
  // The compiler does not carry the model over to the spread.
  data: { ...records[holds], changes } as Updated[Model],
  subject: 'id',
  holds,
  sample,
});
