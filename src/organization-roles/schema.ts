import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  OrganizationRole as OrganizationRoleRow,
  OrganizationScope as OrganizationScopeRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import {
  assertMayFilter,
  connectionOf,
  orderInput,
  readPage,
  searchDescription,
  searching,
} from '../graphql/lists/page.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutation.ts';
import { Scope, ScopeConnection } from '../resources/schema.ts';
import { RoleTypeEnum } from '../roles/schema.ts';
import {
  createOrganizationRole,
  deleteOrganizationRole,
  updateOrganizationRole,
} from './operations.ts';
import {
  addOrganizationRoleResourceScopes,
  addOrganizationRoleScopes,
  removeOrganizationRoleResourceScope,
  removeOrganizationRoleScope,
  replaceOrganizationRoleScopes,
} from './role-scopes.ts';
import {
  createOrganizationScope,
  deleteOrganizationScope,
  updateOrganizationScope,
} from './scopes.ts';

/** Something that a member of an organization may do there. */
export const OrganizationScope = builder.prismaNode('OrganizationScope', {
  nullable: true,
  id: { field: 'id', description: "The scope's id: a TypeID with the prefix `orgscope`." },
  description:
    'Something that a member of an organization may do there: a scope of tokens for the organization itself.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, as in `scope`. Unique.' }),
    description: t.exposeString('description', {
      nullable: true,
      description: 'Its purpose.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const OrganizationScopeConnection = connectionOf('OrganizationScope', OrganizationScope);

const scopesOfRole = relatedList<
  { organizationScopeId: string; organizationScope: OrganizationScopeRow },
  OrganizationScopeRow
>({ relation: 'scopes', key: 'organizationScopeId', through: 'organizationScope' });

const resourceScopesOfRole = relatedList<
  Prisma.OrganizationRoleResourceScopeGetPayload<{ include: { scope: true } }>,
  typeof Scope.$inferType
>({ relation: 'resourceScopes', key: 'scopeId', through: 'scope' });

/** A named set of rights of organization members, the same in every organization. */
export const OrganizationRole = builder.prismaNode('OrganizationRole', {
  nullable: true,
  id: { field: 'id', description: "The role's id: a TypeID with the prefix `orgrole`." },
  description:
    'A named set of organization scopes and resource scopes. Members of organizations hold it; the same roles serve every organization.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name. Unique.' }),
    description: t.exposeString('description', { nullable: true, description: 'Its purpose.' }),
    type: t.expose('type', {
      type: RoleTypeEnum,
      description: 'The kind of members that can have it.',
    }),
    scopes: t.connection(
      {
        type: OrganizationScope,
        description: 'The organization scopes it holds, oldest first.',
        ...scopesOfRole,
      },
      OrganizationScopeConnection,
    ),
    resourceScopes: t.connection(
      {
        type: Scope,
        description: 'The scopes of resources it holds, oldest first.',
        authScopes: { scope: 'resources:read' },
        ...resourceScopesOfRole,
      },
      ScopeConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of organization roles. */
export const OrganizationRoleConnection = connectionOf('OrganizationRole', OrganizationRole);

const OrganizationRoleFilter = builder.inputType('OrganizationRoleFilter', {
  description: 'Which organization roles to list. A match meets every field that is given.',
  fields: (t) => ({
    search: t.string({ description: searchDescription('the name, the description or the id') }),
    type: t.field({ type: RoleTypeEnum, description: 'Is for these members.' }),
    organizationScopeId: t.id({ description: 'Holds this organization scope.' }),
    scopeId: t.id({
      description: 'Holds this scope of a resource. Also requires `resources:read`.',
    }),
  }),
});

const OrganizationScopeFilter = builder.inputType('OrganizationScopeFilter', {
  description: 'Which organization scopes to list.',
  fields: (t) => ({
    search: t.string({ description: searchDescription('the name, the description or the id') }),
  }),
});

const orderFields = {
  CREATED_AT: { field: 'id', nullable: false, description: 'By creation time.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
};
const roleOrder = orderInput('OrganizationRole', orderFields);
const scopeOrder = orderInput('OrganizationScope', orderFields);

const textWhere = (search: string | null | undefined) =>
  searching(search, ['name', 'description', 'id']);

// Scopes that a filter on another area requires.
const organizationRoleFilterScopes = {
  scopeId: 'resources:read',
} as const;

function roleWhere(
  filter: typeof OrganizationRoleFilter.$inferInput | null | undefined,
): Prisma.OrganizationRoleWhereInput {
  if (!filter) return {};
  const { search, type, organizationScopeId, scopeId } = filter;
  return {
    ...textWhere(search),
    ...(type == null ? {} : { type }),
    ...(organizationScopeId == null ? {} : { scopes: { some: { organizationScopeId } } }),
    ...(scopeId == null ? {} : { resourceScopes: { some: { scopeId } } }),
  };
}

builder.queryFields((t) => ({
  organizationRole: t.prismaField({
    type: 'OrganizationRole',
    nullable: true,
    description: 'An organization role, or null if none has that id.',
    authScopes: { scope: 'organizations:read' },
    args: { id: t.arg.id({ required: true, description: "The role's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.organizationRole.findUnique({ ...query, where: { id } }),
  }),
  organizationRoles: t.connection(
    {
      type: OrganizationRole,
      description: 'The organization roles, newest first by default.',
      authScopes: { scope: 'organizations:read' },
      args: {
        filter: t.arg({ type: OrganizationRoleFilter, description: 'Which roles to list.' }),
        orderBy: t.arg({ type: roleOrder.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) => {
        assertMayFilter(context, args.filter, organizationRoleFilterScopes);
        return readPage({
          args,
          context,
          info,
          model: context.database.prisma.organizationRole,
          where: roleWhere(args.filter),
          order: roleOrder.read(args.orderBy),
        });
      },
    },
    OrganizationRoleConnection,
  ),
  organizationScope: t.prismaField({
    type: 'OrganizationScope',
    nullable: true,
    description: 'An organization scope, or null if none has that id.',
    authScopes: { scope: 'organizations:read' },
    args: { id: t.arg.id({ required: true, description: "The scope's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.organizationScope.findUnique({ ...query, where: { id } }),
  }),
  organizationScopes: t.connection(
    {
      type: OrganizationScope,
      description: 'The organization scopes, newest first by default.',
      authScopes: { scope: 'organizations:read' },
      args: {
        filter: t.arg({ type: OrganizationScopeFilter, description: 'Which scopes to list.' }),
        orderBy: t.arg({ type: scopeOrder.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) =>
        readPage({
          args,
          context,
          info,
          model: context.database.prisma.organizationScope,
          where: textWhere(args.filter?.search),
          order: scopeOrder.read(args.orderBy),
        }),
    },
    OrganizationScopeConnection,
  ),
}));

const rolePayload = (t: PayloadFields<{ organizationRole: OrganizationRoleRow }>) => ({
  organizationRole: t.field({
    type: OrganizationRole,
    description: 'The organization role.',
    resolve: ({ organizationRole }) => organizationRole,
  }),
});

addMutation('createOrganizationRole', {
  description:
    'Creates an organization role. Raises `OrganizationRole.Created`, then `OrganizationRole.Scopes.Updated` if scopes are given.',
  scope: 'organizations:write',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters. Unique.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    type: t.field({
      type: RoleTypeEnum,
      description: 'The kind of members that can have it: users by default. It cannot change.',
    }),
    organizationScopeIds: t.idList({
      description: 'The organization scopes it holds from the start, at most 1000.',
    }),
    scopeIds: t.idList({
      description: 'The scopes of resources it holds from the start, at most 1000.',
    }),
  }),
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({
    organizationRole: await createOrganizationRole(context, input),
  }),
});

addMutation('updateOrganizationRole', {
  description:
    'Changes an organization role. An absent field stays as it is; null clears it. Raises `OrganizationRole.Data.Updated` if something changes.',
  scope: 'organizations:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The role's id." }),
    name: t.string({ description: 'At most 128 characters. Unique.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError, ConflictError],
  resolve: async (input, context) => ({
    organizationRole: await updateOrganizationRole(context, input),
  }),
});

addMutation('deleteOrganizationRole', {
  description:
    'Deletes an organization role; the members, invitations and just-in-time settings of every organization lose it. Raises `OrganizationRole.Deleted`.',
  scope: 'organizations:write',
  input: (t) => ({ id: t.id({ required: true, description: "The role's id." }) }),
  payload: rolePayload,
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const { organizationRole } = context.database.prisma;
    return {
      organizationRole: await asItLastWas({
        context,
        info,
        field: 'organizationRole',
        read: (query) => organizationRole.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteOrganizationRole(context, input),
      }),
    };
  },
});

const roleIdField = (t: InputFields) => ({
  organizationRoleId: t.id({ required: true, description: "The organization role's id." }),
});
const scopesInput = (t: InputFields) => ({
  ...roleIdField(t),
  organizationScopeIds: t.idList({
    required: true,
    description: 'Organization scopes, at most 1000.',
  }),
});

addMutation('addOrganizationRoleScopes', {
  description:
    'Gives organization scopes to an organization role; it keeps those it has. Raises `OrganizationRole.Scopes.Updated` with the new ones.',
  scope: 'organizations:write',
  input: scopesInput,
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({
    organizationRole: await addOrganizationRoleScopes(context, input),
  }),
});

addMutation('removeOrganizationRoleScope', {
  description:
    'Takes an organization scope from an organization role. Raises `OrganizationRole.Scopes.Updated`.',
  scope: 'organizations:write',
  input: (t) => ({
    ...roleIdField(t),
    organizationScopeId: t.id({ required: true, description: 'The organization scope to remove.' }),
  }),
  payload: rolePayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({
    organizationRole: await removeOrganizationRoleScope(context, input),
  }),
});

addMutation('replaceOrganizationRoleScopes', {
  description:
    'Sets the organization scopes of an organization role; its resource scopes stay. Raises `OrganizationRole.Scopes.Updated` with the scopes gained and lost.',
  scope: 'organizations:write',
  input: scopesInput,
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({
    organizationRole: await replaceOrganizationRoleScopes(context, input),
  }),
});

addMutation('addOrganizationRoleResourceScopes', {
  description:
    'Gives scopes of resources to an organization role; it keeps those it has. Raises `OrganizationRole.Scopes.Updated` with the new ones.',
  scope: 'organizations:write',
  input: (t) => ({
    ...roleIdField(t),
    scopeIds: t.idList({ required: true, description: 'Scopes of resources, at most 1000.' }),
  }),
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    organizationRole: await addOrganizationRoleResourceScopes(context, input),
  }),
});

addMutation('removeOrganizationRoleResourceScope', {
  description:
    'Takes a scope of a resource from an organization role. Raises `OrganizationRole.Scopes.Updated`.',
  scope: 'organizations:write',
  input: (t) => ({
    ...roleIdField(t),
    scopeId: t.id({ required: true, description: 'The scope to remove.' }),
  }),
  payload: rolePayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({
    organizationRole: await removeOrganizationRoleResourceScope(context, input),
  }),
});

const scopePayload = (t: PayloadFields<{ organizationScope: OrganizationScopeRow }>) => ({
  organizationScope: t.field({
    type: OrganizationScope,
    description: 'The organization scope.',
    resolve: ({ organizationScope }) => organizationScope,
  }),
});

const scopeName = 'A scope token (RFC 6749 §3.3) of at most 128 characters. Unique.';

addMutation('createOrganizationScope', {
  description: 'Creates an organization scope. Raises `OrganizationScope.Created`.',
  scope: 'organizations:write',
  input: (t) => ({
    name: t.string({ required: true, description: scopeName }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  payload: scopePayload,
  errors: [InvalidInputError, ConflictError],
  resolve: async (input, context) => ({
    organizationScope: await createOrganizationScope(context, input),
  }),
});

addMutation('updateOrganizationScope', {
  description:
    'Changes an organization scope. An absent field stays as it is; null clears it. Raises `OrganizationScope.Data.Updated` if something changes.',
  scope: 'organizations:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The scope's id." }),
    name: t.string({ description: scopeName }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  payload: scopePayload,
  errors: [InvalidInputError, NotFoundError, ConflictError],
  resolve: async (input, context) => ({
    organizationScope: await updateOrganizationScope(context, input),
  }),
});

addMutation('deleteOrganizationScope', {
  description:
    'Deletes an organization scope; organization roles lose it. Raises `OrganizationRole.Scopes.Updated` for each of these roles, then `OrganizationScope.Deleted`.',
  scope: 'organizations:write',
  input: (t) => ({ id: t.id({ required: true, description: "The scope's id." }) }),
  payload: scopePayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({
    organizationScope: await deleteOrganizationScope(context, input),
  }),
});
