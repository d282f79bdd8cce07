/** One way into the management API for those who script with curl: a path, and the GraphQL operation behind it. */
export interface RestRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path under `/api`. */
  readonly path: string;
  /** The field of `Mutation` or `Query` that it stands for. */
  readonly operation: string;
  /** For a list of what belongs to a record: the record's connection field; `operation` is the record's query. */
  readonly list?: string;
  /** The input field or argument that a path parameter goes to, where it is not of the same name. */
  readonly rename?: Readonly<Record<string, string>>;
  /** The path parameter that names what the record under `id` belongs to, and the record's field for that. */
  readonly within?: { readonly parameter: string; readonly field: string; readonly type: string };
}

const scopeOfResource = { parameter: 'resourceId', field: 'resource', type: 'Scope' } as const;
const secretOfApplication = {
  parameter: 'applicationId',
  field: 'application',
  type: 'ApplicationSecret',
} as const;

const asId = (parameter: string) => ({ rename: { [parameter]: 'id' } });
const idTo = (field: string) => ({ rename: { id: field } });

/**
 * Every route under `/api`. What a path parameter does not name comes in the body, or for a list in the query, in the
 * GraphQL schema's names.
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

  { method: 'GET', path: '/events', operation: 'events' },

  { method: 'GET', path: '/signing-keys', operation: 'signingKeys' },
  { method: 'POST', path: '/signing-keys/rotate', operation: 'rotateSigningKey' },
  { method: 'DELETE', path: '/signing-keys/:id', operation: 'deleteSigningKey' },
];
