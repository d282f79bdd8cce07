import type { EventType } from '../generated/graphql.ts';

/** The event types in groups, each with its name in the catalogue. */
export const eventGroups = {
  signIn: {
    POST_SIGN_IN: 'PostSignIn',
    POST_REGISTER: 'PostRegister',
    POST_RESET_PASSWORD: 'PostResetPassword',
  },
  user: {
    USER_CREATED: 'User.Created',
    USER_DATA_UPDATED: 'User.Data.Updated',
    USER_SUSPENSION_STATUS_UPDATED: 'User.SuspensionStatus.Updated',
    USER_DELETED: 'User.Deleted',
  },
  role: {
    ROLE_CREATED: 'Role.Created',
    ROLE_DATA_UPDATED: 'Role.Data.Updated',
    ROLE_SCOPES_UPDATED: 'Role.Scopes.Updated',
    ROLE_DELETED: 'Role.Deleted',
  },
  scope: {
    SCOPE_CREATED: 'Scope.Created',
    SCOPE_DATA_UPDATED: 'Scope.Data.Updated',
    SCOPE_DELETED: 'Scope.Deleted',
  },
  organization: {
    ORGANIZATION_CREATED: 'Organization.Created',
    ORGANIZATION_DATA_UPDATED: 'Organization.Data.Updated',
    ORGANIZATION_MEMBERSHIP_UPDATED: 'Organization.Membership.Updated',
    ORGANIZATION_DELETED: 'Organization.Deleted',
  },
  organizationRole: {
    ORGANIZATION_ROLE_CREATED: 'OrganizationRole.Created',
    ORGANIZATION_ROLE_DATA_UPDATED: 'OrganizationRole.Data.Updated',
    ORGANIZATION_ROLE_SCOPES_UPDATED: 'OrganizationRole.Scopes.Updated',
    ORGANIZATION_ROLE_DELETED: 'OrganizationRole.Deleted',
  },
  organizationScope: {
    ORGANIZATION_SCOPE_CREATED: 'OrganizationScope.Created',
    ORGANIZATION_SCOPE_DATA_UPDATED: 'OrganizationScope.Data.Updated',
    ORGANIZATION_SCOPE_DELETED: 'OrganizationScope.Deleted',
  },
  protection: {
    IDENTIFIER_LOCKOUT: 'Identifier.Lockout',
    MESSAGE_RATE_LIMITED: 'Message.RateLimited',
  },
} as const satisfies Record<string, Partial<Record<EventType, string>>>;

export type EventGroup = keyof typeof eventGroups;

/** The types of a group, with their names in the catalogue. */
export const typesIn = (group: EventGroup): readonly (readonly [EventType, string])[] =>
  Object.entries(eventGroups[group]) as [EventType, string][];

// Fails to compile once the schema has a type that no group lists.
type Listed = { [Group in EventGroup]: keyof (typeof eventGroups)[Group] }[EventGroup];
true satisfies Exclude<EventType, Listed> extends never ? true : false;
