import type { ManagementScope } from '../auth/scopes.ts';
import { ConfigurationMovedError, InvalidInputError, NotAllowedError } from '../errors.ts';
import { builder } from '../graphql/builder.ts';
import { addMutation, type PayloadFields } from '../graphql/mutations/mutation.ts';
import { applyConfiguration, type Plan, planConfiguration } from './apply.ts';
import type { Change, changeActions, FieldChange } from './changes.ts';
import { type DocumentFormat, printDocument } from './document.ts';
import { type KindName, kindNames } from './kinds.ts';
import { readState, type State } from './state.ts';

/** What whoever reads the configuration reads. */
const scopes = [
  'resources:read',
  'roles:read',
  'organizations:read',
  'applications:read',
  'webhooks:read',
  'experience:read',
] as const satisfies readonly ManagementScope[];

const kindTexts: Readonly<Record<KindName, string>> = {
  RESOURCE: 'An API.',
  SCOPE: 'A scope of an API.',
  ROLE: 'A role.',
  ORGANIZATION_SCOPE: 'A scope of organizations.',
  ORGANIZATION_ROLE: 'A role in organizations.',
  APPLICATION: 'An application.',
  TRUSTED_ISSUER: 'An issuer whose assertions get tokens for an application.',
  CROSS_APP_CONNECTION: 'Where an application may take the identities of its users.',
  WEBHOOK: 'A webhook.',
  IDENTITY_PROVIDER: 'An identity provider.',
  MESSAGE_SENDER: 'The sender of a channel of messages.',
  SIGN_IN_EXPERIENCE:
    'How people sign up and sign in; pruned, the fields that are left out go back to their defaults.',
};

const ConfigurationKindEnum = builder.enumType('ConfigurationKind', {
  description: 'A kind of record of the configuration.',
  // The compiler does not see that the entries are those of the kinds.
  values: Object.fromEntries(
    kindNames.map((kind) => [kind, { description: kindTexts[kind] }]),
  ) as Record<KindName, { description: string }>,
});

const ConfigurationFormatEnum = builder.enumType('ConfigurationFormat', {
  description: 'A form of a document.',
  values: {
    YAML: { description: 'YAML 1.2.' },
    JSON: { description: 'JSON.' },
  } as const satisfies Record<DocumentFormat, object>,
});

const ConfigurationActionEnum = builder.enumType('ConfigurationAction', {
  description: 'What a change does to a record.',
  values: {
    CREATE: { description: 'It is created.' },
    UPDATE: { description: 'Some of its fields change.' },
    DELETE: { description: 'It is deleted.' },
  } as const satisfies Record<(typeof changeActions)[number], object>,
});

const digestText = 'Changes with each change of the configuration, its secrets included.';

const Configuration = builder.objectRef<State>('Configuration').implement({
  description:
    'What an operator decides: resources, roles, applications with those whom they trust, organization roles and scopes, webhooks, identity providers, message senders and the sign-in experience. Signet’s own records are left out.',
  fields: (t) => ({
    document: t.string({
      description:
        'The configuration as one document, sorted, without secrets: in the place of each stands the name of a variable.',
      args: {
        format: t.arg({
          type: ConfigurationFormatEnum,
          defaultValue: 'YAML',
          required: true,
          description: 'Its form.',
        }),
      },
      resolve: (state, { format }) => printDocument(state, format),
    }),
    digest: t.exposeString('digest', { description: digestText }),
  }),
});

builder.queryFields((t) => ({
  configuration: t.field({
    type: Configuration,
    description: 'The configuration as it is.',
    authScopes: { scope: scopes },
    resolve: (_root, _args, context, { schema }) => readState(context, schema),
  }),
}));

const ConfigurationFieldChange = builder
  .objectRef<FieldChange>('ConfigurationFieldChange')
  .implement({
    description: 'A value that changes. Of a secret only that it changes is told.',
    fields: (t) => ({
      path: t.stringList({
        description: 'The path of the value in the record.',
        resolve: ({ path }) => [...path],
      }),
      before: t.expose('before', { type: 'JSON', nullable: true, description: 'The value now.' }),
      after: t.expose('after', { type: 'JSON', nullable: true, description: 'The value then.' }),
    }),
  });

const ConfigurationChange = builder.objectRef<Change>('ConfigurationChange').implement({
  description: 'A record that a document changes.',
  fields: (t) => ({
    action: t.expose('action', {
      type: ConfigurationActionEnum,
      description: 'What happens to the record.',
    }),
    kind: t.expose('kind', { type: ConfigurationKindEnum, description: 'Its kind.' }),
    key: t.exposeString('key', {
      description:
        'What people call it: the indicator of a resource, or a name; before a part of another record, what that is called.',
    }),
    fields: t.field({
      type: [ConfigurationFieldChange],
      description: 'The values that change.',
      resolve: ({ fields }) => [...fields],
    }),
  }),
});

const ConfigurationEvent = builder
  .objectRef<Plan['events'][number]>('ConfigurationEvent')
  .implement({
    description: 'An event that a document raises.',
    fields: (t) => ({
      type: t.exposeString('type', { description: 'Its name in the catalogue.' }),
    }),
  });

const ConfigurationWarning = builder
  .objectRef<Plan['warnings'][number]>('ConfigurationWarning')
  .implement({
    description: 'Something that an operator should know.',
    fields: (t) => ({ message: t.exposeString('message', { description: 'A sentence.' }) }),
  });

const ConfigurationPlan = builder.objectRef<Plan>('ConfigurationPlan').implement({
  description: 'What a document comes to.',
  fields: (t) => ({
    digest: t.exposeString('digest', {
      description: `The digest of the configuration that the document was compared with. ${digestText}`,
    }),
    changes: t.field({
      type: [ConfigurationChange],
      description: 'The records that change. Empty: the configuration is as the document wants it.',
      resolve: ({ changes }) => [...changes],
    }),
    events: t.field({
      type: [ConfigurationEvent],
      description: 'The events that the changes raise, in their order.',
      resolve: ({ events }) => [...events],
    }),
    warnings: t.field({
      type: [ConfigurationWarning],
      description: 'What an operator should know.',
      resolve: ({ warnings }) => [...warnings],
    }),
  }),
});

const planPayload = (description: string) => (t: PayloadFields<{ plan: Plan }>) => ({
  plan: t.field({ type: ConfigurationPlan, description, resolve: ({ plan }) => plan }),
});

const errors = [InvalidInputError, NotAllowedError, ConfigurationMovedError] as const;
const documentText =
  'The document, YAML 1.2 or JSON; `/api/configuration.schema.json` describes it. At most 1 MiB. Secrets stand in it in clear, or as `{ env: NAME }`: then the stored one stays.';
const pruneText =
  'The kinds of which the document names all that may stay: others of these kinds are deleted, but for Signet’s own. Otherwise what it leaves out stays.';

addMutation('planConfiguration', {
  description:
    'Finds what a document would change, and changes nothing: all is tried and undone. Requires the scopes that the changes require. Raises no event.',
  scope: scopes,
  input: (t) => ({
    document: t.string({ required: true, description: documentText }),
    prune: t.field({ type: [ConfigurationKindEnum], description: pruneText }),
  }),
  payload: planPayload('What the document would change.'),
  errors,
  resolve: async (input, context, { schema }) => ({
    plan: await planConfiguration(context, schema, input),
  }),
});

addMutation('applyConfiguration', {
  description:
    'Makes the configuration what a document wants, in one transaction, or not at all. Each change is made by its own mutation, with the scopes and the events of that. A second time it changes nothing.',
  scope: scopes,
  input: (t) => ({
    document: t.string({ required: true, description: documentText }),
    prune: t.field({ type: [ConfigurationKindEnum], description: pruneText }),
    expectedDigest: t.string({
      description:
        'The digest that the configuration must have, from a plan: otherwise nothing is written, and `ConfigurationMovedError` tells the current one.',
    }),
  }),
  payload: planPayload('What was changed.'),
  errors,
  resolve: async (input, context, { schema }) => ({
    plan: await applyConfiguration(context, schema, input),
  }),
});
