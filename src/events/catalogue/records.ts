/**
 * The records that events hold whole, with the field names of the GraphQL schema. Secrets such as passwords and their
 * digests have no field here.
 */
import {
  type DataOf,
  type Field,
  type Fields,
  flag,
  id,
  idOrNull,
  instant,
  instantOrNull,
  integer,
  json,
  jsonOrNull,
  listed,
  object,
  oneOf,
  text,
  textOrNull,
  texts,
} from './fields.ts';

const named = {
  name: text('Its name.', 'A test'),
  description: textOrNull('Its description.'),
};
const written = {
  createdAt: instant('When it was created.'),
  updatedAt: instant('When it last changed.'),
};
const roleType = oneOf(
  ['USER', 'MACHINE_TO_MACHINE'],
  'The kind of its holders: USER or MACHINE_TO_MACHINE.',
);

/** The fields of each kind of record. A row of its table has them, or its feature's `payload.ts` adds them. */
export const records = {
  User: {
    id: id('User'),
    username: textOrNull('The name that the person signed in with.', 'test'),
    primaryEmail: textOrNull('The e-mail address.', 'test@example.com'),
    primaryPhone: textOrNull('The telephone number in E.164.'),
    name: textOrNull("The person's name.", 'A test'),
    avatar: textOrNull('The URL of a picture.'),
    profile: json('Standard claims about the person.'),
    customData: json('Data that your tools keep about the person.'),
    isEmailVerified: flag('Whether the person had proved to own the e-mail address.'),
    isPhoneVerified: flag('Whether the person had proved to own the telephone number.'),
    isSuspended: flag('Whether the person was barred from signing in.'),
    hasPassword: flag('Whether the person had a password.'),
    lastSignInAt: instantOrNull('When the person last signed in.'),
    ...written,
  },
  Role: {
    id: id('Role'),
    ...named,
    type: roleType,
    isDefault: flag('Whether new users get the role.'),
    ...written,
  },
  Scope: {
    id: id('Scope'),
    resourceId: id('Resource', 'The resource that defines it.'),
    ...named,
    ...written,
  },
  Organization: {
    id: id('Organization'),
    ...named,
    customData: json('Data that your tools keep about the organization.'),
    requiresFactor: flag('Whether its members needed a second factor.'),
    ...written,
  },
  OrganizationRole: { id: id('OrganizationRole'), ...named, type: roleType, ...written },
  OrganizationScope: { id: id('OrganizationScope'), ...named, ...written },
  Resource: {
    id: id('Resource'),
    name: named.name,
    indicator: text('The resource indicator (RFC 8707).', 'https://api.example.com'),
    accessTokenTtlSeconds: integer('How long its access tokens are valid, in seconds.', 3600),
    signingAlg: textOrNull('How its access tokens were signed; null: as the service signs.'),
    ...written,
  },
  Application: {
    id: id('Application'),
    origin: oneOf(
      ['ADMINISTRATION', 'METADATA_DOCUMENT', 'DYNAMIC_REGISTRATION'],
      'How it came to be: ADMINISTRATION, METADATA_DOCUMENT or DYNAMIC_REGISTRATION.',
    ),
    metadataUrl: textOrNull('The URL of its metadata document, which is its client id.'),
    ...named,
    type: oneOf(['TRADITIONAL', 'MACHINE_TO_MACHINE', 'SPA', 'NATIVE'], 'Its type.'),
    allowTokenExchange: flag('Whether it could exchange tokens.'),
    exchangeSubjectAudiences: texts('The audiences of the tokens that it could exchange.'),
    exchangeResources: texts('The resources that it could request in an exchange, by indicator.'),
    exchangeThirdPartySubjectTokens: flag(
      'Whether it could exchange tokens that were issued to third-party applications.',
    ),
    redirectUris: texts('The redirect URIs.'),
    postLogoutRedirectUris: texts('Where people could come back to after they signed out.'),
    corsAllowedOrigins: texts('The origins whose pages could call on its behalf.'),
    allowHeadlessSignIn: flag('Whether it could sign people in without a browser.'),
    allowDeviceGrant: flag('Whether people could sign in to it on another device (RFC 8628).'),
    isThirdParty: flag("Whether it was a third party's."),
    idTokenSigningAlg: textOrNull('How its id tokens were signed; null: as access tokens are.'),
    allowImpersonation: flag('Whether it could redeem subject tokens.'),
    allowPersonalAccessTokens: flag('Whether it could redeem personal access tokens.'),
    jwks: jsonOrNull('Its public keys, as a JSON Web Key Set.'),
    jwksUri: textOrNull('Where its public keys were.'),
    allowSecrets: flag('Whether its secrets counted.', true),
    requireDpop: flag('Whether it got only tokens that are bound to a key.'),
    mayRebindTokens: flag('Whether it could exchange a bound token for one bound to another key.'),
    mayActFor: texts('The applications whose tokens could be its actor tokens, by id.'),
    requirePushedAuthorizationRequests: flag('Whether it had to push its authorization requests.'),
    requirePkce: flag('Whether its authorization requests needed PKCE.', true),
    securityProfile: oneOf(['NONE', 'FAPI_2_0'], 'The security profile that it was held to.'),
    refreshTokenReuseSeconds: integer(
      'For how long a used refresh token could come again, in seconds.',
      30,
    ),
    ...written,
  },
  Webhook: {
    id: id('Webhook'),
    name: named.name,
    url: text(
      'Where it posted to, without the query, which may hold a secret.',
      'https://example.com/',
    ),
    events: texts('The types of its events; empty: all.'),
    query: textOrNull('The subscription document whose result it posted.'),
    enabled: flag('Whether it was enabled.'),
    disabledReason: textOrNull('Why it was switched off by itself.'),
    maxInFlight: integer('How many deliveries could be under way at once.', 10),
    ...written,
  },
  IdentityProvider: {
    id: id('IdentityProvider'),
    name: named.name,
    kind: oneOf(['SOCIAL', 'ENTERPRISE'], 'Its kind.'),
    issuer: text('Its issuer.', 'https://id.example.com'),
    clientId: text('The client id there.'),
    hasClientSecret: flag('Whether it had a client secret.'),
    scopes: texts('The scopes asked for there.'),
    enabled: flag('Whether it was enabled.'),
    emailDomains: texts('The e-mail domains whose people it signed in.'),
    redirectUriState: oneOf(
      ['OWN', 'SHARED', 'TO_REGISTER'],
      'Whether it had a redirect URI of its own.',
    ),
    ...written,
  },
  TrustedIssuer: {
    id: id('TrustedIssuer'),
    name: named.name,
    issuer: text('The `iss` of its assertions.', 'https://ci.example.com'),
    jwksUri: text('Where its public keys were.', 'https://ci.example.com/jwks'),
    kind: oneOf(['WORKLOAD', 'IDENTITY'], 'What its assertions were about.'),
    claimRules: listed(
      object({
        claim: text('The name of a claim.', 'sub'),
        equals: text('What it had to be.', 'repo:acme/shop:ref:refs/heads/main'),
      }),
    ),
    applicationId: id('Application', 'The application that got tokens by its assertions.'),
    maxLifetimeSeconds: integer('How far ahead an assertion could expire, in seconds.', 300),
    requireJti: flag('Whether each assertion needed a jti.', true),
    ...written,
  },
  CrossAppConnection: {
    id: id('CrossAppConnection'),
    applicationId: id('Application', 'The application.'),
    issuer: text('The issuer of the other authorization server.', 'https://id.example.com'),
    clientId: text('The id of the application there.'),
    scopes: texts('The scopes there that an identity assertion could name.'),
    ...written,
  },
  OrganizationInvitation: {
    id: id('OrganizationInvitation'),
    organizationId: id('Organization', 'The organization.'),
    invitee: text('The e-mail address.', 'test@example.com'),
    status: oneOf(['PENDING', 'ACCEPTED', 'EXPIRED', 'REVOKED'], 'Its status.'),
    acceptedUserId: idOrNull('The user who accepted it.'),
    expiresAt: instant('When it expires.'),
    organizationRoleIds: texts('The ids of the organization roles that it gave.'),
    ...written,
  },
} satisfies Record<string, Fields>;

/** A kind of record that events hold whole. */
export type RecordModel = keyof typeof records;

/** A record as events hold it. */
export type RecordData<Model extends RecordModel> = DataOf<(typeof records)[Model]>;

/** A row with the fields of a kind of record, and others. */
type RowOf<Model extends RecordModel> = {
  readonly [Field in keyof RecordData<Model>]: string extends RecordData<Model>[Field]
    ? RecordData<Model>[Field] | Date
    : RecordData<Model>[Field];
};

/** A row as events show it: only the fields of its kind of record. */
export function recordOf<Model extends RecordModel>(
  model: Model,
  row: RowOf<Model>,
): RecordData<Model> {
  const fields = Object.keys(records[model]) as (keyof RowOf<Model>)[];
  const entries = fields.map((field) => {
    const value = row[field];
    return [field, value instanceof Date ? value.toISOString() : value];
  });
  return Object.fromEntries(entries) as RecordData<Model>;
}

const scopeFields = {
  id: records.Scope.id,
  name: records.Scope.name,
  resourceId: records.Scope.resourceId,
};
const organizationScopeFields = {
  id: records.OrganizationScope.id,
  name: records.OrganizationScope.name,
};

/** How events about roles name a scope. */
export const scopeReference = object(scopeFields);
/** How events about organization roles name an organization scope. */
export const organizationScopeReference = object(organizationScopeFields);
/** A scope as an event about roles names it. */
export type ScopeReference = DataOf<typeof scopeFields>;
/** An organization scope as an event about organization roles names it. */
export type OrganizationScopeReference = DataOf<typeof organizationScopeFields>;

/** The fields that an update changed, each with its value before and after. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** The field `changes` of events about updates. */
export const changes: Field<Changes> = {
  schema: {
    type: 'object',
    description: 'The fields that changed, each with its value before and after. Never a secret.',
    additionalProperties: {
      type: 'object',
      properties: { from: {}, to: {} },
      required: ['from', 'to'],
    },
  },
  typed: { kind: 'changes' },
  sample: () => ({ name: { from: 'Before the test', to: 'A test' } }),
};
