import { builder } from '../graphql/builder.ts';
import type { Fields, ValueType } from './fields.ts';
import { type RecordModel, records } from './records.ts';

const defineSnapshot = (model: RecordModel) =>
  builder.objectRef<Record<string, unknown>>(`${model}Snapshot`).implement({
    description: `${/^[AEIO]/.test(model) ? 'An' : 'A'} ${wordsOf(model)} as the event has it: as it was written, or as it last was. A field is null too where the event is older than the field.`,
    fields: (t) =>
      Object.fromEntries(
        Object.entries<Fields[string]>(records[model]).flatMap(([field, { typed }]) =>
          typed?.kind === 'value'
            ? [
                [
                  // Named `id`, it would have a client's cache take all snapshots of a record for one.
                  field === 'id' ? 'recordId' : field,
                  t.field({
                    type: typed.type,
                    // What an event of years ago does not have yet must not be the end of the whole answer.
                    nullable: field !== 'id',
                    description: typed.description,
                    resolve: (record) => shownValue(typed.type, record[field]),
                  }),
                ],
              ]
            : [],
        ),
      ),
  });

// `never` fits every field: the catalogue binds the field's type to the data, and the compiler does not follow.
/** A value of an event's data as GraphQL shows it: null too where the event is older than the field. */
export const shownValue = (type: ValueType, value: unknown): never =>
  (type === 'DateTime' && value != null ? new Date(String(value)) : (value ?? null)) as never;

const capital = /(?<=[a-z])[A-Z]/g;

/** A kind of record in words: `organization role`. */
export const wordsOf = (model: RecordModel): string =>
  model.replaceAll(capital, (letter) => ` ${letter}`).toLowerCase();

/** The field of the events about its kind of record that holds it as it is now: `organizationRole`. */
export const liveFieldOf = (model: RecordModel): string =>
  `${model.charAt(0).toLowerCase()}${model.slice(1)}`;

/** The field that holds a snapshot in the events about its kind of record: `userSnapshot`. */
export const snapshotFieldOf = (model: RecordModel): string => `${liveFieldOf(model)}Snapshot`;

/** The GraphQL types of the records that events hold whole. */
export const snapshotTypes = {
  User: defineSnapshot('User'),
  Role: defineSnapshot('Role'),
  Scope: defineSnapshot('Scope'),
  Organization: defineSnapshot('Organization'),
  OrganizationRole: defineSnapshot('OrganizationRole'),
  OrganizationScope: defineSnapshot('OrganizationScope'),
};
