import { builder, ownGraphs, ownType } from '../graphql/builder.ts';
import { connectionOf, cursorOf } from '../graphql/lists/page.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import { OrganizationRole, OrganizationRoleConnection } from '../organization-roles/schema.ts';
import { heldOrganizationRoles } from '../role-holders/schema.ts';
import { membershipId } from './membership-id.ts';
import type { OrganizationApplication, OrganizationUser } from './memberships-schema.ts';
import { Organization } from './schema.ts';

const rolesField = {
  type: OrganizationRole,
  description: 'The roles held in the organization, oldest first.',
  ...heldOrganizationRoles,
};

// The edge from a user to an organization is the membership, which holds the roles.
const UserOrganizationEdge = builder.prismaObject('OrganizationUser', {
  ...ownType,
  variant: 'UserOrganizationEdge',
  description: 'An organization of a user, with the membership of the user.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    id: t.id({
      subGraphs: ownGraphs,
      description: "The membership's id, the same as in the organization's own list.",
      resolve: ({ organizationId, userId }, _args, context) =>
        membershipId(context, { organizationId, userId }),
    }),
    cursor: t.string({
      subGraphs: ownGraphs,
      description: 'The cursor of this edge.',
      resolve: ({ organizationId }) => cursorOf(organizationId),
    }),
    node: t.relation('organization', { subGraphs: ownGraphs, description: 'The organization.' }),
    roles: t.connection(rolesField, OrganizationRoleConnection),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      subGraphs: ownGraphs,
      description: 'When the user joined.',
    }),
  }),
});

const ApplicationOrganizationEdge = builder.prismaObject('OrganizationApplication', {
  variant: 'ApplicationOrganizationEdge',
  description: 'An organization of an application, with the membership of the application.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    id: t.id({
      description: "The membership's id, the same as in the organization's own list.",
      resolve: ({ organizationId, applicationId }, _args, context) =>
        membershipId(context, { organizationId, applicationId }),
    }),
    cursor: t.string({
      description: 'The cursor of this edge.',
      resolve: ({ organizationId }) => cursorOf(organizationId),
    }),
    node: t.relation('organization', { description: 'The organization.' }),
    roles: t.connection(rolesField, OrganizationRoleConnection),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the application joined.',
    }),
  }),
});

const UserOrganizationConnection = connectionOf('UserOrganization', Organization, {
  ownEdge: UserOrganizationEdge,
  graphs: ownGraphs,
});
const ApplicationOrganizationConnection = connectionOf('ApplicationOrganization', Organization, {
  ownEdge: ApplicationOrganizationEdge,
});

const organizationsOfMember = relatedList<
  typeof OrganizationUser.$inferType | typeof OrganizationApplication.$inferType,
  typeof Organization.$inferType
>({
  relation: 'organizations',
  key: 'organizationId',
  rowsAreEdges: true,
});

builder.prismaObjectField('User', 'organizations', (t) =>
  t.connection(
    {
      type: Organization,
      subGraphs: ownGraphs,
      description: 'The organizations that the user is a member of, oldest first.',
      authScopes: { scope: 'organizations:read' },
      ...organizationsOfMember,
    },
    UserOrganizationConnection,
  ),
);

builder.prismaObjectField('Application', 'organizations', (t) =>
  t.connection(
    {
      type: Organization,
      description: 'The organizations that the application is a member of, oldest first.',
      authScopes: { scope: 'organizations:read' },
      ...organizationsOfMember,
    },
    ApplicationOrganizationConnection,
  ),
);
