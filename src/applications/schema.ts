import type { SigningAlgorithm } from '../config.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  Application as ApplicationRow,
  ApplicationSecret as ApplicationSecretRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder, ownGraphs, ownType } from '../graphql/builder.ts';
import { connectionOf } from '../graphql/lists/page.ts';
import { addRecordQueries, orders, textSearch } from '../graphql/lists/record-queries.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
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
  description: 'The kind of client that an application is (RFC 6749 §2.1).',
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
  ...ownType,
  nullable: true,
  id: {
    field: 'id',
    subGraphs: ownGraphs,
    description: "The application's id and its `client_id`: a TypeID with the prefix `app`.",
  },
  description: 'A client: a program that signs users in, or calls APIs for itself.',
  authScopes: { scope: 'applications:read' },
  fields: (t) => ({
    name: t.exposeString('name', {
      subGraphs: ownGraphs,
      description: 'Its name, shown to people who sign in.',
    }),
    description: t.exposeString('description', { nullable: true, description: 'Its purpose.' }),
    type: t.expose('type', {
      type: ApplicationTypeEnum,
      description: 'The kind of client.',
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
    allowImpersonation: t.exposeBoolean('allowImpersonation', {
      description:
        'Whether it may exchange the tokens of `createSubjectToken`, and so act for a user on behalf of an agent. ' +
        'Off by default. It must be allowed to exchange tokens too.',
    }),
    allowPersonalAccessTokens: t.exposeBoolean('allowPersonalAccessTokens', {
      description:
        'Whether it may exchange the personal access tokens of users. Off by default. It must be allowed to exchange ' +
        'tokens too.',
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
    isThirdParty: t.exposeBoolean('isThirdParty', {
      description:
        "Whether it is somebody else's: people are asked before it gets anything, and can take that back. Off by default.",
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
export const ApplicationConnection = addRecordQueries(Application, {
  names: ['application', 'applications'],
  scope: 'applications:read',
  model: ({ application }) => application,
  search: textSearch,
  filter: (t) => ({
    types: t.field({ type: [ApplicationTypeEnum], description: 'Is of one of these types.' }),
    allowTokenExchange: t.boolean({ description: 'Whether it may exchange access tokens.' }),
    roleId: t.id({ description: 'Has this role. Also requires `roles:read`.' }),
  }),
  filterScopes: { roleId: 'roles:read' },
  where: ({ types, allowTokenExchange, roleId }): Prisma.ApplicationWhereInput => ({
    type: types == null ? undefined : { in: [...types] },
    allowTokenExchange: allowTokenExchange ?? undefined,
    roles: roleId == null ? undefined : { some: { roleId } },
  }),
  order: {
    CREATED_AT: orders.byCreation,
    UPDATED_AT: orders.byChange,
    NAME: orders.byName,
  },
});

const ApplicationSecretConnection = connectionOf('ApplicationSecret', ApplicationSecret);

const mutations = recordMutations('application', Application, { scope: 'applications:write' });

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
  allowImpersonation: t.boolean({
    description:
      'Whether it may exchange the tokens of `createSubjectToken`. Only for types with a secret.',
  }),
  allowPersonalAccessTokens: t.boolean({
    description:
      'Whether it may exchange the personal access tokens of users. Only for types with a secret.',
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
  isThirdParty: t.boolean({
    description:
      'Whether people are asked before it gets anything. Switched on later, it ends everything that the application ' +
      'has got without consent. Not together with `allowTokenExchange` or `allowHeadlessSignIn`.',
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
      description: 'The kind of client. It cannot change.',
    }),
    ...settings(t),
  }),
  payload: (t: PayloadFields<{ application: ApplicationRow; secret: string | null }>) => ({
    ...mutations.payload(t),
    secret: t.exposeString('secret', {
      nullable: true,
      description: 'The first secret, shown only once; null for SPA and NATIVE.',
    }),
  }),
  errors: [InvalidInputError, NotAllowedError],
  resolve: (input, context) => createApplication(context, input),
});

mutations.add('updateApplication', {
  description:
    'Changes an application. An absent field stays as it is; null clears it. Takes effect at once. Raises no event.',
  input: (t) => ({
    id: mutations.id(t),
    name: t.string({ description: 'At most 128 characters.' }),
    ...settings(t),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => updateApplication(context, input),
});

mutations.addDeletion('deleteApplication', {
  description:
    'Deletes an application with its secrets, roles, organization memberships and grants. Its tokens are refused from now on. Raises `Organization.Membership.Updated` for each organization it was in.',
  model: ({ application }) => application,
  errors: [NotFoundError, NotAllowedError],
  operation: deleteApplication,
});

const secretMutations = recordMutations('applicationSecret', ApplicationSecret, {
  scope: 'applications:write',
  noun: 'secret',
  description: "The secret's record.",
});

addMutation('createApplicationSecret', {
  description: 'Adds a secret to an application, beside those it has. Raises no event.',
  scope: 'applications:write',
  input: (t) => ({
    applicationId: mutations.id(t),
    name: t.string({
      required: true,
      description: 'At most 128 characters. Unique in its application.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it expires; absent: never.' }),
  }),
  payload: (t: PayloadFields<{ applicationSecret: ApplicationSecretRow; secret: string }>) => ({
    ...secretMutations.payload(t),
    secret: t.exposeString('secret', { description: 'The secret, shown only once.' }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  resolve: (input, context) => createApplicationSecret(context, input),
});

secretMutations.addDeletion('deleteApplicationSecret', {
  description: 'Deletes a secret; calls that use it are refused from now on. Raises no event.',
  model: ({ applicationSecret }) => applicationSecret,
  operation: deleteApplicationSecret,
});

const rolesInput = (t: InputFields) => ({
  applicationId: mutations.id(t),
  roleIds: t.idList({ required: true, description: 'Roles for applications, at most 100.' }),
});

mutations.add('assignApplicationRoles', {
  description:
    'Gives roles to a machine-to-machine application; it keeps those it has. Raises no event.',
  input: rolesInput,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => assignApplicationRoles(context, input),
});

mutations.add('removeApplicationRole', {
  description: 'Removes a role from an application. Raises no event.',
  input: (t) => ({
    applicationId: mutations.id(t),
    roleId: t.id({ required: true, description: 'The role to remove.' }),
  }),
  errors: [NotFoundError, NotAllowedError],
  operation: (context, input) => removeApplicationRole(context, input),
});

mutations.add('replaceApplicationRoles', {
  description:
    'Gives a machine-to-machine application these roles and removes all others. Raises no event.',
  input: rolesInput,
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  operation: (context, input) => replaceApplicationRoles(context, input),
});
