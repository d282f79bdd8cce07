import { ConflictError, InvalidInputError, NotFoundError } from '../errors.ts';
import type {
  OrganizationEmailDomain as OrganizationEmailDomainRow,
  OrganizationInvitation as OrganizationInvitationRow,
  Organization as OrganizationRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { between, connectionOf, cursorOf, orderInput, readPage } from '../graphql/list.ts';
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutation.ts';
import { relatedList } from '../graphql/related-list.ts';
import { OrganizationInvitation, OrganizationInvitationConnection } from './invitation-schema.ts';
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
import { createOrganization, deleteOrganization, updateOrganization } from './operations.ts';
import { OrganizationRole, OrganizationRoleConnection } from './role-schema.ts';

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

const members = relatedList<Membership>({ relation: 'members', key: 'userId' });
const applications = relatedList<ApplicationMembership>({
  relation: 'applications',
  key: 'applicationId',
});
const invitations = relatedList<OrganizationInvitationRow>({ relation: 'invitations', key: 'id' });
const emailDomains = relatedList<OrganizationEmailDomainRow>({
  relation: 'emailDomains',
  key: 'domain',
});
const jitRoles = relatedList<
  Prisma.OrganizationJitRoleGetPayload<{ include: { organizationRole: true } }>,
  typeof OrganizationRole.$inferType
>({ relation: 'jitRoles', key: 'organizationRoleId', through: 'organizationRole' });

/** A customer, a team: something that users and applications are members of. */
export const Organization = builder.prismaNode('Organization', {
  nullable: true,
  id: { field: 'id', description: "The organization's id: a TypeID with the prefix `org`." },
  description: 'A customer, a team: something that users and applications are members of.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, to show.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it is.' }),
    customData: t.expose('customData', {
      type: 'JSONObject',
      description: 'Whatever the admin tools keep about the organization.',
    }),
    members: t.connection(
      {
        type: OrganizationUser,
        description: 'The memberships of users, by the age of the user, oldest first.',
        ...members,
      },
      OrganizationUserConnection,
    ),
    applications: t.connection(
      {
        type: OrganizationApplication,
        description:
          'The memberships of applications, by the age of the application, oldest first.',
        ...applications,
      },
      OrganizationApplicationConnection,
    ),
    invitations: t.connection(
      {
        type: OrganizationInvitation,
        description: 'The invitations to it, whatever their status, oldest first.',
        ...invitations,
      },
      OrganizationInvitationConnection,
    ),
    emailDomains: t.connection(
      {
        type: OrganizationEmailDomain,
        description: 'The e-mail domains whose people join just in time, in order of the alphabet.',
        ...emailDomains,
      },
      OrganizationEmailDomainConnection,
    ),
    jitRoles: t.connection(
      {
        type: OrganizationRole,
        description: 'The organization roles that people get who join just in time, oldest first.',
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

// An edge from a user to an organization is a membership, and the membership is what has the roles.
const UserOrganizationEdge = builder.prismaObject('OrganizationUser', {
  variant: 'UserOrganizationEdge',
  description: 'An organization of a user, with what the user has there.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    cursor: t.string({
      description: 'Its place in the list.',
      resolve: ({ organizationId }) => cursorOf(organizationId),
    }),
    node: t.relation('organization', { description: 'The organization.' }),
    roles: t.connection(rolesField, OrganizationRoleConnection),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user joined.' }),
  }),
});

const ApplicationOrganizationEdge = builder.prismaObject('OrganizationApplication', {
  variant: 'ApplicationOrganizationEdge',
  description: 'An organization of an application, with what the application has there.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    cursor: t.string({
      description: 'Its place in the list.',
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
      ...organizationsOfMember,
    },
    ApplicationOrganizationConnection,
  ),
);

const OrganizationFilter = builder.inputType('OrganizationFilter', {
  description: 'Which organizations to list: those for which every field given holds.',
  fields: (t) => ({
    search: t.string({
      description: 'Part of the name, the description or the id, whatever its case.',
    }),
    userId: t.id({ description: 'Has this user as a member.' }),
    applicationId: t.id({ description: 'Has this application as a member.' }),
    emailDomain: t.string({ description: 'Has people of this e-mail domain join just in time.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Was created after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Was created before this instant.' }),
  }),
});

const order = orderInput('Organization', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By when they were created.' },
  UPDATED_AT: { field: 'updatedAt', nullable: false, description: 'By when they last changed.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
});

function organizationWhere(
  filter: typeof OrganizationFilter.$inferInput | null | undefined,
): Prisma.OrganizationWhereInput {
  if (!filter) return {};
  const { userId, applicationId, emailDomain } = filter;
  const search = filter.search?.trim();
  const contains = { contains: search ?? '', mode: 'insensitive' } as const;
  return {
    ...(search ? { OR: [{ name: contains }, { description: contains }, { id: contains }] } : {}),
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
    description: 'An organization, or null where there is none with that id.',
    authScopes: { scope: 'organizations:read' },
    args: { id: t.arg.id({ required: true, description: "The organization's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.organization.findUnique({ ...query, where: { id } }),
  }),
  organizations: t.connection(
    {
      type: Organization,
      description: 'The organizations, newest first where no order is asked for.',
      authScopes: { scope: 'organizations:read' },
      args: {
        filter: t.arg({ type: OrganizationFilter, description: 'Which organizations to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) =>
        readPage({
          args,
          context,
          info,
          model: context.database.prisma.organization,
          where: organizationWhere(args.filter),
          order: order.read(args.orderBy),
        }),
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
    'Changes an organization. An absent field is left alone, null clears it; custom data is replaced as a whole. Raises `Organization.Data.Updated` where something changes.',
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
    'Deletes an organization with its memberships, the roles held in it, its invitations, e-mail domains and just-in-time roles. Raises `Organization.Membership.Updated` for its members, several of them beyond 5,000, then `Organization.Deleted`.',
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
  errors: [InvalidInputError, NotFoundError, ConflictError],
  resolve: async (input, context) => ({
    organization: await addOrganizationEmailDomain(context, input),
  }),
});

addMutation('removeOrganizationEmailDomain', {
  description: 'Takes an e-mail domain from an organization; members stay. Raises no event.',
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
    'Sets the organization roles that people get who join just in time; members keep what they have. Raises no event.',
  scope: 'organizations:write',
  input: (t) => ({
    organizationId: t.id({ required: true, description: "The organization's id." }),
    organizationRoleIds: t.idList({
      required: true,
      description: 'Organization roles for users, at most 100.',
    }),
  }),
  payload: (t: PayloadFields<OrganizationPayload>) => organizationPayload(t),
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({
    organization: await replaceOrganizationJitRoles(context, input),
  }),
});
