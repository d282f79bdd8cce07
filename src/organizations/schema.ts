import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  OrganizationEmailDomain as OrganizationEmailDomainRow,
  Organization as OrganizationRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import {
  assertMayFilter,
  between,
  connectionOf,
  cursorOf,
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
import { OrganizationRole, OrganizationRoleConnection } from '../organization-roles/schema.ts';
import {
  addOrganizationEmailDomain,
  removeOrganizationEmailDomain,
  replaceOrganizationJitRoles,
} from './just-in-time.ts';
import {
  OrganizationApplication,
  OrganizationApplicationConnection,
  OrganizationUser,
  OrganizationUserConnection,
  rolesOfMember,
} from './member-schema.ts';
import { membershipId } from './membership-id.ts';
import { createOrganization, deleteOrganization, updateOrganization } from './operations.ts';

const OrganizationEmailDomain = builder.prismaObject('OrganizationEmailDomain', {
  description: 'An e-mail domain whose people join an organization just in time.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    domain: t.exposeString('domain', { description: 'The domain, in lower case.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
  }),
});

const OrganizationEmailDomainConnection = connectionOf(
  'OrganizationEmailDomain',
  OrganizationEmailDomain,
);

type Membership = typeof OrganizationUser.$inferType;
type ApplicationMembership = typeof OrganizationApplication.$inferType;

const members = relatedList<Membership>({
  relation: 'members',
  key: 'userId',
  sealsCursors: true,
});
const applications = relatedList<ApplicationMembership>({
  relation: 'applications',
  key: 'applicationId',
  sealsCursors: true,
});
const emailDomains = relatedList<OrganizationEmailDomainRow>({
  relation: 'emailDomains',
  key: 'domain',
});
const jitRoles = relatedList<
  Prisma.OrganizationJitRoleGetPayload<{ include: { organizationRole: true } }>,
  typeof OrganizationRole.$inferType
>({ relation: 'jitRoles', key: 'organizationRoleId', through: 'organizationRole' });

/** A customer or a team: users and applications are members of it. */
export const Organization = builder.prismaNode('Organization', {
  nullable: true,
  id: { field: 'id', description: "The organization's id: a TypeID with the prefix `org`." },
  description: 'A customer or a team: users and applications are members of it.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its display name.' }),
    description: t.exposeString('description', { nullable: true, description: 'Its description.' }),
    customData: t.expose('customData', {
      type: 'JSONObject',
      description: 'Data that admin tools keep about the organization.',
    }),
    members: t.connection(
      {
        type: OrganizationUser,
        description: 'The memberships of users, oldest user first.',
        ...members,
      },
      OrganizationUserConnection,
    ),
    applications: t.connection(
      {
        type: OrganizationApplication,
        description: 'The memberships of applications, oldest application first.',
        ...applications,
      },
      OrganizationApplicationConnection,
    ),
    emailDomains: t.connection(
      {
        type: OrganizationEmailDomain,
        description: 'The e-mail domains whose people join just in time, in alphabetical order.',
        ...emailDomains,
      },
      OrganizationEmailDomainConnection,
    ),
    jitRoles: t.connection(
      {
        type: OrganizationRole,
        description: 'The organization roles of people who join just in time, oldest first.',
        ...jitRoles,
      },
      OrganizationRoleConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const OrganizationConnection = connectionOf('Organization', Organization);

const rolesField = {
  type: OrganizationRole,
  description: 'The roles held in the organization, oldest first.',
  ...rolesOfMember,
};

// The edge from a user to an organization is the membership, which holds the roles.
const UserOrganizationEdge = builder.prismaObject('OrganizationUser', {
  variant: 'UserOrganizationEdge',
  description: 'An organization of a user, with the membership of the user.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    id: t.id({
      description: "The membership's id, the same as in the organization's own list.",
      resolve: ({ organizationId, userId }, _args, context) =>
        membershipId(context, { organizationId, userId }),
    }),
    cursor: t.string({
      description: 'The cursor of this edge.',
      resolve: ({ organizationId }) => cursorOf(organizationId),
    }),
    node: t.relation('organization', { description: 'The organization.' }),
    roles: t.connection(rolesField, OrganizationRoleConnection),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user joined.' }),
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

const UserOrganizationConnection = connectionOf(
  'UserOrganization',
  Organization,
  UserOrganizationEdge,
);
const ApplicationOrganizationConnection = connectionOf(
  'ApplicationOrganization',
  Organization,
  ApplicationOrganizationEdge,
);

const organizationsOfMember = relatedList<Membership | ApplicationMembership, OrganizationRow>({
  relation: 'organizations',
  key: 'organizationId',
  rowsAreEdges: true,
});

builder.prismaObjectField('User', 'organizations', (t) =>
  t.connection(
    {
      type: Organization,
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

const OrganizationFilter = builder.inputType('OrganizationFilter', {
  description: 'Which organizations to list. A match meets every field that is given.',
  fields: (t) => ({
    search: t.string({ description: searchDescription('the name, the description or the id') }),
    userId: t.id({ description: 'Has this user as a member. Also requires `users:read`.' }),
    applicationId: t.id({
      description: 'Has this application as a member. Also requires `applications:read`.',
    }),
    emailDomain: t.string({ description: 'People with this e-mail domain join it just in time.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Was created after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Was created before this instant.' }),
  }),
});

const order = orderInput('Organization', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By creation time.' },
  UPDATED_AT: { field: 'updatedAt', nullable: false, description: 'By time of the last change.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
});

// Scopes that a filter on another area requires.
const organizationFilterScopes = {
  userId: 'users:read',
  applicationId: 'applications:read',
} as const;

function organizationWhere(
  filter: typeof OrganizationFilter.$inferInput | null | undefined,
): Prisma.OrganizationWhereInput {
  if (!filter) return {};
  const { userId, applicationId, emailDomain } = filter;
  return {
    ...searching(filter.search, ['name', 'description', 'id']),
    ...(userId == null ? {} : { members: { some: { userId } } }),
    ...(applicationId == null ? {} : { applications: { some: { applicationId } } }),
    ...(emailDomain == null
      ? {}
      : { emailDomains: { some: { domain: emailDomain.toLowerCase() } } }),
    createdAt: between(filter.createdAfter, filter.createdBefore),
  };
}

builder.queryFields((t) => ({
  organization: t.prismaField({
    type: 'Organization',
    nullable: true,
    description: 'An organization, or null if none has that id.',
    authScopes: { scope: 'organizations:read' },
    args: { id: t.arg.id({ required: true, description: "The organization's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.organization.findUnique({ ...query, where: { id } }),
  }),
  organizations: t.connection(
    {
      type: Organization,
      description: 'The organizations, newest first by default.',
      authScopes: { scope: 'organizations:read' },
      args: {
        filter: t.arg({ type: OrganizationFilter, description: 'Which organizations to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) => {
        assertMayFilter(context, args.filter, organizationFilterScopes);
        return readPage({
          args,
          context,
          info,
          model: context.database.prisma.organization,
          where: organizationWhere(args.filter),
          order: order.read(args.orderBy),
        });
      },
    },
    OrganizationConnection,
  ),
}));

/** The organization in the payload of a mutation that changed it. */
export const organizationPayload = <Payload extends { organization: OrganizationRow }>(
  t: PayloadFields<Payload>,
) => ({
  organization: t.field({
    type: Organization,
    description: 'The organization.',
    resolve: ({ organization }) => organization,
  }),
});

type OrganizationPayload = { organization: OrganizationRow };

const customDataField = (t: InputFields) => ({
  customData: t.field({ type: 'JSONObject', description: 'At most 64 KiB.' }),
});

addMutation('createOrganization', {
  description: 'Creates an organization. Raises `Organization.Created`.',
  scope: 'organizations:write',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    ...customDataField(t),
  }),
  payload: (t: PayloadFields<OrganizationPayload>) => organizationPayload(t),
  errors: [InvalidInputError],
  resolve: async (input, context) => ({ organization: await createOrganization(context, input) }),
});

addMutation('updateOrganization', {
  description:
    'Changes an organization. An absent field stays as it is; null clears it; custom data is replaced as a whole. Raises `Organization.Data.Updated` if something changes.',
  scope: 'organizations:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The organization's id." }),
    name: t.string({ description: 'At most 128 characters.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    ...customDataField(t),
  }),
  payload: (t: PayloadFields<OrganizationPayload>) => organizationPayload(t),
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({ organization: await updateOrganization(context, input) }),
});

addMutation('deleteOrganization', {
  description:
    'Deletes an organization with its memberships, the roles held in it, its invitations, e-mail domains and just-in-time roles. Raises `Organization.Membership.Updated` for its members (several events for more than 5,000), then `Organization.Deleted`.',
  scope: 'organizations:write',
  input: (t) => ({ id: t.id({ required: true, description: "The organization's id." }) }),
  payload: (t: PayloadFields<OrganizationPayload>) => organizationPayload(t),
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const { organization } = context.database.prisma;
    return {
      organization: await asItLastWas({
        context,
        info,
        field: 'organization',
        read: (query) => organization.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteOrganization(context, input),
      }),
    };
  },
});

const emailDomainInput = (t: InputFields) => ({
  organizationId: t.id({ required: true, description: "The organization's id." }),
  domain: t.string({ required: true, description: 'A domain name, such as example.com.' }),
});

addMutation('addOrganizationEmailDomain', {
  description:
    'Adds an e-mail domain whose people join the organization just in time. Raises no event.',
  scope: 'organizations:write',
  input: emailDomainInput,
  payload: (t: PayloadFields<OrganizationPayload>) => organizationPayload(t),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({
    organization: await addOrganizationEmailDomain(context, input),
  }),
});

addMutation('removeOrganizationEmailDomain', {
  description: 'Removes an e-mail domain from an organization; members stay. Raises no event.',
  scope: 'organizations:write',
  input: emailDomainInput,
  payload: (t: PayloadFields<OrganizationPayload>) => organizationPayload(t),
  errors: [NotFoundError],
  resolve: async (input, context) => ({
    organization: await removeOrganizationEmailDomain(context, input),
  }),
});

addMutation('replaceOrganizationJitRoles', {
  description:
    'Sets the organization roles of people who join just in time; members keep the roles they have. Raises no event.',
  scope: 'organizations:write',
  input: (t) => ({
    organizationId: t.id({ required: true, description: "The organization's id." }),
    organizationRoleIds: t.idList({
      required: true,
      description: 'Organization roles for users, at most 100.',
    }),
  }),
  payload: (t: PayloadFields<OrganizationPayload>) => organizationPayload(t),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    organization: await replaceOrganizationJitRoles(context, input),
  }),
});
