import type {
  Changes,
  IdentifierLockoutData,
  InteractionData,
  MessageRateLimitedData,
  OrganizationMembershipData,
  OrganizationRecord,
  OrganizationRoleRecord,
  OrganizationRoleScopesData,
  OrganizationScopeRecord,
  RoleRecord,
  RoleScopesData,
  ScopeRecord,
  UserRecord,
} from './payloads.ts';

/** What an event is about: the model of its typed field in GraphQL, and where its data names the subject. */
interface EventDefinition<Data> {
  readonly subject:
    | 'User'
    | 'Role'
    | 'Scope'
    | 'Organization'
    | 'OrganizationRole'
    | 'OrganizationScope'
    | null;
  readonly subjectId: (data: Data) => string | null;
  readonly description: string;
}

type Subject = NonNullable<EventDefinition<unknown>['subject']>;

const record =
  <Data extends { readonly id: string }>(subject: Subject) =>
  (description: string): EventDefinition<Data> => ({
    subject,
    subjectId: ({ id }) => id,
    description,
  });

const user = record<UserRecord>('User');
const userUpdate = record<UserRecord & Changes>('User');
const role = record<RoleRecord>('Role');
const roleUpdate = record<RoleRecord & Changes>('Role');
const scope = record<ScopeRecord>('Scope');
const scopeUpdate = record<ScopeRecord & Changes>('Scope');
const organization = record<OrganizationRecord>('Organization');
const organizationUpdate = record<OrganizationRecord & Changes>('Organization');
const organizationRole = record<OrganizationRoleRecord>('OrganizationRole');
const organizationRoleUpdate = record<OrganizationRoleRecord & Changes>('OrganizationRole');
const organizationScope = record<OrganizationScopeRecord>('OrganizationScope');
const organizationScopeUpdate = record<OrganizationScopeRecord & Changes>('OrganizationScope');
const interaction = (description: string): EventDefinition<InteractionData> => ({
  subject: 'User',
  subjectId: (data) => data.user.id,
  description,
});

/**
 * Every type of event, declared once: the GraphQL enum and object types, the webhook payloads and the tests
 * follow from here.
 */
export const catalogue = {
  PostRegister: interaction('A person registered.'),
  PostSignIn: interaction('A person signed in.'),
  PostResetPassword: interaction('A person set a new password in place of a forgotten one.'),

  'User.Created': user('A user was created.'),
  'User.Deleted': user('A user was deleted.'),
  'User.Data.Updated': userUpdate("A user's data changed."),
  'User.SuspensionStatus.Updated': userUpdate('A user was suspended, or let in again.'),

  'Role.Created': role('A role was created.'),
  'Role.Deleted': role('A role was deleted.'),
  'Role.Data.Updated': roleUpdate("A role's data changed."),
  'Role.Scopes.Updated': {
    subject: 'Role',
    subjectId: ({ roleId }) => roleId,
    description: 'A role gained or lost scopes.',
  } as EventDefinition<RoleScopesData>,

  'Scope.Created': scope('A scope was created.'),
  'Scope.Deleted': scope('A scope was deleted.'),
  'Scope.Data.Updated': scopeUpdate("A scope's data changed."),

  'Organization.Created': organization('An organization was created.'),
  'Organization.Deleted': organization('An organization was deleted.'),
  'Organization.Data.Updated': organizationUpdate("An organization's data changed."),
  'Organization.Membership.Updated': {
    subject: 'Organization',
    subjectId: ({ organizationId }) => organizationId,
    description: 'Users or applications joined an organization or left it.',
  } as EventDefinition<OrganizationMembershipData>,

  'OrganizationRole.Created': organizationRole('An organization role was created.'),
  'OrganizationRole.Deleted': organizationRole('An organization role was deleted.'),
  'OrganizationRole.Data.Updated': organizationRoleUpdate("An organization role's data changed."),
  'OrganizationRole.Scopes.Updated': {
    subject: 'OrganizationRole',
    subjectId: ({ organizationRoleId }) => organizationRoleId,
    description: 'An organization role gained or lost organization scopes or resource scopes.',
  } as EventDefinition<OrganizationRoleScopesData>,

  'OrganizationScope.Created': organizationScope('An organization scope was created.'),
  'OrganizationScope.Deleted': organizationScope('An organization scope was deleted.'),
  'OrganizationScope.Data.Updated': organizationScopeUpdate(
    "An organization scope's data changed.",
  ),

  'Identifier.Lockout': {
    subject: null,
    subjectId: () => null,
    description: 'Too many failed verifications in a row shut an identifier for a while.',
  } as EventDefinition<IdentifierLockoutData>,
  'Message.RateLimited': {
    subject: null,
    subjectId: () => null,
    description: 'A recipient asked for more messages than the sending limit allows.',
  } as EventDefinition<MessageRateLimitedData>,
};

/** The name of a type of event, such as `User.Data.Updated`. */
export type EventName = keyof typeof catalogue;

/** The data of events of that type. */
export type EventData<Name extends EventName> =
  (typeof catalogue)[Name] extends EventDefinition<infer Data> ? Data : never;

/** Every type of event, in the catalogue's order. */
export const eventNames = Object.keys(catalogue) as EventName[];

/** A type's value in the GraphQL enum: `User.Data.Updated` is `USER_DATA_UPDATED`, `PostSignIn` is `POST_SIGN_IN`. */
export const enumValueOf = (name: EventName): string =>
  name
    .replaceAll('.', '_')
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase();

/** A type's object in GraphQL: `User.Data.Updated` is `UserDataUpdatedEvent`. */
export const typeNameOf = (name: EventName): string => `${name.replaceAll('.', '')}Event`;
