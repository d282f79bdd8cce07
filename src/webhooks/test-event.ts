import type { EventData, EventName } from '../events/catalogue.ts';
import type {
  OrganizationRecord,
  OrganizationRoleRecord,
  OrganizationScopeRecord,
  RoleRecord,
  ScopeRecord,
  UserRecord,
} from '../events/payloads.ts';
import { newId } from '../ids.ts';

/**
 * Makes up the data of an event, in the shape that a real one has. Its ids are well formed and belong to nothing.
 */
export function testData(type: EventName, now: Date): object {
  const instant = now.toISOString();
  const stamps = { createdAt: instant, updatedAt: instant };
  const user: UserRecord = {
    id: newId('User'),
    username: 'test',
    primaryEmail: 'test@example.com',
    primaryPhone: null,
    name: 'A test',
    avatar: null,
    profile: {},
    customData: {},
    isSuspended: false,
    hasPassword: false,
    lastSignInAt: null,
    ...stamps,
  };
  const named = { name: 'A test', description: null, ...stamps };
  const role: RoleRecord = { id: newId('Role'), type: 'USER', isDefault: false, ...named };
  const scope: ScopeRecord = { id: newId('Scope'), resourceId: newId('Resource'), ...named };
  const organization: OrganizationRecord = { id: newId('Organization'), customData: {}, ...named };
  const organizationRole: OrganizationRoleRecord = {
    id: newId('OrganizationRole'),
    type: 'USER',
    ...named,
  };
  const organizationScope: OrganizationScopeRecord = { id: newId('OrganizationScope'), ...named };
  const changes = { changes: { name: { from: 'Before the test', to: 'A test' } } };
  const interaction = {
    user,
    applicationId: newId('Application'),
    ip: '192.0.2.1',
    userAgent: 'test',
    sessionId: 'test',
  };
  const scopeReference = { id: scope.id, name: scope.name, resourceId: scope.resourceId };

  const data: { [Name in EventName]: () => EventData<Name> } = {
    PostRegister: () => interaction,
    PostSignIn: () => interaction,
    PostResetPassword: () => interaction,
    'User.Created': () => user,
    'User.Deleted': () => user,
    'User.Data.Updated': () => ({ ...user, ...changes }),
    'User.SuspensionStatus.Updated': () => ({
      ...user,
      isSuspended: true,
      changes: { isSuspended: { from: false, to: true } },
    }),
    'Role.Created': () => role,
    'Role.Deleted': () => role,
    'Role.Data.Updated': () => ({ ...role, ...changes }),
    'Role.Scopes.Updated': () => ({
      roleId: role.id,
      addedScopes: [scopeReference],
      removedScopes: [],
    }),
    'Scope.Created': () => scope,
    'Scope.Deleted': () => scope,
    'Scope.Data.Updated': () => ({ ...scope, ...changes }),
    'Organization.Created': () => organization,
    'Organization.Deleted': () => organization,
    'Organization.Data.Updated': () => ({ ...organization, ...changes }),
    'Organization.Membership.Updated': () => ({
      organizationId: organization.id,
      addedUserIds: [user.id],
      removedUserIds: [],
      addedApplicationIds: [],
      removedApplicationIds: [],
    }),
    'OrganizationRole.Created': () => organizationRole,
    'OrganizationRole.Deleted': () => organizationRole,
    'OrganizationRole.Data.Updated': () => ({ ...organizationRole, ...changes }),
    'OrganizationRole.Scopes.Updated': () => ({
      organizationRoleId: organizationRole.id,
      addedScopes: [{ id: organizationScope.id, name: organizationScope.name }],
      removedScopes: [],
      addedResourceScopes: [scopeReference],
      removedResourceScopes: [],
    }),
    'OrganizationScope.Created': () => organizationScope,
    'OrganizationScope.Deleted': () => organizationScope,
    'OrganizationScope.Data.Updated': () => ({ ...organizationScope, ...changes }),
    'Identifier.Lockout': () => ({
      type: 'email',
      value: 'test@example.com',
      lockedUntil: instant,
    }),
    'Message.RateLimited': () => ({ action: 'test', recipient: 'test@example.com' }),
  };
  return data[type]();
}
