import type { GraphQLEnumType, GraphQLSchema } from 'graphql';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import { Prisma, type User as UserRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { ErrorCodeEnum } from '../graphql/errors.ts';
import {
  assertMayFilter,
  between,
  connectionOf,
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
import { Role, RoleConnection } from '../roles/schema.ts';
import { type ImportFailure, importUsers } from './import.ts';
import {
  findPasswordAlgorithm,
  type ImportedPasswordAlgorithm,
  importedPasswordAlgorithms,
  importedPasswordFormats,
} from './imported-password.ts';
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
      description: 'The user name to sign in with. Unique, ignoring case.',
    }),
    primaryEmail: t.expose('primaryEmail', {
      type: 'EmailAddress',
      nullable: true,
      description: 'The e-mail address to sign in with and to write to. Unique, ignoring case.',
    }),
    primaryPhone: t.expose('primaryPhone', {
      type: 'PhoneNumber',
      nullable: true,
      description: 'The telephone number in E.164. Unique.',
    }),
    isEmailVerified: t.exposeBoolean('isEmailVerified', {
      description: 'Whether the person has verified the e-mail address.',
    }),
    isPhoneVerified: t.exposeBoolean('isPhoneVerified', {
      description: 'Whether the person has verified the telephone number.',
    }),
    name: t.exposeString('name', { nullable: true, description: "The person's display name." }),
    avatar: t.expose('avatar', { type: 'URL', nullable: true, description: 'A picture.' }),
    profile: t.expose('profile', {
      type: 'JSONObject',
      description: 'Standard claims about the person (OpenID Connect Core §5.1).',
    }),
    customData: t.expose('customData', {
      type: 'JSONObject',
      description: 'Data that admin tools keep about the person.',
    }),
    isSuspended: t.exposeBoolean('isSuspended', {
      description: 'Whether the person may not sign in; their tokens are then refused too.',
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
        description: "The user's roles outside organizations, oldest first.",
        authScopes: { scope: 'roles:read' },
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
  description: 'Which users to list. A match meets every field that is given.',
  fields: (t) => ({
    search: t.string({
      description: searchDescription('the name, user name, e-mail address, telephone number or id'),
    }),
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
});

const order = orderInput('User', {
  // Ids begin with their creation time.
  CREATED_AT: { field: 'id', nullable: false, description: 'By creation time.' },
  UPDATED_AT: { field: 'updatedAt', nullable: false, description: 'By time of the last change.' },
  LAST_SIGN_IN_AT: {
    field: 'lastSignInAt',
    nullable: true,
    description: 'By time of the last sign-in.',
  },
  NAME: { field: 'name', nullable: true, description: 'By name.' },
  USERNAME: { field: 'username', nullable: true, description: 'By user name.' },
  PRIMARY_EMAIL: { field: 'primaryEmail', nullable: true, description: 'By e-mail address.' },
});

// Scopes that a filter on another area requires.
const userFilterScopes = {
  roleId: 'roles:read',
  organizationId: 'organizations:read',
} as const;

async function userWhere(
  filter: typeof UserFilter.$inferInput | null | undefined,
  { prisma }: GraphQLContext['database'],
): Promise<Prisma.UserWhereInput> {
  if (!filter) return {};
  const { search, username, primaryEmail, primaryPhone, roleId, organizationId, isSuspended } =
    filter;
  const named = { username, primaryEmail };
  return {
    ...searching(search, ['name', 'username', 'primaryEmail', 'primaryPhone', 'id']),
    ...(username == null && primaryEmail == null ? {} : { id: await findNamed(prisma, named) }),
    ...(primaryPhone == null ? {} : { primaryPhone }),
    ...(roleId == null ? {} : { roles: { some: { roleId } } }),
    ...(organizationId == null ? {} : { organizations: { some: { organizationId } } }),
    ...(isSuspended == null ? {} : { isSuspended }),
    createdAt: between(filter.createdAfter, filter.createdBefore),
    lastSignInAt: between(filter.lastSignInAfter, filter.lastSignInBefore),
  };
}

/**
 * The condition on the ids of users with these names. Prisma's own case-insensitive comparison uses no unique index.
 */
async function findNamed(
  prisma: GraphQLContext['database']['prisma'],
  { username, primaryEmail }: Record<'username' | 'primaryEmail', string | null | undefined>,
): Promise<{ in: string[] }> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT "id" FROM "User"
     WHERE ${username == null ? Prisma.sql`TRUE` : Prisma.sql`lower("username") = lower(${username})`}
       AND ${primaryEmail == null ? Prisma.sql`TRUE` : Prisma.sql`lower("primaryEmail") = lower(${primaryEmail})`}`;
  return { in: rows.map(({ id }) => id) };
}

builder.queryFields((t) => ({
  user: t.prismaField({
    type: 'User',
    nullable: true,
    description: 'A user, or null if none has that id.',
    authScopes: { scope: 'users:read' },
    args: { id: t.arg.id({ required: true, description: "The user's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.user.findUnique({ ...query, where: { id } }),
  }),
  users: t.connection(
    {
      type: User,
      description: 'The users, newest first by default.',
      authScopes: { scope: 'users:read' },
      args: {
        filter: t.arg({ type: UserFilter, description: 'Which users to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: async (_root, args, context, info) => {
        assertMayFilter(context, args.filter, userFilterScopes);
        return readPage({
          args,
          context,
          info,
          model: context.database.prisma.user,
          where: await userWhere(args.filter, context.database),
          order: order.read(args.orderBy),
        });
      },
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
    description: 'Letters, digits, ".", "_" and "-", at most 128. Unique, ignoring case.',
  }),
  primaryEmail: t.field({ type: 'EmailAddress', description: 'Unique, ignoring case.' }),
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

const newUserFields = (t: InputFields) => ({
  ...profileFields(t),
  password: t.string({ description: 'At least 8 characters. Never shown again.' }),
  profile: t.field({ type: 'JSONObject', description: 'Standard claims about the person.' }),
  customData: t.field({ type: 'JSONObject', description: 'At most 64 KiB.' }),
});

addMutation('createUser', {
  description: 'Creates a user with the default roles. Raises `User.Created`.',
  scope: 'users:write',
  input: newUserFields,
  payload: userPayload,
  errors: [InvalidInputError, ConflictError, NotAllowedError],
  resolve: async (input, context) => ({ user: await createUser(context, input) }),
});

const ImportFailureObject = builder.objectRef<ImportFailure>('ImportFailure').implement({
  description: 'A rejected row of an import.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its index in the input, from 0.' }),
    code: t.expose('code', { type: ErrorCodeEnum, description: 'The kind of failure.' }),
    message: t.exposeString('message', { description: 'The failure as a text for people.' }),
  }),
});

const PasswordAlgorithmEnum = builder.enumType('PasswordAlgorithm', {
  description: 'The algorithm of a password digest.',
  values: Object.fromEntries(
    importedPasswordAlgorithms.map((algorithm) => [
      algorithm.toUpperCase(),
      { value: algorithm, description: `${importedPasswordFormats[algorithm]}.` },
    ]),
  ) as Record<string, { value: ImportedPasswordAlgorithm; description: string }>,
});

/**
 * Lets variables, and so REST, name algorithms as elsewhere, such as `Argon2id` and `SHA-256`. An unknown name reaches
 * the import, which rejects only its row.
 */
export function takeAlgorithmNames(schema: GraphQLSchema): void {
  const algorithms = schema.getType('PasswordAlgorithm') as GraphQLEnumType;
  const coerce = algorithms.coerceInputValue.bind(algorithms);
  algorithms.coerceInputValue = (value, hideSuggestions) =>
    typeof value === 'string'
      ? (findPasswordAlgorithm(value) ?? value)
      : coerce(value, hideSuggestions);
}

const ImportedUserInput = builder.inputType('ImportedUserInput', {
  description:
    'A user to import: the fields of `createUser`, or a password digest in place of a password.',
  fields: (t) => ({
    ...newUserFields(t),
    passwordDigest: t.string({
      description: `The digest of the password in another system, in the format of its algorithm. ${Object.entries(
        importedPasswordFormats,
      )
        .map(([algorithm, format]) => `${algorithm}: ${format}.`)
        .join(' ')} \`salt\` and \`hash\` are Base64.`,
    }),
    passwordAlgorithm: t.field({
      type: PasswordAlgorithmEnum,
      description:
        'The algorithm of the digest. It is replaced by Argon2id when the user next signs in. In variables, and over REST, case and punctuation do not matter: `sha-256` is `SHA256`.',
    }),
  }),
});

addMutation('importUsers', {
  description:
    'Creates up to 1,000 users at once, each as `createUser` does, or with password digests of other systems. A faulty row is reported and does not stop the others. Raises `User.Created` for each user.',
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
      description: 'The rejected rows, in the order of the input.',
      resolve: ({ failures }) => failures,
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: (input, context) => importUsers(context, input),
});

addMutation('updateUser', {
  description:
    "Changes a user's own fields. An absent field stays as it is; null clears it. Raises `User.Data.Updated`.",
  scope: 'users:write',
  input: (t) => ({ ...idField(t), ...profileFields(t) }),
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
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
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ user: await updateUserPassword(context, input) }),
});

addMutation('updateUserSuspensionStatus', {
  description:
    "Suspends a user, or ends the suspension. Suspending ends the user's sessions, refresh tokens and access tokens. Raises `User.SuspensionStatus.Updated` if something changes.",
  scope: 'users:write',
  input: (t) => ({
    ...idField(t),
    isSuspended: t.boolean({ required: true, description: 'Whether to suspend the user.' }),
  }),
  payload: userPayload,
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ user: await updateUserSuspensionStatus(context, input) }),
});

addMutation('signOutUser', {
  description:
    "Ends a user's sessions, refresh tokens and all access tokens issued so far. The user may sign in again. Raises no event.",
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
  description: 'Gives roles to a user; the user keeps those they have. Raises no event.',
  scope: 'users:write',
  input: rolesInput,
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ user: await assignUserRoles(context, input) }),
});

addMutation('removeUserRole', {
  description: 'Removes a role from a user. Raises no event.',
  scope: 'users:write',
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    roleId: t.id({ required: true, description: 'The role to remove.' }),
  }),
  payload: userPayload,
  errors: [NotFoundError],
  resolve: async (input, context) => ({ user: await removeUserRole(context, input) }),
});

addMutation('replaceUserRoles', {
  description: 'Gives a user these roles and removes all others. Raises no event.',
  scope: 'users:write',
  input: rolesInput,
  payload: userPayload,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ user: await replaceUserRoles(context, input) }),
});
