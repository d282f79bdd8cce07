import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { Prisma, Role as RoleRow } from '../generated/prisma/client.ts';
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
import { addMutation, asItLastWas, type PayloadFields } from '../graphql/mutation.ts';
import { Scope, ScopeConnection } from '../resources/schema.ts';
import {
  addRoleScopes,
  createRole,
  deleteRole,
  removeRoleScope,
  updateRole,
} from './operations.ts';

/** Who a role is for. */
export const RoleTypeEnum = builder.enumType('RoleType', {
  description: 'The kind of holders of a role.',
  values: {
    USER: { description: 'For users.' },
    MACHINE_TO_MACHINE: { description: 'For machine-to-machine applications.' },
  } as const,
});

const scopesOfRole = relatedList<
  { scopeId: string; scope: typeof Scope.$inferType },
  typeof Scope.$inferType
>({ relation: 'scopes', key: 'scopeId', through: 'scope' });

/** A set of scopes under a name, given to users or to applications. */
export const Role = builder.prismaNode('Role', {
  nullable: true,
  id: { field: 'id', description: "The role's id: a TypeID with the prefix `role`." },
  description: 'A set of scopes under a name, given to users or to applications.',
  authScopes: { scope: 'roles:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name. Unique.' }),
    description: t.exposeString('description', { nullable: true, description: 'Its purpose.' }),
    type: t.expose('type', {
      type: RoleTypeEnum,
      description: 'The kind of holders: users or applications.',
    }),
    isDefault: t.exposeBoolean('isDefault', {
      description: 'Whether every new user gets it.',
    }),
    scopes: t.connection(
      {
        type: Scope,
        description: 'The scopes it holds, oldest first.',
        authScopes: { scope: 'resources:read' },
        ...scopesOfRole,
      },
      ScopeConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of roles. */
export const RoleConnection = connectionOf('Role', Role);

const RoleFilter = builder.inputType('RoleFilter', {
  description: 'Which roles to list. A match meets every field that is given.',
  fields: (t) => ({
    search: t.string({ description: searchDescription('the name, the description or the id') }),
    type: t.field({ type: RoleTypeEnum, description: 'Is for these subjects.' }),
    isDefault: t.boolean({ description: 'Whether new users get it.' }),
    scopeId: t.id({ description: 'Holds this scope. Also requires `resources:read`.' }),
  }),
});

const order = orderInput('Role', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By creation time.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
});

// Scopes that a filter on another area requires.
const roleFilterScopes = {
  scopeId: 'resources:read',
} as const;

function roleWhere(
  filter: typeof RoleFilter.$inferInput | null | undefined,
): Prisma.RoleWhereInput {
  if (!filter) return {};
  const { type, isDefault, scopeId } = filter;
  return {
    ...searching(filter.search, ['name', 'description', 'id']),
    ...(type == null ? {} : { type }),
    ...(isDefault == null ? {} : { isDefault }),
    ...(scopeId == null ? {} : { scopes: { some: { scopeId } } }),
  };
}

builder.queryFields((t) => ({
  role: t.prismaField({
    type: 'Role',
    nullable: true,
    description: 'A role, or null if none has that id.',
    authScopes: { scope: 'roles:read' },
    args: { id: t.arg.id({ required: true, description: "The role's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.role.findUnique({ ...query, where: { id } }),
  }),
  roles: t.connection(
    {
      type: Role,
      description: 'The roles, newest first by default.',
      authScopes: { scope: 'roles:read' },
      args: {
        filter: t.arg({ type: RoleFilter, description: 'Which roles to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) => {
        assertMayFilter(context, args.filter, roleFilterScopes);
        return readPage({
          args,
          context,
          info,
          model: context.database.prisma.role,
          where: roleWhere(args.filter),
          order: order.read(args.orderBy),
        });
      },
    },
    RoleConnection,
  ),
}));

const rolePayload = (t: PayloadFields<{ role: RoleRow }>) => ({
  role: t.field({ type: Role, description: 'The role.', resolve: ({ role }) => role }),
});

addMutation('createRole', {
  description:
    'Creates a role. Raises `Role.Created`, then `Role.Scopes.Updated` if scopes are given.',
  scope: 'roles:write',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters. Unique.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    type: t.field({
      type: RoleTypeEnum,
      description: 'The kind of holders: users by default. It cannot change.',
    }),
    isDefault: t.boolean({ description: 'Whether every new user gets it.' }),
    scopeIds: t.idList({ description: 'The scopes it holds from the start, at most 1000.' }),
  }),
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({ role: await createRole(context, input) }),
});

addMutation('updateRole', {
  description: 'Changes a role. Raises `Role.Data.Updated` if something changes.',
  scope: 'roles:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The role's id." }),
    name: t.string({ description: 'At most 128 characters. Unique.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    isDefault: t.boolean({ description: 'Whether every new user gets it.' }),
  }),
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({ role: await updateRole(context, input) }),
});

addMutation('deleteRole', {
  description: 'Deletes a role; users and applications lose it. Raises `Role.Deleted`.',
  scope: 'roles:write',
  input: (t) => ({ id: t.id({ required: true, description: "The role's id." }) }),
  payload: rolePayload,
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const { role } = context.database.prisma;
    return {
      role: await asItLastWas({
        context,
        info,
        field: 'role',
        read: (query) => role.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteRole(context, input),
      }),
    };
  },
});

addMutation('addRoleScopes', {
  description:
    'Gives scopes to a role; it keeps those it has. Raises `Role.Scopes.Updated` with the new ones.',
  scope: 'roles:write',
  input: (t) => ({
    roleId: t.id({ required: true, description: "The role's id." }),
    scopeIds: t.idList({ required: true, description: 'The scopes to give, at most 1000.' }),
  }),
  payload: rolePayload,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ role: await addRoleScopes(context, input) }),
});

addMutation('removeRoleScope', {
  description: 'Removes a scope from a role. Raises `Role.Scopes.Updated`.',
  scope: 'roles:write',
  input: (t) => ({
    roleId: t.id({ required: true, description: "The role's id." }),
    scopeId: t.id({ required: true, description: 'The scope to remove.' }),
  }),
  payload: rolePayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({ role: await removeRoleScope(context, input) }),
});
