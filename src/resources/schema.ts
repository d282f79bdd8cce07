import type { SigningAlgorithm } from '../config.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import { builder } from '../graphql/builder.ts';
import { addRecordQueries, orders, textSearch } from '../graphql/lists/record-queries.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { SigningAlgorithmEnum } from '../graphql/signing-algorithm.ts';
import { kindOfId } from '../ids.ts';
import {
  createResource,
  createScope,
  deleteResource,
  deleteScope,
  updateResource,
  updateScope,
} from './operations.ts';

/** An API that access tokens can be issued for. */
const Resource = builder.prismaNode('Resource', {
  nullable: true,
  id: { field: 'id', description: "The resource's id: a TypeID with the prefix `res`." },
  description: 'An API that access tokens can be aimed at.',
  authScopes: { scope: 'resources:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its display name.' }),
    indicator: t.exposeString('indicator', {
      description:
        "The resource indicator (RFC 8707): an absolute URI, the `aud` of the resource's tokens.",
    }),
    accessTokenTtlSeconds: t.exposeInt('accessTokenTtlSeconds', {
      description: 'How long its access tokens live, in seconds.',
    }),
    signingAlg: t.field({
      type: SigningAlgorithmEnum,
      nullable: true,
      description: 'How its access tokens are signed; null: as the service signs.',
      select: { signingAlg: true },
      resolve: ({ signingAlg }) => signingAlg as SigningAlgorithm | null,
    }),
    scopes: t.relatedConnection(
      'scopes',
      {
        description: 'The scopes it defines, by name.',
        cursor: 'id',
        query: { orderBy: [{ name: 'asc' }, { id: 'asc' }] },
        totalCount: true,
      },
      ScopeConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** What can stand in the `scope` of a token: a scope of a resource, or of organizations. */
export const AnyScope = builder
  .interfaceRef<{
    readonly id: string;
    readonly name: string;
    readonly description: string | null;
  }>('AnyScope')
  .implement({
    description:
      'What can stand in the `scope` of a token: a scope of a resource, or of organizations.',
    resolveType: ({ id }) => kindOfId(id) as string,
    fields: (t) => ({
      id: t.exposeID('id', { description: "The scope's id." }),
      name: t.exposeString('name', { description: 'Its name, as in `scope`.' }),
      description: t.exposeString('description', {
        nullable: true,
        description: 'What it allows.',
      }),
    }),
  });

/** A right that a resource defines and that roles hold. */
export const Scope = builder.prismaNode('Scope', {
  interfaces: [AnyScope],
  nullable: true,
  id: { field: 'id', description: "The scope's id: a TypeID with the prefix `scope`." },
  description: 'A right that a resource defines and that roles hold.',
  authScopes: { scope: 'resources:read' },
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'A scope token (RFC 6749 §3.3), such as `orders:read`. Unique in its resource.',
    }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'The access that it allows.',
    }),
    resource: t.relation('resource', { description: 'The resource that defines it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of scopes. */
export const ScopeConnection = addRecordQueries(Scope, {
  names: ['scope', 'scopes'],
  descriptions: { list: 'The scopes of all resources, newest first by default.' },
  scope: 'resources:read',
  search: textSearch,
  filter: (t) => ({ resourceId: t.id({ description: 'The resource that defines it.' }) }),
  where: ({ resourceId }) => ({ resourceId: resourceId ?? undefined }),
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

addRecordQueries(Resource, {
  names: ['resource', 'resources'],
  scope: 'resources:read',
  search: {
    columns: ['name', 'indicator', 'id'],
    description: 'the name, the indicator or the id',
  },
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

const resourceMutations = recordMutations('resource', Resource, { scope: 'resources:write' });
const scopeMutations = recordMutations('scope', Scope, { scope: 'resources:write' });

const ttlField = (t: InputFields) =>
  t.int({ description: 'How long its access tokens live: 1 to 2592000 seconds, 3600 by default.' });

const algorithmField = (t: InputFields) =>
  t.field({
    type: SigningAlgorithmEnum,
    description:
      'How its access tokens are signed, for libraries that accept only some algorithms; null: as the service signs. A missing key is made, and signs after `SIGNING_KEY_LEAD_SECONDS`; until then the tokens are signed as before.',
  });

resourceMutations.add('createResource', {
  description:
    'Registers an API that access tokens can be aimed at. Raises `Resource.Created`, and `SigningKey.Rotated` if a key for `signingAlg` is made.',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    indicator: t.string({
      required: true,
      description:
        'The resource indicator (RFC 8707): an absolute URI without a fragment. Unique, in whatever spelling (RFC 3986 §6.2.2, §6.2.3); it cannot be changed.',
    }),
    accessTokenTtlSeconds: ttlField(t),
    signingAlg: algorithmField(t),
  }),
  errors: [InvalidInputError, ConflictError],
  operation: (context, input) => createResource(context, input),
});

resourceMutations.add('updateResource', {
  description:
    "Changes a resource's name, the lifetime of its tokens or their algorithm. Raises `Resource.Data.Updated` if something changed, and `SigningKey.Rotated` if a key for `signingAlg` is made.",
  input: (t) => ({
    id: resourceMutations.id(t),
    name: t.string({ description: 'At most 128 characters.' }),
    accessTokenTtlSeconds: ttlField(t),
    signingAlg: algorithmField(t),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => updateResource(context, input),
});

resourceMutations.addDeletion('deleteResource', {
  description:
    'Deletes a resource with its scopes. Raises `Role.Scopes.Updated` and `OrganizationRole.Scopes.Updated` for each role that loses scopes, then `Scope.Deleted` for each scope and `Resource.Deleted`.',
  errors: [NotFoundError, NotAllowedError],
  model: ({ resource }) => resource,
  operation: deleteResource,
});

scopeMutations.add('createScope', {
  description: 'Adds a scope to a resource. Raises `Scope.Created`.',
  input: (t) => ({
    resourceId: t.id({ required: true, description: 'The resource that defines it.' }),
    name: t.string({
      required: true,
      description: 'A scope token (RFC 6749 §3.3), at most 128 characters. Unique in its resource.',
    }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => createScope(context, input),
});

scopeMutations.add('updateScope', {
  description: 'Changes a scope. Raises `Scope.Data.Updated` if something changes.',
  input: (t) => ({
    id: scopeMutations.id(t),
    name: t.string({ description: 'A scope token (RFC 6749 §3.3). Unique in its resource.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => updateScope(context, input),
});

scopeMutations.addDeletion('deleteScope', {
  description:
    'Deletes a scope. Raises `Role.Scopes.Updated` and `OrganizationRole.Scopes.Updated` for each role that loses it, then `Scope.Deleted`.',
  errors: [NotFoundError, NotAllowedError],
  model: ({ scope }) => scope,
  operation: deleteScope,
});
