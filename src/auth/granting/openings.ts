/**
 * What a field of an operation's input can open, and whose rights that takes. Each has one check in `may-open.ts`. If
 * the field is given, the operation must ask that check before its transaction commits: see `guard.ts`.
 */
const openings = {
  RIGHTS:
    'Gives the scopes of the named scopes, roles or organization roles: the caller holds them.',
  PERSON:
    'Lets the caller act as the named user, or prove to be that user: the caller holds what the user holds.',
  APPLICATION: 'Lets the caller act as the named application: the caller holds what it holds.',
  ADDRESS:
    'Gives an e-mail address, with what awaits its owner: invitations and organizations to join.',
  NEWCOMERS: 'Lets somebody in, with the default roles: the caller holds them.',
  EVERYBODY:
    'Lets the caller, or anybody, more easily prove to be anybody: the caller holds what anybody holds.',
  MEMBERS:
    'Takes a second factor from sign-ins of the members of an organization: the caller holds what they hold.',
  OWN_APIS: 'Opens Signet’s own APIs to an application or a token, for whoever uses it: `all`.',
  SIGNING_KEYS: 'Makes signing keys by themselves, as `all` does by hand: `all`.',
  LATER:
    'Gives or opens rights later: the row keeps what its setter holds, and that is asked again at each use.',
} as const;

/** What a field of an operation's input can open. */
export type Opening = keyof typeof openings;

type Row = Readonly<Record<string, Opening | readonly Opening[] | null>>;

// Nobody gets more rights by these: ids, names, and what is taken away.
const harmless = (...fields: readonly string[]): Row =>
  Object.fromEntries(fields.map((field) => [field, null]));
const each = (opening: Opening | readonly Opening[], ...fields: readonly string[]): Row =>
  Object.fromEntries(fields.map((field) => [field, opening]));

const given = ['RIGHTS', 'LATER'] as const;
const applicationSettings: Row = {
  ...each(['OWN_APIS', 'LATER'], 'allowTokenExchange', 'exchangeResources'),
  ...each(['OWN_APIS', 'LATER'], 'exchangeSubjectAudiences', 'allowPersonalAccessTokens'),
  ...each(['OWN_APIS', 'LATER'], 'exchangeThirdPartySubjectTokens'),
  ...each(['OWN_APIS', 'LATER'], 'allowImpersonation', 'mayRebindTokens'),
  ...each('LATER', 'redirectUris', 'allowHeadlessSignIn', 'isThirdParty', 'corsAllowedOrigins'),
  ...each('LATER', 'allowDeviceGrant', 'requirePkce', 'requireDpop'),
  ...each('LATER', 'requirePushedAuthorizationRequests'),
  // Whoever has a token of theirs acts in their name.
  mayActFor: ['APPLICATION', 'OWN_APIS', 'LATER'],
  ...harmless('name', 'description', 'idTokenSigningAlg', 'postLogoutRedirectUris'),
  // Without its profile an application keeps what the profile has set.
  ...harmless('securityProfile', 'refreshTokenReuseSeconds'),
};
const identityProviderSettings = {
  ...each(['EVERYBODY', 'LATER'], 'issuer', 'clientId', 'clientSecret', 'scopes'),
  ...each(['EVERYBODY', 'LATER'], 'kind', 'emailDomains', 'enabled', 'name'),
};
// Whoever has the issuer's keys is the application, or anybody who is linked.
const trustedIssuerSettings: Row = {
  ...each(['APPLICATION', 'EVERYBODY', 'LATER'], 'issuer', 'jwksUri', 'kind', 'claimRules'),
  ...each(['APPLICATION', 'EVERYBODY', 'LATER'], 'applicationId', 'maxLifetimeSeconds'),
  ...each(['APPLICATION', 'EVERYBODY', 'LATER'], 'requireJti'),
  ...harmless('name'),
};
const memberRoles = { ...harmless('organizationId'), organizationRoleIds: given } as const;
const webhook = harmless('name', 'url', 'events', 'query', 'headers', 'enabled', 'maxInFlight');

/**
 * Every mutation of the management API, and every field of its input. A test holds it against the schema, and attacks
 * each row with every scope.
 */
export const openingsOf: Readonly<Record<string, Row>> = {
  // Users
  createUser: {
    ...each(['NEWCOMERS', 'LATER'], 'username', 'primaryPhone', 'isPhoneVerified', 'password'),
    ...each(['NEWCOMERS', 'ADDRESS', 'LATER'], 'primaryEmail', 'isEmailVerified'),
    ...harmless('name', 'avatar', 'profile', 'customData'),
  },
  importUsers: { users: ['RIGHTS', 'NEWCOMERS', 'ADDRESS', 'LATER'] },
  updateUser: {
    ...each(['PERSON', 'LATER'], 'username', 'primaryPhone', 'isPhoneVerified'),
    ...each(['PERSON', 'ADDRESS', 'LATER'], 'primaryEmail', 'isEmailVerified'),
    isVouchedFor: 'OWN_APIS',
    ...harmless('id', 'name', 'avatar'),
  },
  updateUserPassword: { ...harmless('id'), password: ['PERSON', 'LATER'] },
  updateUserSuspensionStatus: { ...harmless('id'), isSuspended: 'PERSON' },
  updateUserCustomData: harmless('id', 'customData'),
  updateUserProfile: harmless('id', 'profile'),
  deleteUser: harmless('id'),
  signOutUser: harmless('id'),
  endUserSession: harmless('userId', 'sessionId'),
  deleteUserFactor: { userId: 'PERSON', ...harmless('factorId') },
  // Without it, somebody else at its issuer may come with the user's address.
  deleteUserIdentity: { userId: 'PERSON', ...harmless('identityId') },
  revokeUserGrant: harmless('userId', 'grantId'),
  unlockIdentifier: { ...harmless('type'), value: 'PERSON' },
  createOneTimeToken: {
    email: ['PERSON', 'ADDRESS', 'NEWCOMERS', 'LATER'],
    ...harmless('expiresInSeconds', 'context'),
  },
  createSubjectToken: {
    userId: 'PERSON',
    ...harmless('applicationId', 'context', 'reason', 'mayAct'),
  },
  createPersonalAccessToken: {
    userId: 'PERSON',
    resource: 'OWN_APIS',
    scopes: 'RIGHTS',
    ...harmless('name', 'expiresAt'),
  },
  deletePersonalAccessToken: harmless('id'),
  assignUserRoles: { ...harmless('userId'), roleIds: given },
  replaceUserRoles: { ...harmless('userId'), roleIds: given },
  removeUserRole: harmless('userId', 'roleId'),

  // Roles
  createRole: { scopeIds: 'RIGHTS', isDefault: given, ...harmless('name', 'description', 'type') },
  updateRole: { isDefault: given, ...harmless('id', 'name', 'description') },
  deleteRole: harmless('id'),
  addRoleScopes: { ...harmless('roleId'), scopeIds: 'RIGHTS' },
  removeRoleScope: harmless('roleId', 'scopeId'),

  // Resources: the management API and its scopes are nobody's to change.
  // An algorithm makes one key at most, and replaces none: as for the id tokens of an application.
  createResource: harmless('name', 'indicator', 'accessTokenTtlSeconds', 'signingAlg'),
  updateResource: harmless('id', 'name', 'accessTokenTtlSeconds', 'signingAlg'),
  deleteResource: harmless('id'),
  createScope: harmless('resourceId', 'name', 'description'),
  updateScope: harmless('id', 'name', 'description'),
  deleteScope: harmless('id'),

  // Applications
  createApplication: {
    ...applicationSettings,
    ...each(['OWN_APIS', 'LATER'], 'jwks', 'jwksUri'),
    ...harmless('type', 'allowSecrets'),
  },
  updateApplication: {
    ...applicationSettings,
    ...each(['APPLICATION', 'OWN_APIS', 'LATER'], 'jwks', 'jwksUri'),
    // Its secrets were asked about when they were made.
    ...harmless('id', 'allowSecrets'),
  },
  deleteApplication: harmless('id'),
  createApplicationSecret: {
    applicationId: ['APPLICATION', 'OWN_APIS', 'LATER'],
    ...harmless('name', 'expiresAt'),
  },
  deleteApplicationSecret: harmless('id'),
  createTrustedIssuer: trustedIssuerSettings,
  updateTrustedIssuer: { ...trustedIssuerSettings, ...harmless('id') },
  deleteTrustedIssuer: harmless('id'),
  // Elsewhere, nothing of this service is opened.
  createCrossAppConnection: harmless('applicationId', 'issuer', 'clientId', 'scopes'),
  updateCrossAppConnection: harmless('id', 'issuer', 'clientId', 'scopes'),
  deleteCrossAppConnection: harmless('id'),
  assignApplicationRoles: { ...harmless('applicationId'), roleIds: given },
  replaceApplicationRoles: { ...harmless('applicationId'), roleIds: given },
  removeApplicationRole: harmless('applicationId', 'roleId'),

  // Organizations
  createOrganization: harmless('name', 'description', 'customData', 'requiresFactor'),
  updateOrganization: {
    requiresFactor: 'MEMBERS',
    ...harmless('id', 'name', 'description', 'customData'),
  },
  deleteOrganization: { id: 'MEMBERS' },
  addOrganizationUsers: harmless('organizationId', 'userIds'),
  replaceOrganizationUsers: { ...harmless('organizationId'), userIds: 'MEMBERS' },
  removeOrganizationUser: { ...harmless('organizationId'), userId: 'MEMBERS' },
  addOrganizationApplications: harmless('organizationId', 'applicationIds'),
  replaceOrganizationApplications: harmless('organizationId', 'applicationIds'),
  removeOrganizationApplication: harmless('organizationId', 'applicationId'),
  assignOrganizationUserRoles: { ...harmless('userId'), ...memberRoles },
  replaceOrganizationUserRoles: { ...harmless('userId'), ...memberRoles },
  removeOrganizationUserRole: harmless('organizationId', 'userId', 'organizationRoleId'),
  assignOrganizationApplicationRoles: { ...harmless('applicationId'), ...memberRoles },
  replaceOrganizationApplicationRoles: { ...harmless('applicationId'), ...memberRoles },
  removeOrganizationApplicationRole: harmless(
    ...['organizationId', 'applicationId', 'organizationRoleId'],
  ),
  createOrganizationInvitation: {
    ...memberRoles,
    ...harmless('invitee', 'expiresAt', 'sendMessage'),
  },
  updateOrganizationInvitationStatus: {
    acceptedUserId: given,
    ...harmless('id', 'status'),
  },
  deleteOrganizationInvitation: harmless('id'),
  addOrganizationEmailDomain: { ...harmless('organizationId'), domain: given },
  removeOrganizationEmailDomain: harmless('organizationId', 'domain'),
  addOrganizationIdentityProvider: {
    ...harmless('organizationId'),
    // A company's people may register by it while the sign-up is closed.
    identityProviderId: ['RIGHTS', 'NEWCOMERS', 'LATER'],
  },
  removeOrganizationIdentityProvider: harmless('organizationId', 'identityProviderId'),
  replaceOrganizationJitRoles: memberRoles,
  createOrganizationRole: {
    scopeIds: 'RIGHTS',
    ...harmless('name', 'description', 'type', 'organizationScopeIds'),
  },
  updateOrganizationRole: harmless('id', 'name', 'description'),
  deleteOrganizationRole: harmless('id'),
  addOrganizationRoleResourceScopes: { ...harmless('organizationRoleId'), scopeIds: 'RIGHTS' },
  removeOrganizationRoleResourceScope: harmless('organizationRoleId', 'scopeId'),
  // Scopes of organizations are not Signet's own.
  createOrganizationScope: harmless('name', 'description'),
  updateOrganizationScope: harmless('id', 'name', 'description'),
  deleteOrganizationScope: harmless('id'),
  addOrganizationRoleScopes: harmless('organizationRoleId', 'organizationScopeIds'),
  removeOrganizationRoleScope: harmless('organizationRoleId', 'organizationScopeId'),
  replaceOrganizationRoleScopes: harmless('organizationRoleId', 'organizationScopeIds'),

  // How people sign in
  updateSignInExperience: {
    ...each(['EVERYBODY', 'LATER'], 'passwordEnabled', 'codeEnabled', 'signInIdentifiers'),
    ...each(['EVERYBODY', 'LATER'], 'passwordPolicy', 'codePolicy', 'lockoutPolicy'),
    ...each(['EVERYBODY', 'LATER'], 'factors', 'factorPolicy', 'sessionPolicy'),
    signUpEnabled: ['NEWCOMERS', 'LATER'],
    ...harmless('signUpIdentifiers', 'branding', 'defaultLanguage'),
  },
  setEmailSender: each(['EVERYBODY', 'LATER'], 'smtp', 'http'),
  setSmsSender: { http: ['EVERYBODY', 'LATER'] },
  removeEmailSender: harmless('clientMutationId'),
  removeSmsSender: harmless('clientMutationId'),
  sendTestMessage: harmless('channel', 'recipient'),
  createIdentityProvider: identityProviderSettings,
  updateIdentityProvider: {
    ...identityProviderSettings,
    ...each(['EVERYBODY', 'LATER'], 'redirectUriRegistered'),
    ...harmless('id'),
  },
  // People of a company would sign in by something weaker; and as for an identity of each person.
  deleteIdentityProvider: { id: ['EVERYBODY', 'PERSON'] },

  // A webhook has the scopes of its creator, as long as they last.
  createWebhook: webhook,
  updateWebhook: { ...webhook, ...harmless('id') },
  deleteWebhook: harmless('id'),
  rotateWebhookSecret: harmless('id'),
  testWebhook: harmless('id', 'type'),
  redeliver: harmless('deliveryId'),
  replayEvents: harmless('webhookId', 'after', 'before', 'since', 'until', 'types'),

  // How the service works
  // What registers itself is a third party’s: it gets what people allow it, as any that `applications:write` creates.
  updateServiceSettings: {
    signingKeyRotationDays: 'SIGNING_KEYS',
    ...harmless('clientRegistration', 'dpopNonce'),
  },
  createRegistrationToken: harmless('expiresAt', 'maxUses'),
  deleteRegistrationToken: harmless('id'),

  // Each change that a document leads to is a mutation of this table, asked as such.
  planConfiguration: harmless('document', 'prune'),
  applyConfiguration: harmless('document', 'prune', 'expectedDigest'),

  // For `all` alone.
  rotateSigningKey: harmless('algorithm', 'immediately'),
  deleteSigningKey: harmless('id'),
};

/**
 * Every input object within the inputs above, by its type, and every field of it. A field that holds one says all that
 * the fields of it can open: the operation asks about the field.
 */
export const openingsOfParts: Readonly<Record<string, Row>> = {
  ImportedUserInput: {
    ...each(['NEWCOMERS', 'LATER'], 'username', 'primaryPhone', 'isPhoneVerified', 'password'),
    ...each(['NEWCOMERS', 'LATER'], 'passwordDigest', 'passwordAlgorithm'),
    ...each(['NEWCOMERS', 'ADDRESS', 'LATER'], 'primaryEmail', 'isEmailVerified'),
    roleIds: ['RIGHTS', 'LATER'],
    ...harmless('name', 'avatar', 'profile', 'customData', 'isSuspended', 'createdAt'),
  },
  MayActInput: harmless('sub', 'clientId'),
  ClaimRuleInput: each(['APPLICATION', 'EVERYBODY', 'LATER'], 'claim', 'equals'),
  PasswordPolicyInput: each(
    ['EVERYBODY', 'LATER'],
    ...['minLength', 'rejectCommon', 'rejectUserData', 'blocklist'],
  ),
  CodePolicyInput: each(
    ['EVERYBODY', 'LATER'],
    ...['maxAttempts', 'sendLimit', 'sendWindowSeconds', 'ttlSeconds'],
  ),
  LockoutPolicyInput: each(
    ['EVERYBODY', 'LATER'],
    ...['maxAttempts', 'windowSeconds', 'lockSeconds'],
  ),
  SessionPolicyInput: each(['EVERYBODY', 'LATER'], 'idleSeconds', 'maxSeconds'),
  BrandingInput: harmless('productName', 'logoUrl', 'primaryColor', 'privacyUrl', 'termsUrl'),
  SmtpSenderInput: each(
    ['EVERYBODY', 'LATER'],
    ...['host', 'port', 'secure', 'username', 'password', 'from'],
  ),
  HttpSenderInput: each(['EVERYBODY', 'LATER'], 'url', 'secret'),
  ClientRegistrationInput: harmless('dynamic', 'metadataDocuments', 'metadataHosts'),
};
