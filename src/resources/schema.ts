import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  Prisma,
  Resource as ResourceRow,
  Scope as ScopeRow,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import {
  connectionOf,
  orderInput,
  readPage,
  searchDescription,
  searching,
} from '../graphql/lists/page.ts';
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutation.ts';
import {
  createResource,
  createScope,
  deleteResource,
  deleteScope,
  updateResource,
  updateScope,
} from './operations.ts';

/** An API that access tokens can be aimed at. */
export const Resource = builder.prismaNode('Resource', {
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
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A right that a resource defines and that roles hold. */
export const Scope = builder.prismaNode('Scope', {
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
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of scopes. */
export const ScopeConnection = connectionOf('Scope', Scope);

const ResourceConnection = connectionOf('Resource', Resource);

const ResourceFilter = builder.inputType('ResourceFilter', {
  description: 'Which resources to list. A match meets every field that is given.',
  fields: (t) => ({
    search: t.string({ description: searchDescription('the name, the indicator or the id') }),
  }),
});

const order = orderInput('Resource', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By creation time.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
});

function resourceWhere(
  filter: typeof ResourceFilter.$inferInput | null | undefined,
): Prisma.ResourceWhereInput {
  return searching(filter?.search, ['name', 'indicator', 'id']);
}

builder.queryFields((t) => ({
  resource: t.prismaField({
    type: 'Resource',
    nullable: true,
    description: 'A resource, or null if none has that id.',
    authScopes: { scope: 'resources:read' },
    args: { id: t.arg.id({ required: true, description: "The resource's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.resource.findUnique({ ...query, where: { id } }),
  }),
  resources: t.connection(
    {
      type: Resource,
      description: 'The resources, newest first by default.',
      authScopes: { scope: 'resources:read' },
      args: {
        filter: t.arg({ type: ResourceFilter, description: 'Which resources to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) =>
        readPage({
          args,
          context,
          info,
          model: context.database.prisma.resource,
          where: resourceWhere(args.filter),
          order: order.read(args.orderBy),
        }),
    },
    ResourceConnection,
  ),
}));

const resourcePayload = (t: PayloadFields<{ resource: ResourceRow }>) => ({
  resource: t.field({
    type: Resource,
    description: 'The resource.',
    resolve: ({ resource }) => resource,
  }),
});

const scopePayload = (t: PayloadFields<{ scope: ScopeRow }>) => ({
  scope: t.field({ type: Scope, description: 'The scope.', resolve: ({ scope }) => scope }),
});

const ttlField = (t: InputFields) =>
  t.int({ description: 'How long its access tokens live: 1 to 2592000 seconds, 3600 by default.' });

addMutation('createResource', {
  description: 'Registers an API that access tokens can be aimed at. Raises no event.',
  scope: 'resources:write',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    indicator: t.string({
      required: true,
      description:
        'The resource indicator (RFC 8707): an absolute URI without a fragment. Unique; it cannot be changed.',
    }),
    accessTokenTtlSeconds: ttlField(t),
  }),
  payload: resourcePayload,
  errors: [InvalidInputError, ConflictError],
  resolve: async (input, context) => ({ resource: await createResource(context, input) }),
});

addMutation('updateResource', {
  description: "Changes a resource's name or the lifetime of its tokens. Raises no event.",
  scope: 'resources:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The resource's id." }),
    name: t.string({ description: 'At most 128 characters.' }),
    accessTokenTtlSeconds: ttlField(t),
  }),
  payload: resourcePayload,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ resource: await updateResource(context, input) }),
});

addMutation('deleteResource', {
  description:
    'Deletes a resource with its scopes. Raises `Role.Scopes.Updated` and `OrganizationRole.Scopes.Updated` for each role that loses scopes, then `Scope.Deleted` for each scope.',
  scope: 'resources:write',
  input: (t) => ({ id: t.id({ required: true, description: "The resource's id." }) }),
  payload: resourcePayload,
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context, info) => {
    const { resource } = context.database.prisma;
    return {
      resource: await asItLastWas({
        context,
        info,
        field: 'resource',
        read: (query) => resource.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteResource(context, input),
      }),
    };
  },
});

addMutation('createScope', {
  description: 'Adds a scope to a resource. Raises `Scope.Created`.',
  scope: 'resources:write',
  input: (t) => ({
    resourceId: t.id({ required: true, description: 'The resource that defines it.' }),
    name: t.string({
      required: true,
      description: 'A scope token (RFC 6749 §3.3), at most 128 characters. Unique in its resource.',
    }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  payload: scopePayload,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({ scope: await createScope(context, input) }),
});

addMutation('updateScope', {
  description: 'Changes a scope. Raises `Scope.Data.Updated` if something changes.',
  scope: 'resources:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The scope's id." }),
    name: t.string({ description: 'A scope token (RFC 6749 §3.3). Unique in its resource.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  payload: scopePayload,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({ scope: await updateScope(context, input) }),
});

addMutation('deleteScope', {
  description:
    'Deletes a scope. Raises `Role.Scopes.Updated` and `OrganizationRole.Scopes.Updated` for each role that loses it, then `Scope.Deleted`.',
  scope: 'resources:write',
  input: (t) => ({ id: t.id({ required: true, description: "The scope's id." }) }),
  payload: scopePayload,
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context, info) => {
    const { scope } = context.database.prisma;
    return {
      scope: await asItLastWas({
        context,
        info,
        field: 'scope',
        read: (query) => scope.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteScope(context, input),
      }),
    };
  },
});
