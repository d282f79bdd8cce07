import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  OrganizationEmailDomain as OrganizationEmailDomainRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder, ownGraphs, ownType } from '../graphql/builder.ts';
import { between, connectionOf, instantOf } from '../graphql/lists/page.ts';
import { addRecordQueries, orders, textSearch } from '../graphql/lists/record-queries.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { OrganizationRole, OrganizationRoleConnection } from '../organization-roles/schema.ts';
import { readDomain } from '../text/address.ts';
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
} from './memberships-schema.ts';
import { createOrganization, deleteOrganization, updateOrganization } from './operations.ts';

const OrganizationEmailDomain = builder.prismaObject('OrganizationEmailDomain', {
  description: 'An e-mail domain whose people join an organization just in time.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    domain: t.exposeString('domain', {
      description: 'The domain, in lower case, and in Unicode if it is international.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
  }),
});

const OrganizationEmailDomainConnection = connectionOf(
  'OrganizationEmailDomain',
  OrganizationEmailDomain,
);

const members = relatedList<typeof OrganizationUser.$inferType>({
  relation: 'members',
  key: 'userId',
  sealsCursors: true,
});
const applications = relatedList<typeof OrganizationApplication.$inferType>({
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

const requiresFactor =
  'Whether its members need a second factor. They add one at the next sign-in, if the settings offer any.';

/** A customer or a team: users and applications are members of it. */
export const Organization = builder.prismaNode('Organization', {
  ...ownType,
  nullable: true,
  id: {
    field: 'id',
    subGraphs: ownGraphs,
    description: "The organization's id: a TypeID with the prefix `org`.",
  },
  description: 'A customer or a team: users and applications are members of it.',
  authScopes: { scope: 'organizations:read' },
  fields: (t) => ({
    name: t.exposeString('name', { subGraphs: ownGraphs, description: 'Its display name.' }),
    description: t.exposeString('description', {
      subGraphs: ownGraphs,
      nullable: true,
      description: 'Its description.',
    }),
    customData: t.expose('customData', {
      type: 'JSONObject',
      description: 'Data that admin tools keep about the organization.',
    }),
    requiresFactor: t.exposeBoolean('requiresFactor', { description: requiresFactor }),
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
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

addRecordQueries(Organization, {
  names: ['organization', 'organizations'],
  scope: 'organizations:read',
  search: textSearch,
  filter: (t) => ({
    userId: t.id({ description: 'Has this user as a member. Also requires `users:read`.' }),
    applicationId: t.id({
      description: 'Has this application as a member. Also requires `applications:read`.',
    }),
    emailDomain: t.string({ description: 'People with this e-mail domain join it just in time.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Was created after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Was created before this instant.' }),
  }),
  filterScopes: { userId: 'users:read', applicationId: 'applications:read' },
  where: (filter): Prisma.OrganizationWhereInput => {
    const { userId, applicationId, emailDomain } = filter;
    const domain = emailDomain == null ? undefined : (readDomain(emailDomain) ?? emailDomain);
    return {
      members: userId == null ? undefined : { some: { userId } },
      applications: applicationId == null ? undefined : { some: { applicationId } },
      emailDomains: domain === undefined ? undefined : { some: { domain } },
      createdAt: between(instantOf(filter, 'createdAfter'), instantOf(filter, 'createdBefore')),
    };
  },
  order: {
    CREATED_AT: orders.byCreation,
    UPDATED_AT: orders.byChange,
    NAME: orders.byName,
  },
});

/** The mutations of organizations. */
export const organizationMutations = recordMutations('organization', Organization, {
  scope: 'organizations:write',
});

const dataFields = (t: InputFields) => ({
  customData: t.field({ type: 'JSONObject', description: 'At most 64 KiB.' }),
  requiresFactor: t.boolean({ description: requiresFactor }),
});

organizationMutations.add('createOrganization', {
  description: 'Creates an organization. Raises `Organization.Created`.',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    ...dataFields(t),
  }),
  errors: [InvalidInputError],
  operation: (context, input) => createOrganization(context, input),
});

organizationMutations.add('updateOrganization', {
  description:
    'Changes an organization. An absent field stays as it is; null clears it; custom data is replaced as a whole. Raises `Organization.Data.Updated` if something changes.',
  input: (t) => ({
    id: organizationMutations.id(t),
    name: t.string({ description: 'At most 128 characters.' }),
    description: t.string({ description: 'At most 1024 characters.' }),
    ...dataFields(t),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => updateOrganization(context, input),
});

organizationMutations.addDeletion('deleteOrganization', {
  description:
    'Deletes an organization with its memberships, the roles held in it, its invitations, e-mail domains and just-in-time roles. Raises `Organization.Membership.Updated` for its members (several events for more than 5,000), `OrganizationInvitation.Deleted` for each invitation, then `Organization.Deleted`.',
  model: ({ organization }) => organization,
  operation: deleteOrganization,
  errors: [NotFoundError, NotAllowedError],
});

const emailDomainInput = (t: InputFields) => ({
  organizationId: organizationMutations.id(t),
  domain: t.string({ required: true, description: 'A domain name, such as example.com.' }),
});

organizationMutations.add('addOrganizationEmailDomain', {
  description:
    'Adds an e-mail domain whose people join the organization just in time. Raises `Organization.Settings.Updated`.',
  input: emailDomainInput,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => addOrganizationEmailDomain(context, input),
});

organizationMutations.add('removeOrganizationEmailDomain', {
  description:
    'Removes an e-mail domain from an organization; members stay. Raises `Organization.Settings.Updated`.',
  input: emailDomainInput,
  errors: [NotFoundError],
  operation: (context, input) => removeOrganizationEmailDomain(context, input),
});

organizationMutations.add('replaceOrganizationJitRoles', {
  description:
    'Sets the organization roles of people who join just in time; members keep the roles they have. Raises `Organization.Settings.Updated` if something changed.',
  input: (t) => ({
    organizationId: organizationMutations.id(t),
    organizationRoleIds: t.idList({
      required: true,
      description: 'Organization roles for users, at most 100.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => replaceOrganizationJitRoles(context, input),
});
