import { InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type { OrganizationRole as OrganizationRoleRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf } from '../graphql/lists/page.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { OrganizationRole, OrganizationRoleConnection } from '../organization-roles/schema.ts';
import {
  assignOrganizationApplicationRoles,
  assignOrganizationUserRoles,
  removeOrganizationApplicationRole,
  removeOrganizationUserRole,
  replaceOrganizationApplicationRoles,
  replaceOrganizationUserRoles,
} from './member-roles.ts';
import { membershipId } from './membership-id.ts';

/** The roles of one member: of a user's or an application's membership. */
export const rolesOfMember = relatedList<
  { organizationRoleId: string; organizationRole: OrganizationRoleRow },
  OrganizationRoleRow
>({ relation: 'roles', key: 'organizationRoleId', through: 'organizationRole' });

/** A user's membership of an organization. */
export const OrganizationUser = builder.prismaObject('OrganizationUser', {
  description: "A user's membership of an organization.",
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    id: t.id({
      description: "The membership's id, for caches. `node` does not find it.",
      resolve: ({ organizationId, userId }, _args, context) =>
        membershipId(context, { organizationId, userId }),
    }),
    organization: t.relation('organization', { description: 'The organization.' }),
    user: t.relation('user', {
      nullable: true,
      description: 'The user; null without `users:read`.',
      authScopes: { scopeInPlace: 'users:read' },
    }),
    roles: t.connection(
      {
        type: OrganizationRole,
        description: 'The roles that the user has in the organization, oldest first.',
        ...rolesOfMember,
      },
      OrganizationRoleConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user joined.' }),
  }),
});

/** A page of users' memberships. */
export const OrganizationUserConnection = connectionOf('OrganizationUser', OrganizationUser);

/** An application's membership of an organization. */
export const OrganizationApplication = builder.prismaObject('OrganizationApplication', {
  description: "A machine-to-machine application's membership of an organization.",
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    id: t.id({
      description: "The membership's id, for caches. `node` does not find it.",
      resolve: ({ organizationId, applicationId }, _args, context) =>
        membershipId(context, { organizationId, applicationId }),
    }),
    organization: t.relation('organization', { description: 'The organization.' }),
    application: t.relation('application', {
      nullable: true,
      description: 'The application; null without `applications:read`.',
      authScopes: { scopeInPlace: 'applications:read' },
    }),
    roles: t.connection(
      {
        type: OrganizationRole,
        description: 'The roles that the application has in the organization, oldest first.',
        ...rolesOfMember,
      },
      OrganizationRoleConnection,
    ),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the application joined.',
    }),
  }),
});

/** A page of applications' memberships. */
export const OrganizationApplicationConnection = connectionOf(
  'OrganizationApplication',
  OrganizationApplication,
);

const organizationField = (t: InputFields) => ({
  organizationId: t.id({ required: true, description: "The organization's id." }),
});
const userFields = (t: InputFields) => ({
  ...organizationField(t),
  userId: t.id({ required: true, description: "The member's id." }),
});
const applicationFields = (t: InputFields) => ({
  ...organizationField(t),
  applicationId: t.id({ required: true, description: "The member's id." }),
});
const roleField = (t: InputFields) => ({
  organizationRoleId: t.id({ required: true, description: 'The organization role to remove.' }),
});
const userRoles = (t: InputFields) => ({
  ...userFields(t),
  organizationRoleIds: t.idList({
    required: true,
    description: 'Organization roles for users, at most 100.',
  }),
});
const applicationRoles = (t: InputFields) => ({
  ...applicationFields(t),
  organizationRoleIds: t.idList({
    required: true,
    description: 'Organization roles for applications, at most 100.',
  }),
});

const userMutations = recordMutations('organizationUser', OrganizationUser, {
  scope: 'organizations:write',
  noun: 'membership',
});
const applicationMutations = recordMutations('organizationApplication', OrganizationApplication, {
  scope: 'organizations:write',
  noun: 'membership',
});

userMutations.add('assignOrganizationUserRoles', {
  description:
    'Gives organization roles to a user in an organization; the user keeps those they hold. Raises no event.',
  input: userRoles,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => assignOrganizationUserRoles(context, input),
});

userMutations.add('removeOrganizationUserRole', {
  description: 'Removes an organization role from a user in an organization. Raises no event.',
  input: (t) => ({ ...userFields(t), ...roleField(t) }),
  errors: [NotFoundError],
  operation: (context, input) => removeOrganizationUserRole(context, input),
});

userMutations.add('replaceOrganizationUserRoles', {
  description:
    'Gives a user these organization roles in an organization and removes all others. Raises no event.',
  input: userRoles,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => replaceOrganizationUserRoles(context, input),
});

applicationMutations.add('assignOrganizationApplicationRoles', {
  description:
    'Gives organization roles to an application in an organization; it keeps those it holds. Raises no event.',
  input: applicationRoles,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => assignOrganizationApplicationRoles(context, input),
});

applicationMutations.add('removeOrganizationApplicationRole', {
  description:
    'Removes an organization role from an application in an organization. Raises no event.',
  input: (t) => ({ ...applicationFields(t), ...roleField(t) }),
  errors: [NotFoundError],
  operation: (context, input) => removeOrganizationApplicationRole(context, input),
});

applicationMutations.add('replaceOrganizationApplicationRoles', {
  description:
    'Gives an application these organization roles in an organization and removes all others. Raises no event.',
  input: applicationRoles,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => replaceOrganizationApplicationRoles(context, input),
});
