import { builder } from '../../graphql/builder.ts';
import { type Fields, graphQLTypeOf, type ValueType } from './fields.ts';
import { type RecordModel, records } from './records.ts';

const defineSnapshot = (model: RecordModel) =>
  builder.objectRef<Record<string, unknown>>(`${model}Snapshot`).implement({
    description: `${/^[AEIO]/.test(model) ? 'An' : 'A'} ${wordsOf(model)} as the event recorded it: as it was written, or as it was before its deletion. A field is also null if the event is older than the field.`,
    fields: (t) =>
      Object.fromEntries(
        Object.entries<Fields[string]>(records[model]).flatMap(([field, { typed }]) =>
          typed?.kind === 'value'
            ? [
                [
                  // Not `id`: client caches would merge all snapshots of a record into one.
                  field === 'id' ? 'recordId' : field,
                  t.field({
                    type: graphQLTypeOf(typed.type),
                    // A field that an old event lacks must not fail the whole answer.
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
/** A value of an event's data as GraphQL shows it; null if the event is older than the field. */
export const shownValue = (type: ValueType, value: unknown): never =>
  (type === 'DateTime' && value != null ? new Date(String(value)) : (value ?? null)) as never;

const capital = /(?<=[a-z])[A-Z]/g;

/** The name of a kind of record in words: `organization role`. */
export const wordsOf = (model: RecordModel): string =>
  model.replaceAll(capital, (letter) => ` ${letter}`).toLowerCase();

/** The event field that resolves to the record as it is now: `organizationRole`. */
export const liveFieldOf = (model: RecordModel): string =>
  `${model.charAt(0).toLowerCase()}${model.slice(1)}`;

/** The event field that holds the record as the event recorded it: `userSnapshot`. */
export const snapshotFieldOf = (model: RecordModel): string => `${liveFieldOf(model)}Snapshot`;

/** The GraphQL types of the records that events hold whole. */
export const snapshotTypes = {
  User: defineSnapshot('User'),
  Role: defineSnapshot('Role'),
  Scope: defineSnapshot('Scope'),
  Organization: defineSnapshot('Organization'),
  OrganizationRole: defineSnapshot('OrganizationRole'),
  OrganizationScope: defineSnapshot('OrganizationScope'),
  Resource: defineSnapshot('Resource'),
  Application: defineSnapshot('Application'),
  Webhook: defineSnapshot('Webhook'),
  IdentityProvider: defineSnapshot('IdentityProvider'),
  TrustedIssuer: defineSnapshot('TrustedIssuer'),
  CrossAppConnection: defineSnapshot('CrossAppConnection'),
  OrganizationInvitation: defineSnapshot('OrganizationInvitation'),
};
