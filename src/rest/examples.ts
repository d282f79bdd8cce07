import type { MutationName } from '../graphql/mutations/raised.ts';
import { type IdKind, idPrefixes } from '../ids.ts';
import type { RestOperation } from './operation.ts';

const idOf = (kind: IdKind) => `${idPrefixes[kind]}_01h455vb4pex5vsknk084sn02q`;
const pastInstant = '2026-01-01T00:00:00.000Z';
const futureInstant = '2031-05-01T12:00:00.000Z';

const roleIds = [idOf('Role')];
const scopeIds = [idOf('Scope')];
const userIds = [idOf('User')];
const applicationIds = [idOf('Application')];
const organizationRoleIds = [idOf('OrganizationRole')];
const organizationScopeIds = [idOf('OrganizationScope')];
const document = '{"signet":1,"roles":[{"name":"Support"}]}';

/** An example of the body of each operation that has one, apart from `expectedVersion`. */
const bodies: { readonly [Mutation in MutationName]?: object } = {
  createUser: {
    username: 'ada',
    name: 'Ada Lovelace',
    primaryEmail: 'ada@example.com',
    password: 'analytical engine',
  },
  importUsers: {
    users: [{ username: 'grace', primaryEmail: 'grace@example.com', name: 'Grace Hopper' }],
  },
  updateUser: { name: 'Ada King' },
  updateUserCustomData: { customData: { plan: 'free' } },
  updateUserProfile: { profile: { locale: 'en-GB' } },
  updateUserPassword: { password: 'difference engine' },
  updateUserSuspensionStatus: { isSuspended: true },
  assignUserRoles: { roleIds },
  replaceUserRoles: { roleIds },
  unlockIdentifier: { type: 'USERNAME', value: 'ada' },
  createOneTimeToken: { email: 'ada@example.com', expiresInSeconds: 600 },
  createSubjectToken: { reason: 'Ticket 4711', context: { ticket: 4711 } },
  createPersonalAccessToken: {
    name: 'Nightly report',
    resource: 'https://orders.example.com/api',
    scopes: ['read:orders'],
    expiresAt: futureInstant,
  },
  updateSignInExperience: { branding: { productName: 'Acme' } },
  updateServiceSettings: { signingKeyRotationDays: 90 },
  createRegistrationToken: { expiresAt: futureInstant, maxUses: 1 },
  createRole: { name: 'Support', description: 'Answers customers.', scopeIds },
  updateRole: { name: 'Customer support' },
  addRoleScopes: { scopeIds },
  createResource: { name: 'Orders', indicator: 'https://orders.example.com/api' },
  updateResource: { accessTokenTtlSeconds: 600 },
  createScope: { name: 'read:orders', description: 'Reads orders.' },
  updateScope: { description: 'Reads orders, not their payments.' },
  createApplication: {
    name: 'Shop',
    type: 'TRADITIONAL',
    redirectUris: ['https://shop.example.com/callback'],
  },
  updateApplication: { name: 'Web shop' },
  createApplicationSecret: { name: 'For the new servers' },
  assignApplicationRoles: { roleIds },
  replaceApplicationRoles: { roleIds },
  createOrganization: { name: 'Acme', customData: { seats: 25 } },
  updateOrganization: { description: 'Our first customer.' },
  addOrganizationUsers: { userIds },
  replaceOrganizationUsers: { userIds },
  assignOrganizationUserRoles: { organizationRoleIds },
  replaceOrganizationUserRoles: { organizationRoleIds },
  addOrganizationApplications: { applicationIds },
  replaceOrganizationApplications: { applicationIds },
  assignOrganizationApplicationRoles: { organizationRoleIds },
  replaceOrganizationApplicationRoles: { organizationRoleIds },
  addOrganizationEmailDomain: { domain: 'acme.example.com' },
  addOrganizationIdentityProvider: { identityProviderId: idOf('IdentityProvider') },
  replaceOrganizationJitRoles: { organizationRoleIds },
  createOrganizationInvitation: {
    organizationId: idOf('Organization'),
    invitee: 'ada@example.com',
    organizationRoleIds,
  },
  updateOrganizationInvitationStatus: { status: 'REVOKED' },
  createOrganizationRole: { name: 'Editor', organizationScopeIds },
  updateOrganizationRole: { description: 'Writes and publishes.' },
  addOrganizationRoleScopes: { organizationScopeIds },
  replaceOrganizationRoleScopes: { organizationScopeIds },
  addOrganizationRoleResourceScopes: { scopeIds },
  createOrganizationScope: { name: 'edit:pages' },
  updateOrganizationScope: { description: 'Changes pages.' },
  createWebhook: {
    name: 'Customer records',
    url: 'https://crm.example.com/hooks/signet',
    events: ['USER_CREATED', 'USER_DELETED'],
  },
  updateWebhook: { enabled: false },
  testWebhook: { type: 'USER_CREATED' },
  replayEvents: { types: ['USER_CREATED'], since: pastInstant },
  createTrustedIssuer: {
    applicationId: idOf('Application'),
    name: 'Builds',
    kind: 'WORKLOAD',
    issuer: 'https://ci.example.com',
    jwksUri: 'https://ci.example.com/jwks',
    claimRules: [{ claim: 'sub', equals: 'repo:acme/shop' }],
  },
  updateTrustedIssuer: { maxLifetimeSeconds: 300 },
  createCrossAppConnection: {
    applicationId: idOf('Application'),
    issuer: 'https://wiki.example.com',
    clientId: 'shop',
    scopes: ['read'],
  },
  updateCrossAppConnection: { scopes: ['read', 'write'] },
  createIdentityProvider: {
    name: 'Acme',
    kind: 'ENTERPRISE',
    issuer: 'https://login.example.com',
    clientId: 'signet',
    clientSecret: 'a secret of the provider',
    scopes: ['openid', 'email'],
    emailDomains: ['acme.example.com'],
  },
  updateIdentityProvider: { enabled: false },
  setEmailSender: {
    smtp: { host: 'mail.example.com', port: 587, from: 'Acme <no-reply@example.com>' },
  },
  setSmsSender: {
    http: {
      url: 'https://sms.example.com/send',
      secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
    },
  },
  sendTestMessage: { channel: 'EMAIL', recipient: 'ada@example.com' },
  planConfiguration: { document },
  applyConfiguration: { document },
  rotateSigningKey: { immediately: false },
};

/** An example of an operation's body; undefined where nothing but the version can be given. */
export const bodyExample = ({ route }: RestOperation): object | undefined =>
  bodies[route.operation as MutationName];

// Parameters that are no ids, or whose names do not end with their kinds'.
const named: Readonly<Record<string, string | number | readonly string[]>> = {
  domain: 'acme.example.com',
  factorId: idOf('UserFactor'),
  identityId: idOf('UserIdentity'),
  grantId: idOf('UserGrant'),
  subjectId: idOf('User'),
  resource: 'https://orders.example.com/api',
  scope: 'read:orders',
  actorId: idOf('User'),
  actorClientId: idOf('Application'),
  subjectClientId: idOf('Application'),
  mayActClientId: idOf('Application'),
  mayActSub: idOf('User'),
  subjectAudience: 'https://shop.example.com/api',
  scopes: ['read:orders'],
  search: 'ada',
  username: 'ada',
  primaryEmail: 'ada@example.com',
  primaryPhone: '+4930123456',
  emailDomain: 'acme.example.com',
  createdAfter: pastInstant,
  createdBefore: futureInstant,
  lastSignInAfter: pastInstant,
  lastSignInBefore: futureInstant,
  since: pastInstant,
  until: futureInstant,
  first: 20,
  last: 20,
};

/**
 * An example of a required parameter of a path or a query.
 *
 * @throws where none is known.
 */
export function parameterExample(operation: RestOperation, parameter: string): string {
  const name = operation.parameters.get(parameter) ?? parameter;
  const example = name === 'id' ? idOf(kindOf(operation)) : exampleOf(name);
  if (example === undefined)
    throw new Error(`${operation.route.path}: there is no example of ${parameter}.`);
  return String(example);
}

/** An example of a parameter, by its name in the schema; undefined where none is known. */
export function exampleOf(name: string): string | number | readonly string[] | undefined {
  if (name in named) return named[name];
  const [kind] = kinds.filter((one) => capitalized(name).endsWith(`${one}Id`));
  return kind && idOf(kind);
}

// `OrganizationScope` before `Scope`.
const kinds = (Object.keys(idPrefixes) as IdKind[]).toSorted((a, b) => b.length - a.length);

/** The kind of record that `id` in a path names. */
function kindOf({ route }: RestOperation): IdKind {
  const [, collection = ''] = route.path.split('/');
  const kind = route.within?.type ?? collection.split('-').map(capitalized).join('').slice(0, -1);
  if (!isKind(kind)) throw new Error(`${route.path}: no kind of id is known.`);
  return kind;
}

const isKind = (name: string): name is IdKind => name in idPrefixes;

const capitalized = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
