import { ConflictError, InvalidInputError, NotFoundError } from '../errors.ts';
import type { Prisma, User as UserRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { ErrorCodeEnum } from '../graphql/errors.ts';
import { between, connectionOf, containing, orderInput, readPage } from '../graphql/list.ts';
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutation.ts';
import { relatedList } from '../graphql/related-list.ts';
import { Role, RoleConnection } from '../roles/schema.ts';
import { type ImportFailure, importUsers } from './import.ts';
import { importedPasswordAlgorithms, importedPasswordFormats } from './imported-password.ts';
import {
  createUser,
  deleteUser,
  signOutUser,
  updateUser,
  updateUserCustomData,
  updateUserPassword,
  updateUserProfile,
  updateUserSuspensionStatus,
} from './operations.ts';
import { assignUserRoles, removeUserRole, replaceUserRoles } from './roles.ts';

const rolesOfUser = relatedList<
  { roleId: string; role: typeof Role.$inferType },
  typeof Role.$inferType
>({ relation: 'roles', key: 'roleId', through: 'role' });

/** A person's account. */
export const User = builder.prismaNode('User', {
  nullable: true,
  id: { field: 'id', description: "The user's id: a TypeID with the prefix `user`." },
  description: "A person's account.",
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    username: t.exposeString('username', {
      nullable: true,
      description: 'What the person signs in with. Unique, whatever its case.',
    }),
    primaryEmail: t.expose('primaryEmail', {
      type: 'EmailAddress',
      nullable: true,
      description: 'The e-mail address to sign in with and to write to. Unique, whatever its case.',
    }),
    primaryPhone: t.expose('primaryPhone', {
      type: 'PhoneNumber',
      nullable: true,
      description: 'The telephone number in E.164. Unique.',
    }),
    name: t.exposeString('name', { nullable: true, description: "The person's name, to show." }),
    avatar: t.expose('avatar', { type: 'URL', nullable: true, description: 'A picture.' }),
    profile: t.expose('profile', {
      type: 'JSONObject',
      description: 'Standard claims about the person (OpenID Connect Core §5.1).',
    }),
    customData: t.expose('customData', {
      type: 'JSONObject',
      description: 'Whatever the admin tools keep about the person.',
    }),
    isSuspended: t.exposeBoolean('isSuspended', {
      description: 'Whether the person is kept from signing in, and tokens from being exchanged.',
    }),
    hasPassword: t.boolean({
      description: 'Whether the person has a password to sign in with.',
      resolve: ({ passwordDigest }) => passwordDigest !== null,
    }),
    lastSignInAt: t.expose('lastSignInAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the person last signed in.',
    }),
    roles: t.connection(
      {
        type: Role,
        description: "The user's roles outside of organizations, oldest first.",
        ...rolesOfUser,
      },
      RoleConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of users. */
export const UserConnection = connectionOf('User', User);

const UserFilter = builder.inputType('UserFilter', {
  description: 'Which users to list: those for which every field given holds.',
  fields: (t) => ({
    search: t.string({
      description:
        'Part of the name, user name, e-mail address, telephone number or id, whatever its case.',
    }),
    roleId: t.id({ description: 'Has this role.' }),
    organizationId: t.id({ description: 'Is a member of this organization.' }),
    isSuspended: t.boolean({ description: 'Is suspended, or is not.' }),
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
});

const order = orderInput('User', {
  // Ids begin with the time they were made.
  CREATED_AT: { field: 'id', nullable: false, description: 'By when they were created.' },
  UPDATED_AT: { field: 'updatedAt', nullable: false, description: 'By when they last changed.' },
  LAST_SIGN_IN_AT: {
    field: 'lastSignInAt',
    nullable: true,
    description: 'By when they last signed in.',
  },
  NAME: { field: 'name', nullable: true, description: 'By name.' },
  USERNAME: { field: 'username', nullable: true, description: 'By user name.' },
  PRIMARY_EMAIL: { field: 'primaryEmail', nullable: true, description: 'By e-mail address.' },
});

function userWhere(
  filter: typeof UserFilter.$inferInput | null | undefined,
): Prisma.UserWhereInput {
  if (!filter) return {};
  const { search, roleId, organizationId, isSuspended } = filter;
  const contains = containing(search?.trim() ?? '');
  return {
    ...(search?.trim()
      ? {
          OR: [
            { name: contains },
            { username: contains },
            { primaryEmail: contains },
            { primaryPhone: contains },
            { id: contains },
          ],
        }
      : {}),
    ...(roleId == null ? {} : { roles: { some: { roleId } } }),
    ...(organizationId == null ? {} : { organizations: { some: { organizationId } } }),
    ...(isSuspended == null ? {} : { isSuspended }),
    createdAt: between(filter.createdAfter, filter.createdBefore),
    lastSignInAt: between(filter.lastSignInAfter, filter.lastSignInBefore),
  };
}

builder.queryFields((t) => ({
  user: t.prismaField({
    type: 'User',
    nullable: true,
    description: 'A user, or null where there is none with that id.',
    authScopes: { scope: 'users:read' },
    args: { id: t.arg.id({ required: true, description: "The user's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.user.findUnique({ ...query, where: { id } }),
  }),
  users: t.connection(
    {
      type: User,
      description: 'The users, newest first where no order is asked for.',
      authScopes: { scope: 'users:read' },
      args: {
        filter: t.arg({ type: UserFilter, description: 'Which users to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) =>
        readPage({
          args,
          context,
          info,
          model: context.database.prisma.user,
          where: userWhere(args.filter),
          order: order.read(args.orderBy),
        }),
    },
    UserConnection,
  ),
}));

const userPayload = (t: PayloadFields<{ user: UserRow }>) => ({
  user: t.field({ type: User, description: 'The user.', resolve: ({ user }) => user }),
});

const idField = (t: InputFields) => ({
  id: t.id({ required: true, description: "The user's id." }),
});
const profileFields = (t: InputFields) => ({
  username: t.string({
    description: 'Letters, digits, ".", "_" and "-", at most 128. Unique, whatever its case.',
  }),
  primaryEmail: t.field({ type: 'EmailAddress', description: 'Unique, whatever its case.' }),
  primaryPhone: t.field({ type: 'PhoneNumber', description: 'In E.164. Unique.' }),
  name: t.string({ description: 'At most 128 characters.' }),
  avatar: t.field({ type: 'URL', description: 'The http or https URL of a picture.' }),
});

const newUserFields = (t: InputFields) => ({
  ...profileFields(t),
  password: t.string({ description: 'At least 8 characters. Never shown again.' }),
  profile: t.field({ type: 'JSONObject', description: 'Standard claims about the person.' }),
  customData: t.field({ type: 'JSONObject', description: 'At most 64 KiB.' }),
});

addMutation('createUser', {
  description: 'Creates a user, who gets the roles marked as default. Raises `User.Created`.',
  scope: 'users:write',
  input: newUserFields,
  payload: userPayload,
  errors: [InvalidInputError, ConflictError],
  resolve: async (input, context) => ({ user: await createUser(context, input) }),
});

const ImportFailureObject = builder.objectRef<ImportFailure>('ImportFailure').implement({
  description: 'A row of an import that was not taken.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its place in the input, from 0.' }),
    code: t.expose('code', { type: ErrorCodeEnum, description: 'What kind of failure it was.' }),
    message: t.exposeString('message', { description: 'The failure in words, for a person.' }),
  }),
});

const ImportedUserInput = builder.inputType('ImportedUserInput', {
  description: 'A user to import: as `createUser` takes it, or with the digest of a password.',
  fields: (t) => ({
    ...newUserFields(t),
    passwordDigest: t.string({
      description: `The digest of the password in another system, in the format of its algorithm. ${Object.entries(
        importedPasswordFormats,
      )
        .map(([algorithm, format]) => `${algorithm}: ${format}.`)
        .join(' ')} \`salt\` and \`hash\` are Base64.`,
    }),
    passwordAlgorithm: t.string({
      description: `How the digest was made, whatever the case: ${importedPasswordAlgorithms.join(', ')}. It is replaced by Argon2id when the user next signs in.`,
    }),
  }),
});

addMutation('importUsers', {
  description:
    'Creates up to 1,000 users at once, each as `createUser` does, with password digests of other systems. A row that is wrong is reported and does not stop the others. Raises `User.Created` for each user.',
  scope: 'users:write',
  input: (t) => ({
    users: t.field({
      type: [ImportedUserInput],
      required: true,
      description: 'The users, at most 1,000.',
    }),
  }),
  payload: (t: PayloadFields<{ users: UserRow[]; failures: ImportFailure[] }>) => ({
    users: t.field({
      type: [User],
      description: 'The users created, in the order of the input.',
      resolve: ({ users }) => users,
    }),
    failures: t.field({
      type: [ImportFailureObject],
      description: 'The rows that were not taken, in the order of the input.',
      resolve: ({ failures }) => failures,
    }),
  }),
  errors: [InvalidInputError],
  resolve: (input, context) => importUsers(context, input),
});

addMutation('updateUser', {
  description:
    "Changes a user's own fields. An absent field is left alone, null clears it. Raises `User.Data.Updated`.",
  scope: 'users:write',
  input: (t) => ({ ...idField(t), ...profileFields(t) }),
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError, ConflictError],
  resolve: async (input, context) => ({ user: await updateUser(context, input) }),
});

addMutation('updateUserCustomData', {
  description:
    "Merges into a user's custom data at the first level; null removes a key. Raises `User.Data.Updated`.",
  scope: 'users:write',
  input: (t) => ({
    ...idField(t),
    customData: t.field({ type: 'JSONObject', required: true, description: 'What to merge in.' }),
  }),
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({ user: await updateUserCustomData(context, input) }),
});

addMutation('updateUserProfile', {
  description:
    "Merges into a user's profile at the first level; null removes a key. Raises `User.Data.Updated`.",
  scope: 'users:write',
  input: (t) => ({
    ...idField(t),
    profile: t.field({ type: 'JSONObject', required: true, description: 'What to merge in.' }),
  }),
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({ user: await updateUserProfile(context, input) }),
});

addMutation('updateUserPassword', {
  description:
    "Sets a user's password and ends the user's sessions, refresh tokens and access tokens. Raises `User.Data.Updated`, without the password.",
  scope: 'users:write',
  input: (t) => ({
    ...idField(t),
    password: t.string({ required: true, description: 'At least 8 characters.' }),
  }),
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({ user: await updateUserPassword(context, input) }),
});

addMutation('updateUserSuspensionStatus', {
  description:
    "Suspends a user, which ends the user's sessions, refresh tokens and access tokens, or lets the user in again. Raises `User.SuspensionStatus.Updated` where it changes something.",
  scope: 'users:write',
  input: (t) => ({
    ...idField(t),
    isSuspended: t.boolean({ required: true, description: 'Whether the user is to be suspended.' }),
  }),
  payload: userPayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({ user: await updateUserSuspensionStatus(context, input) }),
});

addMutation('signOutUser', {
  description:
    "Ends a user's sessions, refresh tokens and every access token issued so far; the user may sign in again. Raises no event.",
  scope: 'users:write',
  input: idField,
  payload: userPayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({ user: await signOutUser(context, input) }),
});

addMutation('deleteUser', {
  description:
    'Deletes a user with sessions, role assignments and organization memberships. Raises `User.Deleted`, and `Organization.Membership.Updated` for each organization that loses the member.',
  scope: 'users:write',
  input: idField,
  payload: userPayload,
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const { user } = context.database.prisma;
    return {
      user: await asItLastWas({
        read: (query) => user.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteUser(context, input),
        context,
        info,
        field: 'user',
      }),
    };
  },
});

const rolesInput = (t: InputFields) => ({
  userId: t.id({ required: true, description: "The user's id." }),
  roleIds: t.idList({ required: true, description: 'Roles for users, at most 100.' }),
});

addMutation('assignUserRoles', {
  description: 'Gives roles to a user; those the user has are left alone. Raises no event.',
  scope: 'users:write',
  input: rolesInput,
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({ user: await assignUserRoles(context, input) }),
});

addMutation('removeUserRole', {
  description: 'Takes a role from a user. Raises no event.',
  scope: 'users:write',
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    roleId: t.id({ required: true, description: 'The role to take.' }),
  }),
  payload: userPayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({ user: await removeUserRole(context, input) }),
});

addMutation('replaceUserRoles', {
  description: 'Gives a user these roles and takes all others. Raises no event.',
  scope: 'users:write',
  input: rolesInput,
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError],
  resolve: async (input, context) => ({ user: await replaceUserRoles(context, input) }),
});
