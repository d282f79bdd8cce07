import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  OrganizationScope as OrganizationScopeRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { addRecordQueries, orders, textSearch } from '../graphql/lists/record-queries.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { AnyScope, Scope, ScopeConnection } from '../resources/schema.ts';
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
const OrganizationScope = builder.prismaNode('OrganizationScope', {
  interfaces: [AnyScope],
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
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const OrganizationScopeConnection = addRecordQueries(OrganizationScope, {
  names: ['organizationScope', 'organizationScopes'],
  noun: 'organization scope',
  shortNoun: 'scope',
  descriptions: { filter: 'Which organization scopes to list.' },
  scope: 'organizations:read',
  search: textSearch,
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

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
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of organization roles. */
export const OrganizationRoleConnection = addRecordQueries(OrganizationRole, {
  names: ['organizationRole', 'organizationRoles'],
  noun: 'organization role',
  shortNoun: 'role',
  scope: 'organizations:read',
  search: textSearch,
  filter: (t) => ({
    type: t.field({ type: RoleTypeEnum, description: 'Is for these members.' }),
    organizationScopeId: t.id({ description: 'Holds this organization scope.' }),
    scopeId: t.id({
      description: 'Holds this scope of a resource. Also requires `resources:read`.',
    }),
  }),
  filterScopes: { scopeId: 'resources:read' },
  where: ({ type, organizationScopeId, scopeId }): Prisma.OrganizationRoleWhereInput => ({
    type: type ?? undefined,
    scopes: organizationScopeId == null ? undefined : { some: { organizationScopeId } },
    resourceScopes: scopeId == null ? undefined : { some: { scopeId } },
  }),
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

const roleMutations = recordMutations('organizationRole', OrganizationRole, {
  scope: 'organizations:write',
  noun: 'role',
  description: 'The organization role.',
});

roleMutations.add('createOrganizationRole', {
  description:
    'Creates an organization role. Raises `OrganizationRole.Created`, then `OrganizationRole.Scopes.Updated` if scopes are given.',
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
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => createOrganizationRole(context, input),
});

roleMutations.add('updateOrganizationRole', {
  description:
    'Changes an organization role. An absent field stays as it is; null clears it. Raises `OrganizationRole.Data.Updated` if something changes.',
  input: (t) => ({
    id: roleMutations.id(t),
    name: t.string({ description: 'At most 128 characters. Unique.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError],
  operation: (context, input) => updateOrganizationRole(context, input),
});

roleMutations.addDeletion('deleteOrganizationRole', {
  description:
    'Deletes an organization role; the members, invitations and just-in-time settings of every organization lose it. Raises `OrganizationRole.Deleted`.',
  model: ({ organizationRole }) => organizationRole,
  operation: deleteOrganizationRole,
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

roleMutations.add('addOrganizationRoleScopes', {
  description:
    'Gives organization scopes to an organization role; it keeps those it has. Raises `OrganizationRole.Scopes.Updated` with the new ones.',
  input: scopesInput,
  errors: [InvalidInputError, NotFoundError],
  operation: (context, input) => addOrganizationRoleScopes(context, input),
});

roleMutations.add('removeOrganizationRoleScope', {
  description:
    'Takes an organization scope from an organization role. Raises `OrganizationRole.Scopes.Updated`.',
  input: (t) => ({
    ...roleIdField(t),
    organizationScopeId: t.id({ required: true, description: 'The organization scope to remove.' }),
  }),
  errors: [NotFoundError],
  operation: (context, input) => removeOrganizationRoleScope(context, input),
});

roleMutations.add('replaceOrganizationRoleScopes', {
  description:
    'Sets the organization scopes of an organization role; its resource scopes stay. Raises `OrganizationRole.Scopes.Updated` with the scopes gained and lost.',
  input: scopesInput,
  errors: [InvalidInputError, NotFoundError],
  operation: (context, input) => replaceOrganizationRoleScopes(context, input),
});

roleMutations.add('addOrganizationRoleResourceScopes', {
  description:
    'Gives scopes of resources to an organization role; it keeps those it has. Raises `OrganizationRole.Scopes.Updated` with the new ones.',
  input: (t) => ({
    ...roleIdField(t),
    scopeIds: t.idList({ required: true, description: 'Scopes of resources, at most 1000.' }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => addOrganizationRoleResourceScopes(context, input),
});

roleMutations.add('removeOrganizationRoleResourceScope', {
  description:
    'Takes a scope of a resource from an organization role. Raises `OrganizationRole.Scopes.Updated`.',
  input: (t) => ({
    ...roleIdField(t),
    scopeId: t.id({ required: true, description: 'The scope to remove.' }),
  }),
  errors: [NotFoundError],
  operation: (context, input) => removeOrganizationRoleResourceScope(context, input),
});

const scopeMutations = recordMutations('organizationScope', OrganizationScope, {
  scope: 'organizations:write',
  noun: 'scope',
  description: 'The organization scope.',
});

const scopeName = 'A scope token (RFC 6749 §3.3) of at most 128 characters. Unique.';

scopeMutations.add('createOrganizationScope', {
  description: 'Creates an organization scope. Raises `OrganizationScope.Created`.',
  input: (t) => ({
    name: t.string({ required: true, description: scopeName }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  errors: [InvalidInputError, ConflictError],
  operation: (context, input) => createOrganizationScope(context, input),
});

scopeMutations.add('updateOrganizationScope', {
  description:
    'Changes an organization scope. An absent field stays as it is; null clears it. Raises `OrganizationScope.Data.Updated` if something changes.',
  input: (t) => ({
    id: scopeMutations.id(t),
    name: t.string({ description: scopeName }),
    description: t.string({ description: 'At most 1024 characters.' }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError],
  operation: (context, input) => updateOrganizationScope(context, input),
});

scopeMutations.add('deleteOrganizationScope', {
  description:
    'Deletes an organization scope; organization roles lose it. Raises `OrganizationRole.Scopes.Updated` for each of these roles, then `OrganizationScope.Deleted`.',
  input: (t) => ({ id: scopeMutations.id(t) }),
  errors: [NotFoundError],
  operation: (context, input) => deleteOrganizationScope(context, input),
});
