/** A REST route: a path, and the GraphQL operation behind it. */
export interface RestRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path under `/api`. */
  readonly path: string;
  /** Its field of `Mutation` or `Query`. */
  readonly operation: string;
  /** For a list of a record's related records: the connection field; `operation` is the record's query. */
  readonly list?: string;
  /** The input field or argument of a path parameter, if its name differs. */
  readonly rename?: Readonly<Record<string, string>>;
  /** The path parameter that names the owner of the record under `id`, and the record's field for it. */
  readonly within?: { readonly parameter: string; readonly field: string; readonly type: string };
}

const scopeOfResource = { parameter: 'resourceId', field: 'resource', type: 'Scope' } as const;
const secretOfApplication = {
  parameter: 'applicationId',
  field: 'application',
  type: 'ApplicationSecret',
} as const;
const personalAccessTokenOfUser = {
  parameter: 'userId',
  field: 'user',
  type: 'PersonalAccessToken',
} as const;

const asId = (parameter: string) => ({ rename: { [parameter]: 'id' } });
const idTo = (field: string) => ({ rename: { id: field } });

/**
 * Every route under `/api`. Values that no path parameter names come in the body, or in a list's query, under the names
 * of the GraphQL schema.
 */
export const restRoutes: readonly RestRoute[] = [
  { method: 'GET', path: '/users', operation: 'users' },
  { method: 'POST', path: '/users', operation: 'createUser' },
  { method: 'POST', path: '/users/import', operation: 'importUsers' },
  { method: 'GET', path: '/users/:userId', operation: 'user', ...asId('userId') },
  { method: 'PATCH', path: '/users/:userId', operation: 'updateUser', ...asId('userId') },
  { method: 'DELETE', path: '/users/:userId', operation: 'deleteUser', ...asId('userId') },
  {
    method: 'PATCH',
    path: '/users/:userId/custom-data',
    operation: 'updateUserCustomData',
    ...asId('userId'),
  },
  {
    method: 'PATCH',
    path: '/users/:userId/profile',
    operation: 'updateUserProfile',
    ...asId('userId'),
  },
  {
    method: 'PATCH',
    path: '/users/:userId/password',
    operation: 'updateUserPassword',
    ...asId('userId'),
  },
  {
    method: 'PATCH',
    path: '/users/:userId/is-suspended',
    operation: 'updateUserSuspensionStatus',
    ...asId('userId'),
  },
  { method: 'POST', path: '/users/:userId/sign-out', operation: 'signOutUser', ...asId('userId') },
  {
    method: 'GET',
    path: '/users/:userId/roles',
    operation: 'user',
    list: 'roles',
    ...asId('userId'),
  },
  { method: 'POST', path: '/users/:userId/roles', operation: 'assignUserRoles' },
  { method: 'PUT', path: '/users/:userId/roles', operation: 'replaceUserRoles' },
  { method: 'DELETE', path: '/users/:userId/roles/:roleId', operation: 'removeUserRole' },

  {
    method: 'GET',
    path: '/users/:userId/sessions',
    operation: 'user',
    list: 'sessions',
    ...asId('userId'),
  },
  { method: 'DELETE', path: '/users/:userId/sessions/:sessionId', operation: 'endUserSession' },
  {
    method: 'GET',
    path: '/users/:userId/factors',
    operation: 'user',
    list: 'factors',
    ...asId('userId'),
  },
  { method: 'DELETE', path: '/users/:userId/factors/:factorId', operation: 'deleteUserFactor' },
  {
    method: 'GET',
    path: '/users/:userId/identities',
    operation: 'user',
    list: 'identities',
    ...asId('userId'),
  },
  {
    method: 'DELETE',
    path: '/users/:userId/identities/:identityId',
    operation: 'deleteUserIdentity',
  },
  {
    method: 'GET',
    path: '/users/:userId/grants',
    operation: 'user',
    list: 'grants',
    ...asId('userId'),
  },
  { method: 'DELETE', path: '/users/:userId/grants/:grantId', operation: 'revokeUserGrant' },
  { method: 'POST', path: '/identifiers/unlock', operation: 'unlockIdentifier' },
  { method: 'POST', path: '/one-time-tokens', operation: 'createOneTimeToken' },
  {
    method: 'GET',
    path: '/users/:userId/subject-tokens',
    operation: 'user',
    list: 'subjectTokens',
    ...asId('userId'),
  },
  { method: 'POST', path: '/users/:userId/subject-tokens', operation: 'createSubjectToken' },
  {
    method: 'GET',
    path: '/users/:userId/personal-access-tokens',
    operation: 'user',
    list: 'personalAccessTokens',
    ...asId('userId'),
  },
  {
    method: 'POST',
    path: '/users/:userId/personal-access-tokens',
    operation: 'createPersonalAccessToken',
  },
  {
    method: 'DELETE',
    path: '/users/:userId/personal-access-tokens/:personalAccessTokenId',
    operation: 'deletePersonalAccessToken',
    within: personalAccessTokenOfUser,
    ...asId('personalAccessTokenId'),
  },

  { method: 'GET', path: '/service', operation: 'service' },
  { method: 'GET', path: '/statistics', operation: 'statistics' },

  { method: 'GET', path: '/sign-in-experience', operation: 'signInExperience' },
  { method: 'PATCH', path: '/sign-in-experience', operation: 'updateSignInExperience' },

  { method: 'GET', path: '/roles', operation: 'roles' },
  { method: 'POST', path: '/roles', operation: 'createRole' },
  { method: 'GET', path: '/roles/:id', operation: 'role' },
  { method: 'PATCH', path: '/roles/:id', operation: 'updateRole' },
  { method: 'DELETE', path: '/roles/:id', operation: 'deleteRole' },
  { method: 'GET', path: '/roles/:id/scopes', operation: 'role', list: 'scopes' },
  {
    method: 'POST',
    path: '/roles/:id/scopes',
    operation: 'addRoleScopes',
    ...idTo('roleId'),
  },
  {
    method: 'DELETE',
    path: '/roles/:id/scopes/:scopeId',
    operation: 'removeRoleScope',
    ...idTo('roleId'),
  },

  { method: 'GET', path: '/resources', operation: 'resources' },
  { method: 'POST', path: '/resources', operation: 'createResource' },
  { method: 'GET', path: '/resources/:id', operation: 'resource' },
  { method: 'PATCH', path: '/resources/:id', operation: 'updateResource' },
  { method: 'DELETE', path: '/resources/:id', operation: 'deleteResource' },
  {
    method: 'GET',
    path: '/resources/:resourceId/scopes',
    operation: 'resource',
    list: 'scopes',
    ...asId('resourceId'),
  },
  { method: 'POST', path: '/resources/:resourceId/scopes', operation: 'createScope' },
  { method: 'GET', path: '/scopes', operation: 'scopes' },
  { method: 'GET', path: '/scopes/:id', operation: 'scope' },
  {
    method: 'PATCH',
    path: '/resources/:resourceId/scopes/:scopeId',
    operation: 'updateScope',
    within: scopeOfResource,
    ...asId('scopeId'),
  },
  {
    method: 'DELETE',
    path: '/resources/:resourceId/scopes/:scopeId',
    operation: 'deleteScope',
    within: scopeOfResource,
    ...asId('scopeId'),
  },

  { method: 'GET', path: '/applications', operation: 'applications' },
  { method: 'POST', path: '/applications', operation: 'createApplication' },
  { method: 'GET', path: '/applications/:id', operation: 'application' },
  { method: 'PATCH', path: '/applications/:id', operation: 'updateApplication' },
  {
    method: 'GET',
    path: '/applications/:applicationId/token-exchange',
    operation: 'explainTokenExchange',
  },
  { method: 'DELETE', path: '/applications/:id', operation: 'deleteApplication' },
  {
    method: 'GET',
    path: '/applications/:applicationId/secrets',
    operation: 'application',
    list: 'secrets',
    ...asId('applicationId'),
  },
  {
    method: 'POST',
    path: '/applications/:applicationId/secrets',
    operation: 'createApplicationSecret',
  },
  {
    method: 'DELETE',
    path: '/applications/:applicationId/secrets/:secretId',
    operation: 'deleteApplicationSecret',
    within: secretOfApplication,
    ...asId('secretId'),
  },
  {
    method: 'GET',
    path: '/applications/:applicationId/roles',
    operation: 'application',
    list: 'roles',
    ...asId('applicationId'),
  },
  {
    method: 'POST',
    path: '/applications/:applicationId/roles',
    operation: 'assignApplicationRoles',
  },
  {
    method: 'PUT',
    path: '/applications/:applicationId/roles',
    operation: 'replaceApplicationRoles',
  },
  {
    method: 'DELETE',
    path: '/applications/:applicationId/roles/:roleId',
    operation: 'removeApplicationRole',
  },

  { method: 'GET', path: '/organizations', operation: 'organizations' },
  { method: 'POST', path: '/organizations', operation: 'createOrganization' },
  { method: 'GET', path: '/organizations/:id', operation: 'organization' },
  { method: 'PATCH', path: '/organizations/:id', operation: 'updateOrganization' },
  { method: 'DELETE', path: '/organizations/:id', operation: 'deleteOrganization' },

  { method: 'GET', path: '/organizations/:id/users', operation: 'organization', list: 'members' },
  {
    method: 'POST',
    path: '/organizations/:id/users',
    operation: 'addOrganizationUsers',
    ...idTo('organizationId'),
  },
  {
    method: 'PUT',
    path: '/organizations/:id/users',
    operation: 'replaceOrganizationUsers',
    ...idTo('organizationId'),
  },
  {
    method: 'DELETE',
    path: '/organizations/:id/users/:userId',
    operation: 'removeOrganizationUser',
    ...idTo('organizationId'),
  },
  {
    method: 'POST',
    path: '/organizations/:id/users/:userId/roles',
    operation: 'assignOrganizationUserRoles',
    ...idTo('organizationId'),
  },
  {
    method: 'PUT',
    path: '/organizations/:id/users/:userId/roles',
    operation: 'replaceOrganizationUserRoles',
    ...idTo('organizationId'),
  },
  {
    method: 'DELETE',
    path: '/organizations/:id/users/:userId/roles/:organizationRoleId',
    operation: 'removeOrganizationUserRole',
    ...idTo('organizationId'),
  },

  {
    method: 'GET',
    path: '/organizations/:id/applications',
    operation: 'organization',
    list: 'applications',
  },
  {
    method: 'POST',
    path: '/organizations/:id/applications',
    operation: 'addOrganizationApplications',
    ...idTo('organizationId'),
  },
  {
    method: 'PUT',
    path: '/organizations/:id/applications',
    operation: 'replaceOrganizationApplications',
    ...idTo('organizationId'),
  },
  {
    method: 'DELETE',
    path: '/organizations/:id/applications/:applicationId',
    operation: 'removeOrganizationApplication',
    ...idTo('organizationId'),
  },
  {
    method: 'POST',
    path: '/organizations/:id/applications/:applicationId/roles',
    operation: 'assignOrganizationApplicationRoles',
    ...idTo('organizationId'),
  },
  {
    method: 'PUT',
    path: '/organizations/:id/applications/:applicationId/roles',
    operation: 'replaceOrganizationApplicationRoles',
    ...idTo('organizationId'),
  },
  {
    method: 'DELETE',
    path: '/organizations/:id/applications/:applicationId/roles/:organizationRoleId',
    operation: 'removeOrganizationApplicationRole',
    ...idTo('organizationId'),
  },

  {
    method: 'GET',
    path: '/organizations/:id/email-domains',
    operation: 'organization',
    list: 'emailDomains',
  },
  {
    method: 'POST',
    path: '/organizations/:id/email-domains',
    operation: 'addOrganizationEmailDomain',
    ...idTo('organizationId'),
  },
  {
    method: 'DELETE',
    path: '/organizations/:id/email-domains/:domain',
    operation: 'removeOrganizationEmailDomain',
    ...idTo('organizationId'),
  },
  {
    method: 'GET',
    path: '/organizations/:id/identity-providers',
    operation: 'organization',
    list: 'identityProviders',
  },
  {
    method: 'POST',
    path: '/organizations/:id/identity-providers',
    operation: 'addOrganizationIdentityProvider',
    ...idTo('organizationId'),
  },
  {
    method: 'DELETE',
    path: '/organizations/:id/identity-providers/:identityProviderId',
    operation: 'removeOrganizationIdentityProvider',
    ...idTo('organizationId'),
  },
  {
    method: 'GET',
    path: '/organizations/:id/jit-roles',
    operation: 'organization',
    list: 'jitRoles',
  },
  {
    method: 'PUT',
    path: '/organizations/:id/jit-roles',
    operation: 'replaceOrganizationJitRoles',
    ...idTo('organizationId'),
  },

  { method: 'GET', path: '/organization-invitations', operation: 'organizationInvitations' },
  { method: 'POST', path: '/organization-invitations', operation: 'createOrganizationInvitation' },
  { method: 'GET', path: '/organization-invitations/:id', operation: 'organizationInvitation' },
  {
    method: 'DELETE',
    path: '/organization-invitations/:id',
    operation: 'deleteOrganizationInvitation',
  },
  {
    method: 'PUT',
    path: '/organization-invitations/:id/status',
    operation: 'updateOrganizationInvitationStatus',
  },

  { method: 'GET', path: '/organization-roles', operation: 'organizationRoles' },
  { method: 'POST', path: '/organization-roles', operation: 'createOrganizationRole' },
  { method: 'GET', path: '/organization-roles/:id', operation: 'organizationRole' },
  { method: 'PATCH', path: '/organization-roles/:id', operation: 'updateOrganizationRole' },
  { method: 'DELETE', path: '/organization-roles/:id', operation: 'deleteOrganizationRole' },
  {
    method: 'GET',
    path: '/organization-roles/:id/scopes',
    operation: 'organizationRole',
    list: 'scopes',
  },
  {
    method: 'POST',
    path: '/organization-roles/:id/scopes',
    operation: 'addOrganizationRoleScopes',
    ...idTo('organizationRoleId'),
  },
  {
    method: 'PUT',
    path: '/organization-roles/:id/scopes',
    operation: 'replaceOrganizationRoleScopes',
    ...idTo('organizationRoleId'),
  },
  {
    method: 'DELETE',
    path: '/organization-roles/:id/scopes/:organizationScopeId',
    operation: 'removeOrganizationRoleScope',
    ...idTo('organizationRoleId'),
  },
  {
    method: 'GET',
    path: '/organization-roles/:id/resource-scopes',
    operation: 'organizationRole',
    list: 'resourceScopes',
  },
  {
    method: 'POST',
    path: '/organization-roles/:id/resource-scopes',
    operation: 'addOrganizationRoleResourceScopes',
    ...idTo('organizationRoleId'),
  },
  {
    method: 'DELETE',
    path: '/organization-roles/:id/resource-scopes/:scopeId',
    operation: 'removeOrganizationRoleResourceScope',
    ...idTo('organizationRoleId'),
  },

  { method: 'GET', path: '/organization-scopes', operation: 'organizationScopes' },
  { method: 'POST', path: '/organization-scopes', operation: 'createOrganizationScope' },
  { method: 'GET', path: '/organization-scopes/:id', operation: 'organizationScope' },
  { method: 'PATCH', path: '/organization-scopes/:id', operation: 'updateOrganizationScope' },
  { method: 'DELETE', path: '/organization-scopes/:id', operation: 'deleteOrganizationScope' },

  { method: 'GET', path: '/webhooks', operation: 'webhooks' },
  { method: 'POST', path: '/webhooks', operation: 'createWebhook' },
  { method: 'GET', path: '/webhooks/:id', operation: 'webhook' },
  { method: 'PATCH', path: '/webhooks/:id', operation: 'updateWebhook' },
  { method: 'DELETE', path: '/webhooks/:id', operation: 'deleteWebhook' },
  { method: 'POST', path: '/webhooks/:id/secret/rotate', operation: 'rotateWebhookSecret' },
  { method: 'POST', path: '/webhooks/:id/test', operation: 'testWebhook' },
  { method: 'POST', path: '/webhooks/:id/replay', operation: 'replayEvents', ...idTo('webhookId') },
  {
    method: 'POST',
    path: '/deliveries/:id/redeliver',
    operation: 'redeliver',
    ...idTo('deliveryId'),
  },
  { method: 'GET', path: '/webhooks/:id/deliveries', operation: 'webhook', list: 'deliveries' },

  { method: 'GET', path: '/identity-providers', operation: 'identityProviders' },
  { method: 'POST', path: '/identity-providers', operation: 'createIdentityProvider' },
  { method: 'GET', path: '/identity-providers/:id', operation: 'identityProvider' },
  { method: 'PATCH', path: '/identity-providers/:id', operation: 'updateIdentityProvider' },
  { method: 'DELETE', path: '/identity-providers/:id', operation: 'deleteIdentityProvider' },

  { method: 'GET', path: '/message-senders', operation: 'messageSenders' },
  { method: 'PUT', path: '/message-senders/email', operation: 'setEmailSender' },
  { method: 'DELETE', path: '/message-senders/email', operation: 'removeEmailSender' },
  { method: 'PUT', path: '/message-senders/sms', operation: 'setSmsSender' },
  { method: 'DELETE', path: '/message-senders/sms', operation: 'removeSmsSender' },
  { method: 'POST', path: '/messages/test', operation: 'sendTestMessage' },
  { method: 'GET', path: '/messages/:id', operation: 'message' },

  { method: 'GET', path: '/events', operation: 'events' },

  { method: 'GET', path: '/signing-keys', operation: 'signingKeys' },
  { method: 'POST', path: '/signing-keys/rotate', operation: 'rotateSigningKey' },
  { method: 'DELETE', path: '/signing-keys/:id', operation: 'deleteSigningKey' },
];
