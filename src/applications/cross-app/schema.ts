import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../../errors.ts';
import { builder } from '../../graphql/builder.ts';
import { addRecordQueries, orders } from '../../graphql/lists/record-queries.ts';
import type { InputFields } from '../../graphql/mutations/mutation.ts';
import { recordMutations } from '../../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../../graphql/mutations/versions.ts';
import {
  createCrossAppConnection,
  deleteCrossAppConnection,
  updateCrossAppConnection,
} from './operations.ts';

const CrossAppConnection = builder.prismaNode('CrossAppConnection', {
  nullable: true,
  id: { field: 'id', description: "The connection's id: a TypeID with the prefix `crossapp`." },
  description:
    'Where an application may take the identities of its users: to an authorization server elsewhere, which takes an identity assertion (ID-JAG) of this service for an access token.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    application: t.relation('application', { description: 'The application.' }),
    issuer: t.exposeString('issuer', {
      description: 'The issuer of the other authorization server: the `audience` of requests.',
    }),
    clientId: t.exposeString('clientId', { description: 'The id of the application there.' }),
    scopes: t.exposeStringList('scopes', {
      description: 'The scopes there that an identity assertion may name.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

addRecordQueries(CrossAppConnection, {
  names: ['crossAppConnection', 'crossAppConnections'],
  noun: 'connection',
  scope: 'applications:read',
  search: {
    columns: ['issuer', 'clientId', 'id'],
    description: 'the issuer, the client id or the id',
  },
  filter: (t) => ({ applicationId: t.id({ description: 'Is of this application.' }) }),
  where: ({ applicationId }) => ({ applicationId: applicationId ?? undefined }),
  order: { CREATED_AT: orders.byCreation },
});

const mutations = recordMutations('crossAppConnection', CrossAppConnection, {
  scope: 'applications:write',
  noun: 'connection',
});

const inputFields = (t: InputFields, required: boolean) => ({
  issuer: t.string({
    required,
    description: 'The issuer of the other authorization server, letter for letter.',
  }),
  clientId: t.string({ required, description: 'The id of the application there.' }),
  scopes: t.stringList({
    description: 'The scopes there that an identity assertion may name, at most 100.',
  }),
});

mutations.add('createCrossAppConnection', {
  description:
    'Lets an application take the identities of its users to another authorization server. Raises `CrossAppConnection.Created`.',
  input: (t) => ({
    applicationId: t.id({
      required: true,
      description: 'The application: one that authenticates, and is no third party’s.',
    }),
    ...inputFields(t, true),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  // GraphQL requires what the type of `inputFields` leaves optional.
  operation: (context, input) => createCrossAppConnection(context, input as never),
});

mutations.add('updateCrossAppConnection', {
  description:
    'Changes a connection; its application cannot change. An absent field stays as it is; null clears it. Raises `CrossAppConnection.Data.Updated` if something changed.',
  input: (t) => ({ id: mutations.id(t), ...inputFields(t, false) }),
  errors: [InvalidInputError, NotFoundError, ConflictError],
  operation: (context, input) => updateCrossAppConnection(context, input),
});

mutations.addDeletion('deleteCrossAppConnection', {
  description:
    'Deletes a connection: the application gets no more identity assertions for that issuer. Raises `CrossAppConnection.Deleted`.',
  model: ({ crossAppConnection }) => crossAppConnection,
  operation: deleteCrossAppConnection,
});
