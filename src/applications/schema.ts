import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  Application as ApplicationRow,
  ApplicationSecret as ApplicationSecretRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { connectionOf, containing, orderInput, readPage } from '../graphql/list.ts';
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutation.ts';
import { relatedList } from '../graphql/related-list.ts';
import { Role, RoleConnection } from '../roles/schema.ts';
import {
  createApplication,
  createApplicationSecret,
  deleteApplication,
  deleteApplicationSecret,
  updateApplication,
} from './operations.ts';
import { assignApplicationRoles, removeApplicationRole, replaceApplicationRoles } from './roles.ts';

const ApplicationTypeEnum = builder.enumType('ApplicationType', {
  description: 'What kind of client an application is (RFC 6749 §2.1).',
  values: {
    TRADITIONAL: { description: 'A web application with a server, which keeps a secret.' },
    MACHINE_TO_MACHINE: { description: 'A service that acts for itself and keeps a secret.' },
    SPA: { description: 'A web application in the browser alone: it keeps no secret.' },
    NATIVE: { description: 'An application on a device: it keeps no secret.' },
  } as const,
});

const rolesOfApplication = relatedList<
  { roleId: string; role: typeof Role.$inferType },
  typeof Role.$inferType
>({ relation: 'roles', key: 'roleId', through: 'role' });

/** A secret of an application, without the secret itself. */
export const ApplicationSecret = builder.prismaNode('ApplicationSecret', {
  nullable: true,
  id: { field: 'id', description: "The secret's id: a TypeID with the prefix `secret`." },
  description: 'A secret of an application. The secret itself was shown once and is not kept.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name. Unique in its application.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it stops to work; null: never.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    application: t.relation('application', { description: 'The application it belongs to.' }),
  }),
});

/** A client: a program that signs users in, or calls for itself. */
export const Application = builder.prismaNode('Application', {
  nullable: true,
  id: {
    field: 'id',
    description: "The application's id and its `client_id`: a TypeID with the prefix `app`.",
  },
  description: 'A client: a program that signs users in, or calls for itself.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, shown to those who sign in.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it is for.' }),
    type: t.expose('type', {
      type: ApplicationTypeEnum,
      description: 'What kind of client it is.',
    }),
    allowTokenExchange: t.exposeBoolean('allowTokenExchange', {
      description: 'Whether it may swap access tokens (RFC 8693). Off by default.',
    }),
    exchangeSubjectAudiences: t.exposeStringList('exchangeSubjectAudiences', {
      description: 'The audiences of the tokens it may swap. Empty: any.',
    }),
    exchangeResources: t.exposeStringList('exchangeResources', {
      description: 'The resource indicators it may ask tokens for in an exchange. Empty: any.',
    }),
    redirectUris: t.exposeStringList('redirectUris', {
      description: 'Where a sign-in may lead back to, exactly.',
    }),
    postLogoutRedirectUris: t.exposeStringList('postLogoutRedirectUris', {
      description: 'Where a sign-out may lead back to, exactly.',
    }),
    corsAllowedOrigins: t.exposeStringList('corsAllowedOrigins', {
      description:
        'The origins whose pages may call the token endpoint and user info as this client.',
    }),
    secrets: t.relatedConnection(
      'secrets',
      {
        description: 'Its secrets, oldest first.',
        cursor: 'id',
        query: { orderBy: { id: 'asc' } },
        totalCount: true,
      },
      ApplicationSecretConnection,
    ),
    roles: t.connection(
      {
        type: Role,
        description: 'Its roles, oldest first. Machine-to-machine applications alone have any.',
        ...rolesOfApplication,
      },
      RoleConnection,
    ),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

/** A page of applications. */
export const ApplicationConnection = connectionOf('Application', Application);

const ApplicationSecretConnection = connectionOf('ApplicationSecret', ApplicationSecret);

const ApplicationFilter = builder.inputType('ApplicationFilter', {
  description: 'Which applications to list: those for which every field given holds.',
  fields: (t) => ({
    search: t.string({
      description: 'Part of the name, the description or the id, whatever its case.',
    }),
    types: t.field({ type: [ApplicationTypeEnum], description: 'Is of one of these types.' }),
    allowTokenExchange: t.boolean({ description: 'May swap access tokens, or may not.' }),
    roleId: t.id({ description: 'Has this role.' }),
  }),
});

const order = orderInput('Application', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By when they were created.' },
  UPDATED_AT: { field: 'updatedAt', nullable: false, description: 'By when they last changed.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
});

function applicationWhere(
  filter: typeof ApplicationFilter.$inferInput | null | undefined,
): Prisma.ApplicationWhereInput {
  if (!filter) return {};
  const { types, allowTokenExchange, roleId } = filter;
  const search = filter.search?.trim();
  const contains = containing(search ?? '');
  return {
    ...(search ? { OR: [{ name: contains }, { description: contains }, { id: contains }] } : {}),
    ...(types == null ? {} : { type: { in: [...types] } }),
    ...(allowTokenExchange == null ? {} : { allowTokenExchange }),
    ...(roleId == null ? {} : { roles: { some: { roleId } } }),
  };
}

builder.queryFields((t) => ({
  application: t.prismaField({
    type: 'Application',
    nullable: true,
    description: 'An application, or null where there is none with that id.',
    authScopes: { scope: 'applications:read' },
    args: { id: t.arg.id({ required: true, description: "The application's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.application.findUnique({ ...query, where: { id } }),
  }),
  applications: t.connection(
    {
      type: Application,
      description: 'The applications, newest first where no order is asked for.',
      authScopes: { scope: 'applications:read' },
      args: {
        filter: t.arg({ type: ApplicationFilter, description: 'Which applications to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) =>
        readPage({
          args,
          context,
          info,
          model: context.database.prisma.application,
          where: applicationWhere(args.filter),
          order: order.read(args.orderBy),
        }),
    },
    ApplicationConnection,
  ),
}));

type ApplicationPayload = { application: ApplicationRow };

const applicationPayload = <Payload extends ApplicationPayload>(t: PayloadFields<Payload>) => ({
  application: t.field({
    type: Application,
    description: 'The application.',
    resolve: ({ application }) => application,
  }),
});

const idField = (t: InputFields) => ({
  id: t.id({ required: true, description: "The application's id." }),
});

const settings = (t: InputFields) => ({
  description: t.string({ description: 'At most 1024 characters.' }),
  allowTokenExchange: t.boolean({
    description: 'Whether it may swap access tokens. For the types that keep a secret alone.',
  }),
  exchangeSubjectAudiences: t.stringList({
    description: 'The audiences of the tokens it may swap. Empty: any.',
  }),
  exchangeResources: t.stringList({
    description: 'The resource indicators it may ask tokens for in an exchange. Empty: any.',
  }),
  redirectUris: t.stringList({ description: 'Where a sign-in may lead back to, exactly.' }),
  postLogoutRedirectUris: t.stringList({
    description: 'Where a sign-out may lead back to, exactly.',
  }),
  corsAllowedOrigins: t.stringList({ description: 'Origins, such as https://app.example.com.' }),
});

addMutation('createApplication', {
  description: 'Creates an application. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    type: t.field({
      type: ApplicationTypeEnum,
      required: true,
      description: 'What kind of client it is. It stays.',
    }),
    ...settings(t),
  }),
  payload: (t: PayloadFields<ApplicationPayload & { secret: string | null }>) => ({
    ...applicationPayload(t),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The first secret, shown this once; null for SPA and NATIVE.',
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: (input, context) => createApplication(context, input),
});

addMutation('updateApplication', {
  description:
    'Changes an application. An absent field is left alone, null clears it. In force at once. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({
    ...idField(t),
    name: t.string({ description: 'At most 128 characters.' }),
    ...settings(t),
  }),
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ application: await updateApplication(context, input) }),
});

addMutation('deleteApplication', {
  description:
    'Deletes an application with its secrets, roles, organization memberships and grants; its tokens are refused from now on. Raises `Organization.Membership.Updated` for each organization it was in.',
  scope: 'applications:write',
  input: idField,
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const { application } = context.database.prisma;
    return {
      application: await asItLastWas({
        context,
        info,
        field: 'application',
        read: (query) => application.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteApplication(context, input),
      }),
    };
  },
});

type SecretPayload = { applicationSecret: ApplicationSecretRow };

const secretPayload = <Payload extends SecretPayload>(t: PayloadFields<Payload>) => ({
  applicationSecret: t.field({
    type: ApplicationSecret,
    description: "The secret's record.",
    resolve: ({ applicationSecret }) => applicationSecret,
  }),
});

addMutation('createApplicationSecret', {
  description: 'Adds a secret to an application, beside those it has. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({
    applicationId: t.id({ required: true, description: "The application's id." }),
    name: t.string({
      required: true,
      description: 'At most 128 characters. Unique in its application.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it stops to work; absent: never.' }),
  }),
  payload: (t: PayloadFields<SecretPayload & { secret: string }>) => ({
    ...secretPayload(t),
    secret: t.exposeString('secret', { description: 'The secret, shown this once.' }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: (input, context) => createApplicationSecret(context, input),
});

addMutation('deleteApplicationSecret', {
  description: 'Deletes a secret; calls that use it are refused from now on. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({ id: t.id({ required: true, description: "The secret's id." }) }),
  payload: (t: PayloadFields<SecretPayload>) => secretPayload(t),
  errors: [NotFoundError],
  resolve: async (input, context, info) => {
    const secrets = context.database.prisma.applicationSecret;
    return {
      applicationSecret: await asItLastWas({
        context,
        info,
        field: 'applicationSecret',
        read: (query) => secrets.findUnique({ ...query, where: { id: input.id } }),
        remove: () => deleteApplicationSecret(context, input),
      }),
    };
  },
});

const rolesInput = (t: InputFields) => ({
  applicationId: t.id({ required: true, description: "The application's id." }),
  roleIds: t.idList({ required: true, description: 'Roles for applications, at most 100.' }),
});

addMutation('assignApplicationRoles', {
  description:
    'Gives roles to a machine-to-machine application; those it has are left alone. Raises no event.',
  scope: 'applications:write',
  input: rolesInput,
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    application: await assignApplicationRoles(context, input),
  }),
});

addMutation('removeApplicationRole', {
  description: 'Takes a role from an application. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({
    applicationId: t.id({ required: true, description: "The application's id." }),
    roleId: t.id({ required: true, description: 'The role to take.' }),
  }),
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ application: await removeApplicationRole(context, input) }),
});

addMutation('replaceApplicationRoles', {
  description:
    'Gives a machine-to-machine application these roles and takes all others. Raises no event.',
  scope: 'applications:write',
  input: rolesInput,
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    application: await replaceApplicationRoles(context, input),
  }),
});
