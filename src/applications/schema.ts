import { setterScopesDescription } from '../auth/granting/setter-scopes.ts';
import type { SigningAlgorithm } from '../config.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  ApplicationOrigin,
  Application as ApplicationRow,
  ApplicationSecret as ApplicationSecretRow,
  Prisma,
} from '../generated/prisma/client.ts';
import { builder, ownGraphs, ownType } from '../graphql/builder.ts';
import { connectionOf } from '../graphql/lists/page.ts';
import { addRecordQueries, orders, textSearch } from '../graphql/lists/record-queries.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { SigningAlgorithmEnum } from '../graphql/signing-algorithm.ts';
import { applicationHolder } from '../role-holders/holders.ts';
import { addRoleMutations, heldRoles } from '../role-holders/schema.ts';
import { Role, RoleConnection } from '../roles/schema.ts';
import { hasKeys, maxKeys } from './keys.ts';
import { createApplication, deleteApplication, updateApplication } from './operations.ts';
import { createApplicationSecret, deleteApplicationSecret } from './secrets.ts';
import { maxActedFor, maxRefreshTokenReuseSeconds } from './settings.ts';

const ApplicationTypeEnum = builder.enumType('ApplicationType', {
  description: 'The kind of client that an application is (RFC 6749 §2.1).',
  values: {
    TRADITIONAL: { description: 'A web application with a server. It has a secret.' },
    MACHINE_TO_MACHINE: { description: 'A service that acts for itself. It has a secret.' },
    SPA: { description: 'A web application that runs only in the browser. It has no secret.' },
    NATIVE: { description: 'An application on a device. It has no secret.' },
  } as const,
});

const SecurityProfileEnum = builder.enumType('SecurityProfile', {
  description: 'A set of rules that an application is held to.',
  values: {
    NONE: { description: 'None beyond those of its own settings.' },
    FAPI_2_0: {
      description:
        'The FAPI 2.0 security profile: keys and no secrets, tokens that are bound to a key, pushed authorization requests, signatures by PS256, ES256 or EdDSA alone, and refresh tokens that stay the same.',
    },
  } as const,
});

const ApplicationOriginEnum = builder.enumType('ApplicationOrigin', {
  subGraphs: ownGraphs,
  description: 'How an application came to be.',
  values: {
    ADMINISTRATION: { description: 'An administrator, or the service, created it.' },
    METADATA_DOCUMENT: {
      description: 'It named itself by the URL of a document that describes it.',
    },
    DYNAMIC_REGISTRATION: { description: 'It registered itself (RFC 7591).' },
  } as const satisfies Record<ApplicationOrigin, object>,
});

/** A secret of an application, without the secret itself. */
const ApplicationSecret = builder.prismaNode('ApplicationSecret', {
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

const ApplicationKeys = builder
  .objectRef<Pick<ApplicationRow, 'jwks' | 'jwksUri' | 'keySetterScopes'>>('ApplicationKeys')
  .implement({
    description: 'The public keys that an application’s assertions are checked with.',
    authScopes: { scope: 'applications:read' },
    fields: (t) => ({
      jwks: t.field({
        type: 'JSONObject',
        nullable: true,
        description: 'A JSON Web Key Set (RFC 7517).',
        // Only the operations write it, and they have checked it.
        resolve: ({ jwks }) => jwks as Record<string, unknown> | null,
      }),
      jwksUri: t.exposeString('jwksUri', {
        nullable: true,
        description: 'Where the JSON Web Key Set is.',
      }),
      setterScopes: t.exposeStringList('keySetterScopes', { description: setterScopesDescription }),
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
    origin: t.expose('origin', {
      type: ApplicationOriginEnum,
      subGraphs: ownGraphs,
      description: 'How it came to be.',
    }),
    metadataUrl: t.exposeString('metadataUrl', {
      nullable: true,
      subGraphs: ownGraphs,
      description:
        'The URL of the document that describes it, and its `client_id`; null unless its origin is `METADATA_DOCUMENT`. People are shown its host.',
    }),
    allowTokenExchange: t.exposeBoolean('allowTokenExchange', {
      description: 'Whether it may exchange access tokens (RFC 8693). Off by default.',
    }),
    exchangeSubjectAudiences: t.exposeStringList('exchangeSubjectAudiences', {
      description:
        'The audiences of the tokens it may exchange. Empty: any. A third-party application may introspect the tokens for them.',
    }),
    exchangeResources: t.exposeStringList('exchangeResources', {
      description:
        "The resources it may request in an exchange, by indicator. Empty: any but Signet's own.",
    }),
    exchangeThirdPartySubjectTokens: t.exposeBoolean('exchangeThirdPartySubjectTokens', {
      description:
        'Whether it may exchange tokens that were issued to third-party applications, and what comes from those. Off by ' +
        'default: such a token holds what its user has allowed the application, and an exchange gives what the user ' +
        'holds. `act` names the third-party application innermost.',
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
    allowDeviceGrant: t.exposeBoolean('allowDeviceGrant', {
      description:
        'Whether a device without a browser or a keyboard can get tokens for a person, who confirms a code on another ' +
        'device (RFC 8628). Off by default.',
    }),
    isThirdParty: t.exposeBoolean('isThirdParty', {
      description:
        "Whether it is a third party's: people are asked before it gets anything, and can take that back. Off by default.",
    }),
    idTokenSigningAlg: t.field({
      type: SigningAlgorithmEnum,
      nullable: true,
      description:
        'How its id tokens are signed (`id_token_signed_response_alg`); null: as access tokens are.',
      resolve: ({ idTokenSigningAlg }) => idTokenSigningAlg as SigningAlgorithm | null,
    }),
    keys: t.field({
      type: ApplicationKeys,
      nullable: true,
      description:
        'Its keys, by which it can authenticate (`private_key_jwt`); null if it has none.',
      resolve: (application) => (hasKeys(application) ? application : null),
    }),
    allowSecrets: t.exposeBoolean('allowSecrets', {
      description: 'Whether its secrets count. On by default; only its keys count if it is off.',
    }),
    requireDpop: t.exposeBoolean('requireDpop', {
      description:
        'Whether it gets only tokens that are bound to a key (DPoP, RFC 9449). Off by default.',
    }),
    mayRebindTokens: t.exposeBoolean('mayRebindTokens', {
      description:
        'Whether it may exchange a token that is bound to a key for one that is bound to another, which it proves to have. Off by default. Nobody may exchange it for one that is not bound.',
    }),
    mayActFor: t.idList({
      description:
        'The applications whose access tokens it may send as `actor_token` of an exchange, beside its own (RFC 8693 §2.1). What is issued names their subject as the actor.',
      resolve: ({ mayActFor }) => mayActFor,
    }),
    requirePushedAuthorizationRequests: t.exposeBoolean('requirePushedAuthorizationRequests', {
      description:
        'Whether each of its authorization requests comes from its server first, to `/oidc/request` (RFC 9126). Off by default.',
    }),
    requirePkce: t.exposeBoolean('requirePkce', {
      description:
        'Whether each of its authorization requests needs PKCE with S256 (RFC 7636). On by default. A challenge that is sent is checked in any case.',
    }),
    securityProfile: t.expose('securityProfile', {
      type: SecurityProfileEnum,
      description: 'The security profile that it is held to. `NONE` by default.',
    }),
    refreshTokenReuseSeconds: t.exposeInt('refreshTokenReuseSeconds', {
      description:
        'For how long after its first use a refresh token may come again, in seconds: from a second tab, or after a lost answer. 0: never.',
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
        ...heldRoles,
      },
      RoleConnection,
    ),
    setterScopes: t.exposeStringList('setterScopes', { description: setterScopesDescription }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

addRecordQueries(Application, {
  names: ['application', 'applications'],
  scope: 'applications:read',
  search: {
    columns: [...textSearch.columns, 'metadataUrl'],
    description: 'the name, the description, the id or the URL of the metadata document',
  },
  filter: (t) => ({
    types: t.field({ type: [ApplicationTypeEnum], description: 'Is of one of these types.' }),
    origins: t.field({
      type: [ApplicationOriginEnum],
      description: 'Came to be in one of these ways.',
    }),
    allowTokenExchange: t.boolean({ description: 'Whether it may exchange access tokens.' }),
    roleId: t.id({ description: 'Has this role. Also requires `roles:read`.' }),
    notOrganizationId: t.id({
      description: 'Is no member of this organization. Also requires `organizations:read`.',
    }),
  }),
  filterScopes: { roleId: 'roles:read', notOrganizationId: 'organizations:read' },
  where: ({
    types,
    origins,
    allowTokenExchange,
    roleId,
    notOrganizationId,
  }): Prisma.ApplicationWhereInput => ({
    type: types == null ? undefined : { in: [...types] },
    origin: origins == null ? undefined : { in: [...origins] },
    allowTokenExchange: allowTokenExchange ?? undefined,
    roles: roleId == null ? undefined : { some: { roleId } },
    organizations:
      notOrganizationId == null ? undefined : { none: { organizationId: notOrganizationId } },
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
    description:
      'The audiences of the tokens it may exchange. Empty: any. A third-party application may introspect the tokens for them.',
  }),
  exchangeResources: t.stringList({
    description:
      "The resources it may request in an exchange, by indicator. Empty: any but Signet's own.",
  }),
  exchangeThirdPartySubjectTokens: t.boolean({
    description:
      'Whether it may exchange tokens that were issued to third-party applications, and what comes from those. Its APIs ' +
      'then check what the third party may do. Only for types with a secret. Off by default.',
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
  allowDeviceGrant: t.boolean({
    description:
      'Whether people can sign in to it by a code on another device (RFC 8628). Not for `MACHINE_TO_MACHINE`. Off by default.',
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
  jwks: t.field({
    type: 'JSONObject',
    description: `Its public keys, as a JSON Web Key Set (RFC 7517) of at most ${maxKeys}. Not together with \`jwksUri\`. Only for types with a secret.`,
  }),
  jwksUri: t.string({
    description:
      'Where its public keys are: an https URL with a public address. Not together with `jwks`.',
  }),
  allowSecrets: t.boolean({
    description: 'Whether its secrets count. On by default. It can be off only with keys.',
  }),
  requireDpop: t.boolean({
    description: 'Whether it gets only tokens that are bound to a key. Off by default.',
  }),
  mayRebindTokens: t.boolean({
    description:
      'Whether it may exchange a token that is bound to a key for one that is bound to another, which it proves to have. Only for types with a secret.',
  }),
  mayActFor: t.idList({
    description: `The applications whose tokens may be its actor tokens, at most ${maxActedFor}. Only for types with a secret.`,
  }),
  requirePushedAuthorizationRequests: t.boolean({
    description:
      'Whether each of its authorization requests comes from its server first (RFC 9126). Not together with `allowHeadlessSignIn`.',
  }),
  requirePkce: t.boolean({
    description:
      'Whether each of its authorization requests needs PKCE with S256. Off, for a client that cannot send it, only for `TRADITIONAL`: a code that somebody steals is then protected by the secret alone, and a code of somebody else, slipped into a browser, by what the client itself checks (`nonce`, `state`).',
  }),
  securityProfile: t.field({
    type: SecurityProfileEnum,
    description:
      'The security profile that it is held to. It sets what is absent; what is given must not break it.',
  }),
  refreshTokenReuseSeconds: t.int({
    description: `For how long after its first use a refresh token may come again, as long as none of those that replaced it was used, in seconds: 0 to ${maxRefreshTokenReuseSeconds}, 30 by default. After that, its second use ends all tokens of the sign-in. 0: at once.`,
  }),
});

addMutation('createApplication', {
  description:
    'Creates an application. Raises `Application.Created`, which tells of its first secret too.',
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
      description:
        'The first secret, shown only once; null for SPA and NATIVE, and without `allowSecrets`.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, NotAllowedError],
  resolve: (input, context) => createApplication(context, input),
});

mutations.add('updateApplication', {
  description:
    'Changes an application. An absent field stays as it is; null clears it. Takes effect at once. Raises `Application.Data.Updated` if something changed.',
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
    'Deletes an application with its secrets, roles, organization memberships and grants. Its tokens are refused from now on. Raises `Organization.Membership.Updated` for each organization it was in, `Application.Secrets.Updated` if it had secrets, `TrustedIssuer.Deleted` and `CrossAppConnection.Deleted` for each of its, `User.Credential.Updated` for each personal access token that it had created with consent, then `Application.Deleted`.',
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
  description:
    'Adds a secret to an application, beside those it has. Raises `Application.Secrets.Updated`.',
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
  description:
    'Deletes a secret; calls that use it are refused from now on. Raises `Application.Secrets.Updated`.',
  model: ({ applicationSecret }) => applicationSecret,
  operation: deleteApplicationSecret,
});

addRoleMutations(mutations, applicationHolder, {
  key: (t) => ({ applicationId: mutations.id(t) }),
  descriptions: {
    assign:
      'Gives roles to a machine-to-machine application; it keeps those it has. Raises no event.',
    remove: 'Removes a role from an application. Raises no event.',
    replace:
      'Gives a machine-to-machine application these roles and removes all others. Raises no event.',
  },
  removeErrors: [NotAllowedError],
});
