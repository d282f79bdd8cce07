import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { Prisma } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { addRecordQueries, orders, textSearch } from '../graphql/lists/record-queries.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
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
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of roles. */
export const RoleConnection = addRecordQueries(Role, {
  names: ['role', 'roles'],
  scope: 'roles:read',
  search: textSearch,
  filter: (t) => ({
    type: t.field({ type: RoleTypeEnum, description: 'Is for these subjects.' }),
    isDefault: t.boolean({ description: 'Whether new users get it.' }),
    scopeId: t.id({ description: 'Holds this scope. Also requires `resources:read`.' }),
  }),
  filterScopes: { scopeId: 'resources:read' },
  where: ({ type, isDefault, scopeId }): Prisma.RoleWhereInput => ({
    type: type ?? undefined,
    isDefault: isDefault ?? undefined,
    scopes: scopeId == null ? undefined : { some: { scopeId } },
  }),
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

const mutations = recordMutations('role', Role, { scope: 'roles:write' });

mutations.add('createRole', {
  description:
    'Creates a role. Raises `Role.Created`, then `Role.Scopes.Updated` if scopes are given.',
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
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => createRole(context, input),
});

mutations.add('updateRole', {
  description: 'Changes a role. Raises `Role.Data.Updated` if something changes.',
  input: (t) => ({
    id: mutations.id(t),
    name: t.string({ description: 'At most 128 characters. Unique.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    isDefault: t.boolean({ description: 'Whether every new user gets it.' }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => updateRole(context, input),
});

mutations.addDeletion('deleteRole', {
  description: 'Deletes a role; users and applications lose it. Raises `Role.Deleted`.',
  model: ({ role }) => role,
  operation: deleteRole,
});

mutations.add('addRoleScopes', {
  description:
    'Gives scopes to a role; it keeps those it has. Raises `Role.Scopes.Updated` with the new ones.',
  input: (t) => ({
    roleId: mutations.id(t),
    scopeIds: t.idList({ required: true, description: 'The scopes to give, at most 1000.' }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => addRoleScopes(context, input),
});

mutations.add('removeRoleScope', {
  description: 'Removes a scope from a role. Raises `Role.Scopes.Updated`.',
  input: (t) => ({
    roleId: mutations.id(t),
    scopeId: t.id({ required: true, description: 'The scope to remove.' }),
  }),
  errors: [NotFoundError],
  operation: (context, input) => removeRoleScope(context, input),
});
