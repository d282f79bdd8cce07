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

type Extra = Partial<Pick<RestRoute, 'list' | 'rename' | 'within'>>;

const route =
  (method: RestRoute['method']) =>
  (path: string, operation: string, ...extras: Extra[]): RestRoute =>
    Object.assign({ method, path, operation }, ...extras);

const get = route('GET');
const post = route('POST');
const put = route('PUT');
const patch = route('PATCH');
const remove = route('DELETE');
const related = (path: string, operation: string, list: string, ...extras: Extra[]) =>
  get(path, operation, { list }, ...extras);

const asId = (parameter: string): Extra => ({ rename: { [parameter]: 'id' } });
const idTo = (field: string): Extra => ({ rename: { id: field } });
const within = (parameter: string, field: string, type: string): Extra => ({
  within: { parameter, field, type },
});

const scopeOfResource = within('resourceId', 'resource', 'Scope');
const secretOfApplication = within('applicationId', 'application', 'ApplicationSecret');
const personalAccessTokenOfUser = within('userId', 'user', 'PersonalAccessToken');

/**
 * Every route under `/api`. Values that no path parameter names come in the body, or in a list's query, under the names
 * of the GraphQL schema.
 */
export const restRoutes: readonly RestRoute[] = [
  get('/users', 'users'),
  post('/users', 'createUser'),
  post('/users/import', 'importUsers'),
  get('/users/:userId', 'user', asId('userId')),
  patch('/users/:userId', 'updateUser', asId('userId')),
  remove('/users/:userId', 'deleteUser', asId('userId')),
  patch('/users/:userId/custom-data', 'updateUserCustomData', asId('userId')),
  patch('/users/:userId/profile', 'updateUserProfile', asId('userId')),
  patch('/users/:userId/password', 'updateUserPassword', asId('userId')),
  patch('/users/:userId/is-suspended', 'updateUserSuspensionStatus', asId('userId')),
  post('/users/:userId/sign-out', 'signOutUser', asId('userId')),
  related('/users/:userId/roles', 'user', 'roles', asId('userId')),
  post('/users/:userId/roles', 'assignUserRoles'),
  put('/users/:userId/roles', 'replaceUserRoles'),
  remove('/users/:userId/roles/:roleId', 'removeUserRole'),

  related('/users/:userId/sessions', 'user', 'sessions', asId('userId')),
  remove('/users/:userId/sessions/:sessionId', 'endUserSession'),
  related('/users/:userId/factors', 'user', 'factors', asId('userId')),
  remove('/users/:userId/factors/:factorId', 'deleteUserFactor'),
  related('/users/:userId/identities', 'user', 'identities', asId('userId')),
  remove('/users/:userId/identities/:identityId', 'deleteUserIdentity'),
  related('/users/:userId/grants', 'user', 'grants', asId('userId')),
  remove('/users/:userId/grants/:grantId', 'revokeUserGrant'),
  post('/identifiers/unlock', 'unlockIdentifier'),
  post('/one-time-tokens', 'createOneTimeToken'),
  related('/users/:userId/subject-tokens', 'user', 'subjectTokens', asId('userId')),
  post('/users/:userId/subject-tokens', 'createSubjectToken'),
  related('/users/:userId/personal-access-tokens', 'user', 'personalAccessTokens', asId('userId')),
  post('/users/:userId/personal-access-tokens', 'createPersonalAccessToken'),
  remove(
    '/users/:userId/personal-access-tokens/:personalAccessTokenId',
    'deletePersonalAccessToken',
    personalAccessTokenOfUser,
    asId('personalAccessTokenId'),
  ),

  get('/service', 'service'),
  get('/statistics', 'statistics'),

  get('/sign-in-experience', 'signInExperience'),
  patch('/sign-in-experience', 'updateSignInExperience'),

  get('/service-settings', 'serviceSettings'),
  patch('/service-settings', 'updateServiceSettings'),
  get('/registration-tokens', 'registrationTokens'),
  post('/registration-tokens', 'createRegistrationToken'),
  get('/registration-tokens/:id', 'registrationToken'),
  remove('/registration-tokens/:id', 'deleteRegistrationToken'),

  get('/roles', 'roles'),
  post('/roles', 'createRole'),
  get('/roles/:id', 'role'),
  patch('/roles/:id', 'updateRole'),
  remove('/roles/:id', 'deleteRole'),
  related('/roles/:id/scopes', 'role', 'scopes'),
  post('/roles/:id/scopes', 'addRoleScopes', idTo('roleId')),
  remove('/roles/:id/scopes/:scopeId', 'removeRoleScope', idTo('roleId')),

  get('/resources', 'resources'),
  post('/resources', 'createResource'),
  get('/resources/:id', 'resource'),
  patch('/resources/:id', 'updateResource'),
  remove('/resources/:id', 'deleteResource'),
  related('/resources/:resourceId/scopes', 'resource', 'scopes', asId('resourceId')),
  post('/resources/:resourceId/scopes', 'createScope'),
  get('/scopes', 'scopes'),
  get('/scopes/:id', 'scope'),
  patch('/resources/:resourceId/scopes/:scopeId', 'updateScope', scopeOfResource, asId('scopeId')),
  remove('/resources/:resourceId/scopes/:scopeId', 'deleteScope', scopeOfResource, asId('scopeId')),

  get('/applications', 'applications'),
  post('/applications', 'createApplication'),
  get('/applications/:id', 'application'),
  patch('/applications/:id', 'updateApplication'),
  get('/applications/:applicationId/token-exchange', 'explainTokenExchange'),
  remove('/applications/:id', 'deleteApplication'),
  related('/applications/:applicationId/secrets', 'application', 'secrets', asId('applicationId')),
  post('/applications/:applicationId/secrets', 'createApplicationSecret'),
  remove(
    '/applications/:applicationId/secrets/:secretId',
    'deleteApplicationSecret',
    secretOfApplication,
    asId('secretId'),
  ),
  related('/applications/:applicationId/grants', 'application', 'grants', asId('applicationId')),
  related('/applications/:applicationId/roles', 'application', 'roles', asId('applicationId')),
  post('/applications/:applicationId/roles', 'assignApplicationRoles'),
  put('/applications/:applicationId/roles', 'replaceApplicationRoles'),
  remove('/applications/:applicationId/roles/:roleId', 'removeApplicationRole'),

  get('/organizations', 'organizations'),
  post('/organizations', 'createOrganization'),
  get('/organizations/:id', 'organization'),
  patch('/organizations/:id', 'updateOrganization'),
  remove('/organizations/:id', 'deleteOrganization'),

  related('/organizations/:id/users', 'organization', 'members'),
  post('/organizations/:id/users', 'addOrganizationUsers', idTo('organizationId')),
  put('/organizations/:id/users', 'replaceOrganizationUsers', idTo('organizationId')),
  remove('/organizations/:id/users/:userId', 'removeOrganizationUser', idTo('organizationId')),
  post(
    '/organizations/:id/users/:userId/roles',
    'assignOrganizationUserRoles',
    idTo('organizationId'),
  ),
  put(
    '/organizations/:id/users/:userId/roles',
    'replaceOrganizationUserRoles',
    idTo('organizationId'),
  ),
  remove(
    '/organizations/:id/users/:userId/roles/:organizationRoleId',
    'removeOrganizationUserRole',
    idTo('organizationId'),
  ),

  related('/organizations/:id/applications', 'organization', 'applications'),
  post('/organizations/:id/applications', 'addOrganizationApplications', idTo('organizationId')),
  put('/organizations/:id/applications', 'replaceOrganizationApplications', idTo('organizationId')),
  remove(
    '/organizations/:id/applications/:applicationId',
    'removeOrganizationApplication',
    idTo('organizationId'),
  ),
  post(
    '/organizations/:id/applications/:applicationId/roles',
    'assignOrganizationApplicationRoles',
    idTo('organizationId'),
  ),
  put(
    '/organizations/:id/applications/:applicationId/roles',
    'replaceOrganizationApplicationRoles',
    idTo('organizationId'),
  ),
  remove(
    '/organizations/:id/applications/:applicationId/roles/:organizationRoleId',
    'removeOrganizationApplicationRole',
    idTo('organizationId'),
  ),

  related('/organizations/:id/email-domains', 'organization', 'emailDomains'),
  post('/organizations/:id/email-domains', 'addOrganizationEmailDomain', idTo('organizationId')),
  remove(
    '/organizations/:id/email-domains/:domain',
    'removeOrganizationEmailDomain',
    idTo('organizationId'),
  ),
  related('/organizations/:id/identity-providers', 'organization', 'identityProviders'),
  post(
    '/organizations/:id/identity-providers',
    'addOrganizationIdentityProvider',
    idTo('organizationId'),
  ),
  remove(
    '/organizations/:id/identity-providers/:identityProviderId',
    'removeOrganizationIdentityProvider',
    idTo('organizationId'),
  ),
  related('/organizations/:id/jit-roles', 'organization', 'jitRoles'),
  put('/organizations/:id/jit-roles', 'replaceOrganizationJitRoles', idTo('organizationId')),

  get('/organization-invitations', 'organizationInvitations'),
  post('/organization-invitations', 'createOrganizationInvitation'),
  get('/organization-invitations/:id', 'organizationInvitation'),
  remove('/organization-invitations/:id', 'deleteOrganizationInvitation'),
  put('/organization-invitations/:id/status', 'updateOrganizationInvitationStatus'),

  get('/organization-roles', 'organizationRoles'),
  post('/organization-roles', 'createOrganizationRole'),
  get('/organization-roles/:id', 'organizationRole'),
  patch('/organization-roles/:id', 'updateOrganizationRole'),
  remove('/organization-roles/:id', 'deleteOrganizationRole'),
  related('/organization-roles/:id/scopes', 'organizationRole', 'scopes'),
  post('/organization-roles/:id/scopes', 'addOrganizationRoleScopes', idTo('organizationRoleId')),
  put(
    '/organization-roles/:id/scopes',
    'replaceOrganizationRoleScopes',
    idTo('organizationRoleId'),
  ),
  remove(
    '/organization-roles/:id/scopes/:organizationScopeId',
    'removeOrganizationRoleScope',
    idTo('organizationRoleId'),
  ),
  related('/organization-roles/:id/resource-scopes', 'organizationRole', 'resourceScopes'),
  post(
    '/organization-roles/:id/resource-scopes',
    'addOrganizationRoleResourceScopes',
    idTo('organizationRoleId'),
  ),
  remove(
    '/organization-roles/:id/resource-scopes/:scopeId',
    'removeOrganizationRoleResourceScope',
    idTo('organizationRoleId'),
  ),

  get('/organization-scopes', 'organizationScopes'),
  post('/organization-scopes', 'createOrganizationScope'),
  get('/organization-scopes/:id', 'organizationScope'),
  patch('/organization-scopes/:id', 'updateOrganizationScope'),
  remove('/organization-scopes/:id', 'deleteOrganizationScope'),

  get('/permissions', 'permissions'),
  get('/permissions/holders', 'whoCan'),

  get('/webhooks', 'webhooks'),
  post('/webhooks', 'createWebhook'),
  get('/webhooks/:id', 'webhook'),
  patch('/webhooks/:id', 'updateWebhook'),
  remove('/webhooks/:id', 'deleteWebhook'),
  post('/webhooks/:id/secret/rotate', 'rotateWebhookSecret'),
  post('/webhooks/:id/test', 'testWebhook'),
  post('/webhooks/:id/replay', 'replayEvents', idTo('webhookId')),
  post('/deliveries/:id/redeliver', 'redeliver', idTo('deliveryId')),
  related('/webhooks/:id/deliveries', 'webhook', 'deliveries'),

  get('/trusted-issuers', 'trustedIssuers'),
  post('/trusted-issuers', 'createTrustedIssuer'),
  get('/trusted-issuers/:id', 'trustedIssuer'),
  patch('/trusted-issuers/:id', 'updateTrustedIssuer'),
  remove('/trusted-issuers/:id', 'deleteTrustedIssuer'),

  get('/cross-app-connections', 'crossAppConnections'),
  post('/cross-app-connections', 'createCrossAppConnection'),
  get('/cross-app-connections/:id', 'crossAppConnection'),
  patch('/cross-app-connections/:id', 'updateCrossAppConnection'),
  remove('/cross-app-connections/:id', 'deleteCrossAppConnection'),

  get('/identity-providers', 'identityProviders'),
  post('/identity-providers', 'createIdentityProvider'),
  get('/identity-providers/:id', 'identityProvider'),
  patch('/identity-providers/:id', 'updateIdentityProvider'),
  remove('/identity-providers/:id', 'deleteIdentityProvider'),

  get('/message-senders', 'messageSenders'),
  put('/message-senders/email', 'setEmailSender'),
  remove('/message-senders/email', 'removeEmailSender'),
  put('/message-senders/sms', 'setSmsSender'),
  remove('/message-senders/sms', 'removeSmsSender'),
  post('/messages/test', 'sendTestMessage'),
  get('/messages/:id', 'message'),

  get('/events', 'events'),

  get('/configuration', 'configuration'),
  post('/configuration/plan', 'planConfiguration'),
  post('/configuration/apply', 'applyConfiguration'),

  get('/signing-keys', 'signingKeys'),
  post('/signing-keys/rotate', 'rotateSigningKey'),
  remove('/signing-keys/:id', 'deleteSigningKey'),
];
