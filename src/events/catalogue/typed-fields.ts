import { builder, type SchemaTypes } from '../../graphql/builder.ts';
import type { LoggedEvent } from '../log.ts';
import { definitionOf, type EventName, recordIn, subjectIdOf } from './catalogue.ts';
import {
  asItIsNow,
  type Fields,
  graphQLTypeOf,
  idIn,
  type LiveField,
  type TypedField,
} from './fields.ts';
import { findLive, findOneLive } from './live-records.ts';
import { type Changes, type RecordModel, records } from './records.ts';
import { liveFieldOf, shownValue, snapshotFieldOf, snapshotTypes, wordsOf } from './snapshots.ts';

type FieldBuilder = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, LoggedEvent>;

/** The length of an event's list that the cost of a request assumes. Few lists are longer. */
const listCost = 10;

const FieldChange = builder
  .objectRef<{ field: string; from: unknown; to: unknown }>('FieldChange')
  .implement({
    description: 'A field that an update changed.',
    fields: (t) => ({
      field: t.exposeString('field', { description: 'Its name.' }),
      from: t.expose('from', { type: 'JSON', nullable: true, description: 'Its value before.' }),
      to: t.expose('to', { type: 'JSON', nullable: true, description: 'Its value after.' }),
    }),
  });

/** The fields that an event's GraphQL type adds to the interface `Event`, made from the catalogue. */
export function typedFieldsOf(t: FieldBuilder, name: EventName) {
  const { data, holds } = definitionOf(name);
  const ofRecord: Fields = holds ? records[holds] : {};
  const entries = Object.entries(data).flatMap(([key, field]) =>
    // The snapshot already has the record's own fields.
    field.typed && field !== ofRecord[key] ? [typedField(t, key, field.typed)] : [],
  );
  return { ...Object.fromEntries(entries), ...(holds && recordFields(t, name, holds)) };
}

function typedField(t: FieldBuilder, key: string, typed: TypedField) {
  switch (typed.kind) {
    case 'value':
      return [key, valueField(t, key, typed)] as const;
    case 'record':
      return [typed.name, liveField(t, typed, (data) => idIn(data[key]))] as const;
    case 'records':
      return [typed.name, liveList(t, typed, key)] as const;
    case 'changes':
      return [key, changesField(t, key)] as const;
  }
}

const valueField = (
  t: FieldBuilder,
  key: string,
  { type, description }: Extract<TypedField, { kind: 'value' }>,
) =>
  t.field({
    type: graphQLTypeOf(type),
    nullable: true,
    description,
    resolve: ({ data }) => shownValue(type, data[key]),
  });

const liveField = (
  t: FieldBuilder,
  { model, description }: Pick<LiveField, 'model' | 'description'>,
  idOf: (data: LoggedEvent['data']) => string | null,
) =>
  t.prismaField({
    type: model,
    nullable: true,
    description,
    resolve: (query, { data }, _args, context) => findOneLive(context, model, idOf(data), query),
  });

const liveList = (t: FieldBuilder, { model, description }: LiveField, key: string) =>
  t.prismaField({
    type: [model],
    // Nullable, so that a reader without the right to these records still gets the event.
    nullable: true,
    description,
    complexity: { field: 1, multiplier: listCost },
    resolve: async (query, { data }, _args, context) => {
      const ids = (data[key] as readonly unknown[]).map((named) => idIn(named) as string);
      const found = await findLive(context, model, ids, query);
      // They are rows of the model; its name is known only at run time, so the row's type is not.
      return found.filter((record) => record !== null) as never;
    },
  });

const changesField = (t: FieldBuilder, key: string) =>
  t.field({
    type: [FieldChange],
    description: 'The content of `data.changes`, typed: the fields that changed.',
    resolve: ({ data }) =>
      Object.entries((data[key] ?? {}) as Changes).map(([field, { from, to }]) => ({
        field,
        from,
        to,
      })),
  });

const recordFields = (t: FieldBuilder, name: EventName, model: RecordModel) => ({
  [liveFieldOf(model)]: liveField(
    t,
    { model, description: `The ${wordsOf(model)} ${asItIsNow}` },
    (data) => subjectIdOf(name, data),
  ),
  [snapshotFieldOf(model)]: t.field({
    type: snapshotTypes[model],
    description: 'The record in `data`, typed. It stays readable after the record is deleted.',
    resolve: ({ data }) => recordIn(name, data),
  }),
});
