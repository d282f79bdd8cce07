import { folded } from '../db/sql.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { builder, ownGraphs, ownType } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { between, instantOf } from '../graphql/lists/page.ts';
import { addRecordQueries, orders } from '../graphql/lists/record-queries.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { type Identifier, normalValue } from '../protection/identifier.ts';
import { userHolder } from '../role-holders/holders.ts';
import { addRoleMutations, heldRoles } from '../role-holders/schema.ts';
import { Role, RoleConnection } from '../roles/schema.ts';
import { deleteUser } from './delete.ts';
import { lockedUntil } from './locks.ts';
import {
  createUser,
  isVouchedFor,
  updateUser,
  updateUserCustomData,
  updateUserPassword,
  updateUserProfile,
  updateUserSuspensionStatus,
} from './operations.ts';
import { signOutUser } from './sign-out.ts';

/** A person's account. */
export const User = builder.prismaNode('User', {
  ...ownType,
  nullable: true,
  id: {
    field: 'id',
    subGraphs: ownGraphs,
    description: "The user's id: a TypeID with the prefix `user`.",
  },
  description: "A person's account.",
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    username: t.exposeString('username', {
      subGraphs: ownGraphs,
      nullable: true,
      description: 'The user name to sign in with. Unique, ignoring case.',
    }),
    primaryEmail: t.expose('primaryEmail', {
      subGraphs: ownGraphs,
      type: 'EmailAddress',
      nullable: true,
      description:
        'The e-mail address to sign in with and to write to. Unique, ignoring case. Its domain is in lower case, and in Unicode if it is international. The part before the `@` is as it was given, but in lower case if a letter outside ASCII was a capital.',
    }),
    primaryPhone: t.expose('primaryPhone', {
      subGraphs: ownGraphs,
      type: 'PhoneNumber',
      nullable: true,
      description: 'The telephone number in E.164. Unique.',
    }),
    isEmailVerified: t.exposeBoolean('isEmailVerified', {
      subGraphs: ownGraphs,
      description: 'Whether the person has verified the e-mail address.',
    }),
    isPhoneVerified: t.exposeBoolean('isPhoneVerified', {
      subGraphs: ownGraphs,
      description: 'Whether the person has verified the telephone number.',
    }),
    name: t.exposeString('name', {
      subGraphs: ownGraphs,
      nullable: true,
      description: "The person's display name.",
    }),
    avatar: t.expose('avatar', {
      subGraphs: ownGraphs,
      type: 'URL',
      nullable: true,
      description: 'A picture.',
    }),
    profile: t.expose('profile', {
      subGraphs: ownGraphs,
      type: 'JSONObject',
      description: 'Standard claims about the person (OpenID Connect Core §5.1).',
    }),
    customData: t.expose('customData', {
      subGraphs: ownGraphs,
      type: 'JSONObject',
      description: 'Data that admin tools keep about the person.',
    }),
    isSuspended: t.exposeBoolean('isSuspended', {
      subGraphs: ownGraphs,
      description: 'Whether the person may not sign in; their tokens are then refused too.',
    }),
    lockedUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'When the last lock of the user name, the e-mail address and the telephone number ends, after too many failed attempts; null if none is locked. `unlockIdentifier` ends them.',
      resolve: (user, _args, context) => lockedUntil(context, user),
    }),
    hasPassword: t.boolean({
      subGraphs: ownGraphs,
      description: 'Whether the person has a password to sign in with.',
      resolve: ({ passwordDigest }) => passwordDigest !== null,
    }),
    lastSignInAt: t.expose('lastSignInAt', {
      subGraphs: ownGraphs,
      type: 'DateTime',
      nullable: true,
      description: 'When the person last signed in.',
    }),
    isVouchedFor: t.boolean({
      description:
        'Whether only roles limit the rights of the person in the management API. False once a caller without `all` has changed how the person signs in, or set up what they signed in by: `setterScopes` then limit them too.',
      resolve: isVouchedFor,
    }),
    setterScopes: t.exposeStringList('setterScopes', {
      description:
        'The scopes of the management API that all callers held who changed how the person signs in. The person has no rights beyond them, until a caller with `all` sets `isVouchedFor`.',
    }),
    roles: t.connection(
      {
        type: Role,
        description: "The user's roles outside organizations, oldest first.",
        authScopes: { scope: 'roles:read' },
        ...heldRoles,
      },
      RoleConnection,
    ),
    createdAt: t.expose('createdAt', {
      subGraphs: ownGraphs,
      type: 'DateTime',
      description: 'When it was created.',
    }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', {
      subGraphs: ownGraphs,
      type: 'DateTime',
      description: 'When it last changed.',
    }),
  }),
});

addRecordQueries(User, {
  names: ['user', 'users'],
  scope: 'users:read',
  search: {
    columns: ['name', 'username', 'primaryEmail', 'primaryPhone', 'id'],
    description: 'the name, user name, e-mail address, telephone number or id',
  },
  filter: (t) => ({
    username: t.string({ description: 'Has exactly this user name, ignoring case.' }),
    primaryEmail: t.field({
      type: 'EmailAddress',
      description: 'Has exactly this e-mail address, ignoring case.',
    }),
    primaryPhone: t.field({
      type: 'PhoneNumber',
      description: 'Has exactly this telephone number, in E.164.',
    }),
    roleId: t.id({ description: 'Has this role. Also requires `roles:read`.' }),
    organizationId: t.id({
      description: 'Is a member of this organization. Also requires `organizations:read`.',
    }),
    notOrganizationId: t.id({
      description: 'Is no member of this organization. Also requires `organizations:read`.',
    }),
    isSuspended: t.boolean({ description: 'Whether the user is suspended.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Was created after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Was created before this instant.' }),
    lastSignInAfter: t.field({
      type: 'DateTime',
      description: 'Last signed in after this instant.',
    }),
    lastSignInBefore: t.field({
      type: 'DateTime',
      description: 'Last signed in before this instant.',
    }),
  }),
  filterScopes: {
    roleId: 'roles:read',
    organizationId: 'organizations:read',
    notOrganizationId: 'organizations:read',
  },
  where: async (filter, { database }): Promise<Prisma.UserWhereInput> => {
    const { username, primaryEmail, primaryPhone, roleId, isSuspended } = filter;
    const { organizationId, notOrganizationId } = filter;
    const isNamed = username != null || primaryEmail != null;
    return {
      id: isNamed ? await findNamed(database.prisma, { username, primaryEmail }) : undefined,
      primaryPhone:
        primaryPhone == null ? undefined : normalValue({ type: 'phone', value: primaryPhone }),
      roles: roleId == null ? undefined : { some: { roleId } },
      organizations: {
        some: organizationId == null ? undefined : { organizationId },
        none: notOrganizationId == null ? undefined : { organizationId: notOrganizationId },
      },
      isSuspended: isSuspended ?? undefined,
      createdAt: between(instantOf(filter, 'createdAfter'), instantOf(filter, 'createdBefore')),
      lastSignInAt: between(
        instantOf(filter, 'lastSignInAfter'),
        instantOf(filter, 'lastSignInBefore'),
      ),
    };
  },
  order: {
    CREATED_AT: orders.byCreation,
    UPDATED_AT: orders.byChange,
    LAST_SIGN_IN_AT: {
      field: 'lastSignInAt',
      nullable: true,
      description: 'By time of the last sign-in.',
    },
    NAME: { field: 'name', nullable: true, description: 'By name.' },
    USERNAME: { field: 'username', nullable: true, description: 'By user name.' },
    PRIMARY_EMAIL: { field: 'primaryEmail', nullable: true, description: 'By e-mail address.' },
  },
});

/** An identifier that a filter asks for, if it does. */
type Asked = Pick<Identifier, 'type'> & { readonly value: string | null | undefined };

/**
 * The condition on the ids of users with these names. Prisma's own case-insensitive comparison uses no unique index.
 */
async function findNamed(
  prisma: GraphQLContext['database']['prisma'],
  { username, primaryEmail }: Record<'username' | 'primaryEmail', string | null | undefined>,
): Promise<{ in: string[] }> {
  const isNamed = (column: Prisma.Sql, { type, value }: Asked) =>
    value == null
      ? Prisma.sql`TRUE`
      : Prisma.sql`${folded(column)} = ${normalValue({ type, value })}`;
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "User"
     WHERE ${isNamed(Prisma.sql`"username"`, { type: 'username', value: username })}
       AND ${isNamed(Prisma.sql`"primaryEmail"`, { type: 'email', value: primaryEmail })}`;
  return { in: rows.map(({ id }) => id) };
}

const mutations = recordMutations('user', User, { scope: 'users:write' });

const profileFields = (t: InputFields) => ({
  username: t.string({
    description: 'Letters, digits, ".", "_" and "-", at most 128. Unique, ignoring case.',
  }),
  primaryEmail: t.field({
    type: 'EmailAddress',
    description:
      'Unique, ignoring case. An international domain is taken in Unicode or its ASCII form.',
  }),
  primaryPhone: t.field({ type: 'PhoneNumber', description: 'In E.164. Unique.' }),
  isEmailVerified: t.boolean({
    description: 'Whether the e-mail address is verified. Absent with a new address: no.',
  }),
  isPhoneVerified: t.boolean({
    description: 'Whether the telephone number is verified. Absent with a new number: no.',
  }),
  name: t.string({ description: 'At most 128 characters.' }),
  avatar: t.field({ type: 'URL', description: 'The http or https URL of a picture.' }),
});

/** The fields of the input of a new user. */
export const newUserFields = (t: InputFields) => ({
  ...profileFields(t),
  password: t.string({ description: 'At least 8 characters. Never shown again.' }),
  profile: t.field({ type: 'JSONObject', description: 'Standard claims about the person.' }),
  customData: t.field({ type: 'JSONObject', description: 'At most 64 KiB.' }),
});

mutations.add('createUser', {
  description: 'Creates a user with the default roles. Raises `User.Created`.',
  input: newUserFields,
  errors: [InvalidInputError, ConflictError, NotAllowedError],
  operation: (context, input) => createUser(context, input),
});

mutations.add('updateUser', {
  description:
    "Changes a user's own fields. An absent field stays as it is; null clears it. Raises `User.Data.Updated`, and `OrganizationInvitation.Data.Updated` for each invitation of an e-mail address that the user gives up: it is revoked.",
  input: (t) => ({
    id: mutations.id(t),
    ...profileFields(t),
    isVouchedFor: t.boolean({
      description:
        'True: the caller, who holds `all`, answers for how the person signs in, and lifts what limits their rights. Ends the person’s sessions then. It cannot be set to false.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => updateUser(context, input),
});

mutations.add('updateUserCustomData', {
  description:
    "Merges into a user's custom data at the first level; null removes a key. Raises `User.Data.Updated`.",
  input: (t) => ({
    id: mutations.id(t),
    customData: t.field({
      type: 'JSONObject',
      required: true,
      description: 'The custom data to merge in.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError],
  operation: (context, input) => updateUserCustomData(context, input),
});

mutations.add('updateUserProfile', {
  description:
    "Merges into a user's profile at the first level; null removes a key. Raises `User.Data.Updated`.",
  input: (t) => ({
    id: mutations.id(t),
    profile: t.field({
      type: 'JSONObject',
      required: true,
      description: 'The profile claims to merge in.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError],
  operation: (context, input) => updateUserProfile(context, input),
});

mutations.add('updateUserPassword', {
  description:
    "Sets a user's password and ends the user's sessions, refresh tokens and access tokens. Raises `User.Data.Updated`, without the password, `User.Credential.Updated`, and `User.Session.Ended` for each session.",
  input: (t) => ({
    id: mutations.id(t),
    password: t.string({ required: true, description: 'At least 8 characters.' }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => updateUserPassword(context, input),
});

mutations.add('updateUserSuspensionStatus', {
  description:
    "Suspends a user, or ends the suspension. Suspending ends the user's sessions, refresh tokens and access tokens. Raises `User.SuspensionStatus.Updated` if something changes, and `User.Session.Ended` for each session.",
  input: (t) => ({
    id: mutations.id(t),
    isSuspended: t.boolean({ required: true, description: 'Whether to suspend the user.' }),
  }),
  errors: [NotFoundError, NotAllowedError],
  operation: (context, input) => updateUserSuspensionStatus(context, input),
});

mutations.add('signOutUser', {
  description:
    "Ends a user's sessions, refresh tokens and all access tokens issued so far. The user may sign in again. Raises `User.Session.Ended` for each session, or once without a session if there were only tokens, and `User.Credential.Updated` for each personal access token.",
  input: (t) => ({ id: mutations.id(t) }),
  errors: [NotFoundError],
  operation: (context, input) => signOutUser(context, input),
});

mutations.addDeletion('deleteUser', {
  description:
    'Deletes a user with sessions, role assignments and organization memberships. Raises `User.Deleted`, `Organization.Membership.Updated` for each organization that loses the member, `OrganizationInvitation.Data.Updated` for each invitation of their address, which is revoked, `User.Session.Ended` for each session, and `User.Credential.Updated` for each personal access token that a third-party application had created in the user’s name.',
  model: ({ user }) => user,
  operation: deleteUser,
});

addRoleMutations(mutations, userHolder, {
  key: (t) => ({ userId: mutations.id(t) }),
  descriptions: {
    assign: 'Gives roles to a user; the user keeps those they have. Raises no event.',
    remove: 'Removes a role from a user. Raises no event.',
    replace: 'Gives a user these roles and removes all others. Raises no event.',
  },
});
