import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  InvitationStatus,
  OrganizationInvitation as OrganizationInvitationRow,
  OrganizationRole as OrganizationRoleRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf, orderInput, readPage } from '../graphql/list.ts';
import { addMutation, asItLastWas, type PayloadFields } from '../graphql/mutation.ts';
import { relatedList } from '../graphql/related-list.ts';
import {
  createOrganizationInvitation,
  deleteOrganizationInvitation,
  statusAt,
  updateOrganizationInvitationStatus,
} from './invitations.ts';
import { OrganizationRole, OrganizationRoleConnection } from './role-schema.ts';

const InvitationStatusEnum = builder.enumType('InvitationStatus', {
  description: 'What became of an invitation.',
  values: {
    PENDING: { description: 'It waits for an answer.' },
    ACCEPTED: { description: 'A user became a member through it.' },
    EXPIRED: { description: 'Nobody accepted it in time.' },
    REVOKED: { description: 'It was taken back.' },
  } as const,
});

const rolesOfInvitation = relatedList<
  { organizationRoleId: string; organizationRole: OrganizationRoleRow },
  OrganizationRoleRow
>({ relation: 'roles', key: 'organizationRoleId', through: 'organizationRole' });

/** An e-mail address that is asked to join an organization. */
export const OrganizationInvitation = builder.prismaNode('OrganizationInvitation', {
  nullable: true,
  id: { field: 'id', description: "The invitation's id: a TypeID with the prefix `inv`." },
  description: 'An e-mail address that is asked to join an organization.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    invitee: t.expose('invitee', {
      type: 'EmailAddress',
      description: 'Who is invited: an e-mail address.',
    }),
    status: t.field({
      type: InvitationStatusEnum,
      description: 'What became of it. One that waited beyond `expiresAt` shows as EXPIRED.',
      resolve: (invitation, _args, { clock }) => statusAt(invitation, clock.now()),
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'Until when it can be accepted.',
    }),
    organization: t.relation('organization', { description: 'What it invites to.' }),
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
      description: 'Who accepted it; null where nobody did, or the user was deleted since.',
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

const OrganizationInvitationFilter = builder.inputType('OrganizationInvitationFilter', {
  description: 'Which invitations to list: those for which every field given holds.',
  fields: (t) => ({
    search: t.string({ description: "Part of the invitee's address, whatever its case." }),
    organizationId: t.id({ description: 'Invites to this organization.' }),
    status: t.field({ type: InvitationStatusEnum, description: 'Has this status.' }),
    acceptedUserId: t.id({ description: 'Was accepted by this user.' }),
  }),
});

const order = orderInput('OrganizationInvitation', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By when they were created.' },
});

function statusWhere(status: InvitationStatus, now: Date): Prisma.OrganizationInvitationWhereInput {
  if (status === 'PENDING') return { status, expiresAt: { gt: now } };
  if (status !== 'EXPIRED') return { status };
  return { OR: [{ status }, { status: 'PENDING', expiresAt: { lte: now } }] };
}

function invitationWhere(
  filter: typeof OrganizationInvitationFilter.$inferInput | null | undefined,
  now: Date,
): Prisma.OrganizationInvitationWhereInput {
  if (!filter) return {};
  const { organizationId, status, acceptedUserId } = filter;
  const search = filter.search?.trim();
  return {
    ...(search ? { invitee: { contains: search, mode: 'insensitive' } } : {}),
    ...(organizationId == null ? {} : { organizationId }),
    ...(status == null ? {} : statusWhere(status, now)),
    ...(acceptedUserId == null ? {} : { acceptedUserId }),
  };
}

builder.queryFields((t) => ({
  organizationInvitation: t.prismaField({
    type: 'OrganizationInvitation',
    nullable: true,
    description: 'An invitation, or null where there is none with that id.',
    authScopes: { scope: 'organizations:read' },
    args: { id: t.arg.id({ required: true, description: "The invitation's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.organizationInvitation.findUnique({ ...query, where: { id } }),
  }),
  organizationInvitations: t.connection(
    {
      type: OrganizationInvitation,
      description: 'The invitations, newest first where no order is asked for.',
      authScopes: { scope: 'organizations:read' },
      args: {
        filter: t.arg({
          type: OrganizationInvitationFilter,
          description: 'Which invitations to list.',
        }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) =>
        readPage({
          args,
          context,
          info,
          model: context.database.prisma.organizationInvitation,
          where: invitationWhere(args.filter, context.clock.now()),
          order: order.read(args.orderBy),
        }),
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
    invitee: t.field({ type: 'EmailAddress', required: true, description: 'Who is invited.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Until when it can be accepted: seven days from now by default.',
    }),
    organizationRoleIds: t.idList({
      description: 'The organization roles for users that the invitee gets, at most 100.',
    }),
  }),
  payload: invitationPayload,
  errors: [InvalidInputError, NotFoundError, ConflictError],
  resolve: async (input, context) => ({
    organizationInvitation: await createOrganizationInvitation(context, input),
  }),
});

addMutation('updateOrganizationInvitationStatus', {
  description:
    "Answers a pending invitation. ACCEPTED makes a user whose e-mail address is the invitee's a member with the invitation's roles, and raises `Organization.Membership.Updated` where the user was none yet. REVOKED takes the invitation back, and raises no event.",
  scope: 'organizations:write',
  input: (t) => ({
    id: t.id({ required: true, description: "The invitation's id." }),
    status: t.field({
      type: InvitationStatusEnum,
      required: true,
      description: 'ACCEPTED or REVOKED.',
    }),
    acceptedUserId: t.id({ description: 'Who accepts it: with ACCEPTED, and with it alone.' }),
  }),
  payload: invitationPayload,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    organizationInvitation: await updateOrganizationInvitationStatus(context, input),
  }),
});

addMutation('deleteOrganizationInvitation', {
  description:
    'Deletes an invitation, whatever its status; a membership that came of it stays. Raises no event.',
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
