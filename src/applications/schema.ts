import type { SigningAlgorithm } from '../config.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  Application as ApplicationRow,
  ApplicationSecret as ApplicationSecretRow,
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
import {
  addMutation,
  asItLastWas,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutation.ts';
import { SigningAlgorithmEnum } from '../graphql/signing-algorithm.ts';
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
    TRADITIONAL: { description: 'A web application with a server. It has a secret.' },
    MACHINE_TO_MACHINE: { description: 'A service that acts for itself. It has a secret.' },
    SPA: { description: 'A web application that runs only in the browser. It has no secret.' },
    NATIVE: { description: 'An application on a device. It has no secret.' },
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
  description: 'A secret of an application. The secret itself was shown once and is not stored.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name. Unique in its application.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null: never.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    application: t.relation('application', { description: 'The application it belongs to.' }),
  }),
});

/** A client: a program that signs users in, or calls APIs for itself. */
export const Application = builder.prismaNode('Application', {
  nullable: true,
  id: {
    field: 'id',
    description: "The application's id and its `client_id`: a TypeID with the prefix `app`.",
  },
  description: 'A client: a program that signs users in, or calls APIs for itself.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, shown to people who sign in.' }),
    description: t.exposeString('description', { nullable: true, description: 'What it is for.' }),
    type: t.expose('type', {
      type: ApplicationTypeEnum,
      description: 'What kind of client it is.',
    }),
    allowTokenExchange: t.exposeBoolean('allowTokenExchange', {
      description: 'Whether it may exchange access tokens (RFC 8693). Off by default.',
    }),
    exchangeSubjectAudiences: t.exposeStringList('exchangeSubjectAudiences', {
      description: 'The audiences of the tokens it may exchange. Empty: any.',
    }),
    exchangeResources: t.exposeStringList('exchangeResources', {
      description:
        "The resources it may request in an exchange, by indicator. Empty: any but Signet's own.",
    }),
    redirectUris: t.exposeStringList('redirectUris', {
      description: 'The URIs that a sign-in may return to. They must match exactly.',
    }),
    postLogoutRedirectUris: t.exposeStringList('postLogoutRedirectUris', {
      description: 'The URIs that a sign-out may return to. They must match exactly.',
    }),
    corsAllowedOrigins: t.exposeStringList('corsAllowedOrigins', {
      description:
        'The origins whose pages may call the token endpoint and user info as this client.',
    }),
    allowHeadlessSignIn: t.exposeBoolean('allowHeadlessSignIn', {
      description:
        'Whether it may sign people in without a browser, and so see what they type: `startInteraction` of the ' +
        'Experience API.',
    }),
    idTokenSigningAlg: t.field({
      type: SigningAlgorithmEnum,
      nullable: true,
      description:
        'How its id tokens are signed (`id_token_signed_response_alg`); null: as access tokens are.',
      resolve: ({ idTokenSigningAlg }) => idTokenSigningAlg as SigningAlgorithm | null,
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
        description: 'Its roles, oldest first. Only machine-to-machine applications have roles.',
        authScopes: { scope: 'roles:read' },
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
  description: 'Which applications to list. A match meets every field that is given.',
  fields: (t) => ({
    search: t.string({ description: searchDescription('the name, the description or the id') }),
    types: t.field({ type: [ApplicationTypeEnum], description: 'Is of one of these types.' }),
    allowTokenExchange: t.boolean({ description: 'Whether it may exchange access tokens.' }),
    roleId: t.id({ description: 'Has this role. Also requires `roles:read`.' }),
  }),
});

const order = orderInput('Application', {
  CREATED_AT: { field: 'id', nullable: false, description: 'By creation time.' },
  UPDATED_AT: { field: 'updatedAt', nullable: false, description: 'By time of the last change.' },
  NAME: { field: 'name', nullable: false, description: 'By name.' },
});

// Scopes that a filter on another area requires.
const applicationFilterScopes = {
  roleId: 'roles:read',
} as const;

function applicationWhere(
  filter: typeof ApplicationFilter.$inferInput | null | undefined,
): Prisma.ApplicationWhereInput {
  if (!filter) return {};
  const { types, allowTokenExchange, roleId } = filter;
  return {
    ...searching(filter.search, ['name', 'description', 'id']),
    ...(types == null ? {} : { type: { in: [...types] } }),
    ...(allowTokenExchange == null ? {} : { allowTokenExchange }),
    ...(roleId == null ? {} : { roles: { some: { roleId } } }),
  };
}

builder.queryFields((t) => ({
  application: t.prismaField({
    type: 'Application',
    nullable: true,
    description: 'An application, or null if none has that id.',
    authScopes: { scope: 'applications:read' },
    args: { id: t.arg.id({ required: true, description: "The application's id." }) },
    resolve: (query, _root, { id }, { database }) =>
      database.prisma.application.findUnique({ ...query, where: { id } }),
  }),
  applications: t.connection(
    {
      type: Application,
      description: 'The applications, newest first by default.',
      authScopes: { scope: 'applications:read' },
      args: {
        filter: t.arg({ type: ApplicationFilter, description: 'Which applications to list.' }),
        orderBy: t.arg({ type: order.input, description: 'How to order them.' }),
      },
      resolve: (_root, args, context, info) => {
        assertMayFilter(context, args.filter, applicationFilterScopes);
        return readPage({
          args,
          context,
          info,
          model: context.database.prisma.application,
          where: applicationWhere(args.filter),
          order: order.read(args.orderBy),
        });
      },
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
    description: 'Whether it may exchange access tokens. Only for types with a secret.',
  }),
  exchangeSubjectAudiences: t.stringList({
    description: 'The audiences of the tokens it may exchange. Empty: any.',
  }),
  exchangeResources: t.stringList({
    description:
      "The resources it may request in an exchange, by indicator. Empty: any but Signet's own.",
  }),
  redirectUris: t.stringList({
    description: 'The URIs that a sign-in may return to. They must match exactly.',
  }),
  postLogoutRedirectUris: t.stringList({
    description: 'The URIs that a sign-out may return to. They must match exactly.',
  }),
  corsAllowedOrigins: t.stringList({ description: 'Origins, such as https://app.example.com.' }),
  allowHeadlessSignIn: t.boolean({
    description: 'Whether it may sign people in without a browser. Off by default.',
  }),
  idTokenSigningAlg: t.field({
    type: SigningAlgorithmEnum,
    description:
      'The algorithm of its id tokens, for libraries that accept only RS256 by default. A missing key is created.',
  }),
});

addMutation('createApplication', {
  description: 'Creates an application. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({
    name: t.string({ required: true, description: 'At most 128 characters.' }),
    type: t.field({
      type: ApplicationTypeEnum,
      required: true,
      description: 'What kind of client it is. It cannot change.',
    }),
    ...settings(t),
  }),
  payload: (t: PayloadFields<ApplicationPayload & { secret: string | null }>) => ({
    ...applicationPayload(t),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The first secret, shown only once; null for SPA and NATIVE.',
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: (input, context) => createApplication(context, input),
});

addMutation('updateApplication', {
  description:
    'Changes an application. An absent field stays as it is; null clears it. Takes effect at once. Raises no event.',
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
    'Deletes an application with its secrets, roles, organization memberships and grants. Its tokens are refused from now on. Raises `Organization.Membership.Updated` for each organization it was in.',
  scope: 'applications:write',
  input: idField,
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [NotFoundError, NotAllowedError],
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
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires; absent: never.' }),
  }),
  payload: (t: PayloadFields<SecretPayload & { secret: string }>) => ({
    ...secretPayload(t),
    secret: t.exposeString('secret', { description: 'The secret, shown only once.' }),
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
    'Gives roles to a machine-to-machine application; it keeps those it has. Raises no event.',
  scope: 'applications:write',
  input: rolesInput,
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    application: await assignApplicationRoles(context, input),
  }),
});

addMutation('removeApplicationRole', {
  description: 'Removes a role from an application. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({
    applicationId: t.id({ required: true, description: "The application's id." }),
    roleId: t.id({ required: true, description: 'The role to remove.' }),
  }),
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({ application: await removeApplicationRole(context, input) }),
});

addMutation('replaceApplicationRoles', {
  description:
    'Gives a machine-to-machine application these roles and removes all others. Raises no event.',
  scope: 'applications:write',
  input: rolesInput,
  payload: (t: PayloadFields<ApplicationPayload>) => applicationPayload(t),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: async (input, context) => ({
    application: await replaceApplicationRoles(context, input),
  }),
});
