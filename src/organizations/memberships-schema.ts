import { builder } from '../graphql/builder.ts';
import { connectionOf } from '../graphql/lists/page.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { OrganizationRole, OrganizationRoleConnection } from '../organization-roles/schema.ts';
import { organizationApplicationHolder, organizationUserHolder } from '../role-holders/holders.ts';
import { addRoleMutations, heldOrganizationRoles } from '../role-holders/schema.ts';
import { membershipId } from './membership-id.ts';

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
        ...heldOrganizationRoles,
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
        ...heldOrganizationRoles,
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

const organizationId = (t: InputFields) =>
  t.id({ required: true, description: "The organization's id." });
const memberId = (t: InputFields) => t.id({ required: true, description: "The member's id." });

const options = { scope: 'organizations:write', noun: 'membership' } as const;

addRoleMutations(
  recordMutations('organizationUser', OrganizationUser, options),
  organizationUserHolder,
  {
    key: (t) => ({ organizationId: organizationId(t), userId: memberId(t) }),
    descriptions: {
      assign:
        'Gives organization roles to a user in an organization; the user keeps those they hold. Raises no event.',
      remove: 'Removes an organization role from a user in an organization. Raises no event.',
      replace:
        'Gives a user these organization roles in an organization and removes all others. Raises no event.',
    },
  },
);

addRoleMutations(
  recordMutations('organizationApplication', OrganizationApplication, options),
  organizationApplicationHolder,
  {
    key: (t) => ({ organizationId: organizationId(t), applicationId: memberId(t) }),
    descriptions: {
      assign:
        'Gives organization roles to an application in an organization; it keeps those it holds. Raises no event.',
      remove:
        'Removes an organization role from an application in an organization. Raises no event.',
      replace:
        'Gives an application these organization roles in an organization and removes all others. Raises no event.',
    },
  },
);
