import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  InvitationStatus,
  OrganizationInvitation as OrganizationInvitationRow,
  OrganizationRole as OrganizationRoleRow,
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
import { addMutation, asItLastWas, type PayloadFields } from '../graphql/mutation.ts';
import { OrganizationRole, OrganizationRoleConnection } from '../organization-roles/schema.ts';
import {
  createOrganizationInvitation,
  deleteOrganizationInvitation,
  statusAt,
  updateOrganizationInvitationStatus,
} from './operations.ts';

const InvitationStatusEnum = builder.enumType('InvitationStatus', {
  description: 'The status of an invitation.',
  values: {
    PENDING: { description: 'It waits for an answer.' },
    ACCEPTED: { description: 'A user became a member through it.' },
    EXPIRED: { description: 'Nobody accepted it in time.' },
    REVOKED: { description: 'It was revoked.' },
  } as const,
});

const rolesOfInvitation = relatedList<
  { organizationRoleId: string; organizationRole: OrganizationRoleRow },
  OrganizationRoleRow
>({ relation: 'roles', key: 'organizationRoleId', through: 'organizationRole' });

/** An e-mail address that is invited to join an organization. */
export const OrganizationInvitation = builder.prismaNode('OrganizationInvitation', {
  nullable: true,
  id: { field: 'id', description: "The invitation's id: a TypeID with the prefix `inv`." },
  description: 'An e-mail address that is invited to join an organization.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    invitee: t.expose('invitee', {
      type: 'EmailAddress',
      description: 'The e-mail address of the invitee.',
    }),
    status: t.field({
      type: InvitationStatusEnum,
      description: 'Its status: EXPIRED if nobody answered before `expiresAt`.',
      resolve: (invitation, _args, { clock }) => statusAt(invitation, clock.now()),
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'When it expires.',
    }),
    organization: t.relation('organization', {
      description: 'The organization that it invites to.',
    }),
    roles: t.connection(
      {
        type: OrganizationRole,
        description: 'The organization roles that the invitee gets, oldest first.',
        ...rolesOfInvitation,
      },
      OrganizationRoleConnection,
    ),
    acceptedUser: t.relation('acceptedUser', {
      nullable: true,
      description:
        'The user who accepted it. Null if nobody has, if the user was deleted, or without `users:read`.',
      authScopes: { scopeInPlace: 'users:read' },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of invitations. */
export const OrganizationInvitationConnection = connectionOf(
  'OrganizationInvitation',
  OrganizationInvitation,
);

const invitationsOfOrganization = relatedList<OrganizationInvitationRow>({
  relation: 'invitations',
  key: 'id',
});

builder.prismaObjectField('Organization', 'invitations', (t) =>
  t.connection(
    {
      type: OrganizationInvitation,
      description: 'The invitations to it in any status, oldest first.',
      ...invitationsOfOrganization,
    },
    OrganizationInvitationConnection,
  ),
);

const OrganizationInvitationFilter = builder.inputType('OrganizationInvitationFilter', {
  description: 'Which invitations to list. A match meets every field that is given.',
  fields: (t) => ({
    search: t.string({ description: searchDescription("the invitee's address") }),
    organizationId: t.id({ description: 'Invites to this organization.' }),
    status: t.field({ type: InvitationStatusEnum, description: 'Has this status.' }),
    acceptedUserId: t.id({ description: 'Was accepted by this user. Also requires `users:read`.' }),
  }),
});

const order = orderInput('OrganizationInvitation', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By creation time.' },
});

function statusWhere(status: InvitationStatus, now: Date): Prisma.OrganizationInvitationWhereInput {
  if (status === 'PENDING') return { status, expiresAt: { gt: now } };
  if (status !== 'EXPIRED') return { status };
  return { OR: [{ status }, { status: 'PENDING', expiresAt: { lte: now } }] };
}

// Scopes that a filter on another area requires.
const organizationInvitationFilterScopes = {
  acceptedUserId: 'users:read',
} as const;

function invitationWhere(
  filter: typeof OrganizationInvitationFilter.$inferInput | null | undefined,
  now: Date,
): Prisma.OrganizationInvitationWhereInput {
  if (!filter) return {};
  const { organizationId, status, acceptedUserId } = filter;
  return {
    ...searching(filter.search, ['invitee']),
    ...(organizationId == null ? {} : { organizationId }),
    ...(status == null ? {} : statusWhere(status, now)),
    ...(acceptedUserId == null ? {} : { acceptedUserId }),
  };
}

builder.queryFields((t) => ({
  organizationInvitation: t.prismaField({
    type: 'OrganizationInvitation',
    nullable: true,
    description: 'An invitation, or null if none has that id.',
    authScopes: { scope: 'organizations:read' },
    args: { id: t.arg.id({ required: true, description: "The invitation's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.organizationInvitation.findUnique({ ...query, where: { id } }),
  }),
  organizationInvitations: t.connection(
    {
      type: OrganizationInvitation,
      description: 'The invitations, newest first by default.',
      authScopes: { scope: 'organizations:read' },
      args: {
        filter: t.arg({
          type: OrganizationInvitationFilter,
          description: 'Which invitations to list.',
        }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) => {
        assertMayFilter(context, args.filter, organizationInvitationFilterScopes);
        return readPage({
          args,
          context,
          info,
          model: context.database.prisma.organizationInvitation,
          where: invitationWhere(args.filter, context.clock.now()),
          order: order.read(args.orderBy),
        });
      },
    },
    OrganizationInvitationConnection,
  ),
}));

const invitationPayload = (
  t: PayloadFields<{ organizationInvitation: OrganizationInvitationRow }>,
) => ({
  organizationInvitation: t.field({
    type: OrganizationInvitation,
    description: 'The invitation.',
    resolve: ({ organizationInvitation }) => organizationInvitation,
  }),
});

addMutation('createOrganizationInvitation', {
  description:
    'Invites an e-mail address to an organization. One invitation of an address to an organization can be pending at a time. Raises no event.',
  scope: 'organizations:write',
  input: (t) => ({
    organizationId: t.id({ required: true, description: "The organization's id." }),
    invitee: t.field({
      type: 'EmailAddress',
      required: true,
      description: 'The e-mail address of the invitee.',
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'When it expires: seven days from now by default.',
    }),
    organizationRoleIds: t.idList({
      description: 'The organization roles for users that the invitee gets, at most 100.',
    }),
  }),
  payload: invitationPayload,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({
    organizationInvitation: await createOrganizationInvitation(context, input),
  }),
});

addMutation('updateOrganizationInvitationStatus', {
  description:
    "Answers a pending invitation. ACCEPTED makes a user whose e-mail address is the invitee's a member with the invitation's roles, and raises `Organization.Membership.Updated` if the user was not a member yet. REVOKED takes the invitation back, and raises no event.",
  scope: 'organizations:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The invitation's id." }),
    status: t.field({
      type: InvitationStatusEnum,
      required: true,
      description: 'ACCEPTED or REVOKED.',
    }),
    acceptedUserId: t.id({
      description: 'The user who accepts it: required with ACCEPTED, and not allowed without.',
    }),
  }),
  payload: invitationPayload,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    organizationInvitation: await updateOrganizationInvitationStatus(context, input),
  }),
});

addMutation('deleteOrganizationInvitation', {
  description:
    'Deletes an invitation in any status; a membership that came from it stays. Raises no event.',
  scope: 'organizations:write',
  input: (t) => ({ id: t.id({ required: true, description: "The invitation's id." }) }),
  payload: invitationPayload,
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const { organizationInvitation } = context.database.prisma;
    return {
      organizationInvitation: await asItLastWas({
        context,
        info,
        field: 'organizationInvitation',
        read: (query) => organizationInvitation.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteOrganizationInvitation(context, input),
      }),
    };
  },
});
