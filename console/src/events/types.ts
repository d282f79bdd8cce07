import type { EventType } from '../generated/graphql.ts';

/** The event types in groups, each with its name in the catalogue. */
export const eventGroups = {
  signIn: {
    POST_SIGN_IN: 'PostSignIn',
    POST_REGISTER: 'PostRegister',
    POST_RESET_PASSWORD: 'PostResetPassword',
    SIGN_IN_FAILED: 'SignIn.Failed',
  },
  user: {
    USER_CREATED: 'User.Created',
    USER_DATA_UPDATED: 'User.Data.Updated',
    USER_SUSPENSION_STATUS_UPDATED: 'User.SuspensionStatus.Updated',
    USER_DELETED: 'User.Deleted',
    USER_ROLES_UPDATED: 'User.Roles.Updated',
    USER_CREDENTIAL_UPDATED: 'User.Credential.Updated',
    USER_SESSION_ENDED: 'User.Session.Ended',
    USER_GRANT_CREATED: 'User.Grant.Created',
    USER_GRANT_REVOKED: 'User.Grant.Revoked',
    USER_IMPERSONATION_STARTED: 'User.Impersonation.Started',
    ONE_TIME_TOKEN_CREATED: 'OneTimeToken.Created',
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
    ORGANIZATION_MEMBER_ROLES_UPDATED: 'Organization.MemberRoles.Updated',
    ORGANIZATION_SETTINGS_UPDATED: 'Organization.Settings.Updated',
    ORGANIZATION_INVITATION_CREATED: 'OrganizationInvitation.Created',
    ORGANIZATION_INVITATION_DATA_UPDATED: 'OrganizationInvitation.Data.Updated',
    ORGANIZATION_INVITATION_DELETED: 'OrganizationInvitation.Deleted',
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
  application: {
    APPLICATION_CREATED: 'Application.Created',
    APPLICATION_DATA_UPDATED: 'Application.Data.Updated',
    APPLICATION_SECRETS_UPDATED: 'Application.Secrets.Updated',
    APPLICATION_ROLES_UPDATED: 'Application.Roles.Updated',
    APPLICATION_DELETED: 'Application.Deleted',
    TRUSTED_ISSUER_CREATED: 'TrustedIssuer.Created',
    TRUSTED_ISSUER_DATA_UPDATED: 'TrustedIssuer.Data.Updated',
    TRUSTED_ISSUER_DELETED: 'TrustedIssuer.Deleted',
    CROSS_APP_CONNECTION_CREATED: 'CrossAppConnection.Created',
    CROSS_APP_CONNECTION_DATA_UPDATED: 'CrossAppConnection.Data.Updated',
    CROSS_APP_CONNECTION_DELETED: 'CrossAppConnection.Deleted',
  },
  resource: {
    RESOURCE_CREATED: 'Resource.Created',
    RESOURCE_DATA_UPDATED: 'Resource.Data.Updated',
    RESOURCE_DELETED: 'Resource.Deleted',
  },
  settings: {
    SERVICE_SETTINGS_UPDATED: 'ServiceSettings.Updated',
    REGISTRATION_TOKEN_CREATED: 'RegistrationToken.Created',
    REGISTRATION_TOKEN_DELETED: 'RegistrationToken.Deleted',
    SIGN_IN_EXPERIENCE_UPDATED: 'SignInExperience.Updated',
    MESSAGE_SENDER_UPDATED: 'MessageSender.Updated',
    IDENTITY_PROVIDER_CREATED: 'IdentityProvider.Created',
    IDENTITY_PROVIDER_DATA_UPDATED: 'IdentityProvider.Data.Updated',
    IDENTITY_PROVIDER_DELETED: 'IdentityProvider.Deleted',
    SIGNING_KEY_ROTATED: 'SigningKey.Rotated',
    SIGNING_KEY_DELETED: 'SigningKey.Deleted',
  },
  webhook: {
    WEBHOOK_CREATED: 'Webhook.Created',
    WEBHOOK_DATA_UPDATED: 'Webhook.Data.Updated',
    WEBHOOK_SECRET_ROTATED: 'Webhook.Secret.Rotated',
    WEBHOOK_DELETED: 'Webhook.Deleted',
  },
  protection: {
    IDENTIFIER_LOCKOUT: 'Identifier.Lockout',
    MESSAGE_RATE_LIMITED: 'Message.RateLimited',
    IDENTIFIER_UNLOCKED: 'Identifier.Unlocked',
    TOKEN_REFUSED: 'Token.Refused',
  },
} as const satisfies Record<string, Partial<Record<EventType, string>>>;

export type EventGroup = keyof typeof eventGroups;

/** The types of a group with their catalogue names. */
export const typesIn = (group: EventGroup): readonly (readonly [EventType, string])[] =>
  Object.entries(eventGroups[group]) as [EventType, string][];

// Fails to compile once the schema has a type that no group lists.
type Listed = { [Group in EventGroup]: keyof (typeof eventGroups)[Group] }[EventGroup];
true satisfies Exclude<EventType, Listed> extends never ? true : false;
