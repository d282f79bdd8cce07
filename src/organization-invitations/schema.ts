import { setterScopesDescription } from '../auth/granting/setter-scopes.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  InvitationStatus,
  OrganizationInvitation as OrganizationInvitationRow,
  OrganizationRole as OrganizationRoleRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { addRecordQueries, orders } from '../graphql/lists/record-queries.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { OrganizationRole, OrganizationRoleConnection } from '../organization-roles/schema.ts';
import {
  createOrganizationInvitation,
  deleteOrganizationInvitation,
  invitationUrl,
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
const OrganizationInvitation = builder.prismaNode('OrganizationInvitation', {
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
    url: t.field({
      type: 'URL',
      description:
        'The page where the invitee accepts it, signed in with that address. It is of no use to anybody else.',
      resolve: ({ id }, _args, context) => invitationUrl(context, id),
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
    setterScopes: t.exposeStringList('setterScopes', { description: setterScopesDescription }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of invitations. */
const OrganizationInvitationConnection = addRecordQueries(OrganizationInvitation, {
  names: ['organizationInvitation', 'organizationInvitations'],
  noun: 'invitation',
  scope: 'organizations:read',
  search: { columns: ['invitee'], description: "the invitee's address" },
  filter: (t) => ({
    organizationId: t.id({ description: 'Invites to this organization.' }),
    status: t.field({ type: InvitationStatusEnum, description: 'Has this status.' }),
    acceptedUserId: t.id({ description: 'Was accepted by this user. Also requires `users:read`.' }),
  }),
  filterScopes: { acceptedUserId: 'users:read' },
  where: (filter, { clock }): Prisma.OrganizationInvitationWhereInput => ({
    organizationId: filter.organizationId ?? undefined,
    ...(filter.status == null ? {} : statusWhere(filter.status, clock.now())),
    acceptedUserId: filter.acceptedUserId ?? undefined,
  }),
  order: { CREATED_AT: orders.byCreation },
});

function statusWhere(status: InvitationStatus, now: Date): Prisma.OrganizationInvitationWhereInput {
  if (status === 'PENDING') return { status, expiresAt: { gt: now } };
  if (status !== 'EXPIRED') return { status };
  return { OR: [{ status }, { status: 'PENDING', expiresAt: { lte: now } }] };
}

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

const mutations = recordMutations('organizationInvitation', OrganizationInvitation, {
  scope: 'organizations:write',
  noun: 'invitation',
});

mutations.add('createOrganizationInvitation', {
  description:
    'Invites an e-mail address to an organization. One invitation of an address to an organization can be pending at a time. Raises `OrganizationInvitation.Created`, and `OrganizationInvitation.Data.Updated` of an earlier one that has expired.',
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
    sendMessage: t.boolean({
      description: 'Whether to send the invitee an e-mail with the link. False by default.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => createOrganizationInvitation(context, input),
});

mutations.add('updateOrganizationInvitationStatus', {
  description:
    "Answers a pending invitation. ACCEPTED makes a user whose e-mail address is the invitee's a member with the invitation's roles, and raises `Organization.Membership.Updated` if the user was not a member yet. REVOKED takes the invitation back. Both raise `OrganizationInvitation.Data.Updated`.",
  input: (t) => ({
    id: mutations.id(t),
    status: t.field({
      type: InvitationStatusEnum,
      required: true,
      description: 'ACCEPTED or REVOKED.',
    }),
    acceptedUserId: t.id({
      description: 'The user who accepts it: required with ACCEPTED, and not allowed without.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => updateOrganizationInvitationStatus(context, input),
});

mutations.addDeletion('deleteOrganizationInvitation', {
  description:
    'Deletes an invitation in any status; a membership that came from it stays. Raises `OrganizationInvitation.Deleted`.',
  model: ({ organizationInvitation }) => organizationInvitation,
  operation: deleteOrganizationInvitation,
});
