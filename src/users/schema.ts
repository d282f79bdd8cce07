import { ConflictError, InvalidInputError, NotFoundError } from '../errors.ts';
import type { Prisma, User as UserRow } from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { counted, OrderDirection, readPage } from '../graphql/list.ts';
import { addMutation } from '../graphql/mutation.ts';
import { queryFromInfo } from '@pothos/plugin-prisma';
import {
  createUser,
  deleteUser,
  updateUser,
  updateUserCustomData,
  updateUserPassword,
  updateUserProfile,
  updateUserSuspensionStatus,
} from './operations.ts';

/** A person's account. */
export const User = builder.prismaNode('User', {
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
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

const UserFilter = builder.inputType('UserFilter', {
  description: 'Which users to list: those for which every field given holds.',
  fields: (t) => ({
    search: t.string({
      description: 'Part of the name, user name, e-mail address, telephone number or id, whatever its case.',
    }),
    roleId: t.id({ description: 'Has this role.' }),
    organizationId: t.id({ description: 'Is a member of this organization.' }),
    isSuspended: t.boolean({ description: 'Is suspended, or is not.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Was created after this instant.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Was created before this instant.' }),
    lastSignInAfter: t.field({ type: 'DateTime', description: 'Last signed in after this instant.' }),
    lastSignInBefore: t.field({ type: 'DateTime', description: 'Last signed in before this instant.' }),
  }),
});

const orderFields = {
  CREATED_AT: { field: 'createdAt', nullable: false, description: 'By when they were created.' },
  UPDATED_AT: { field: 'updatedAt', nullable: false, description: 'By when they last changed.' },
  LAST_SIGN_IN_AT: { field: 'lastSignInAt', nullable: true, description: 'By when they last signed in.' },
  NAME: { field: 'name', nullable: true, description: 'By name.' },
  USERNAME: { field: 'username', nullable: true, description: 'By user name.' },
  PRIMARY_EMAIL: { field: 'primaryEmail', nullable: true, description: 'By e-mail address.' },
} as const;

const UserOrder = builder.inputType('UserOrder', {
  description: 'How to order users; those without a value come last.',
  fields: (t) => ({
    field: t.field({
      type: builder.enumType('UserOrderField', {
        description: 'What to order users by.',
        values: orderFields,
      }),
      required: true,
      description: 'What to order by.',
    }),
    direction: t.field({ type: OrderDirection, defaultValue: 'ASC', description: 'Which way.' }),
  }),
});
