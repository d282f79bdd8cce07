import type { EventData, EventName } from './catalogue.ts';
import type { LiveModel } from './live-records.ts';

/** A field of an event that resolves to records as they are now. */
export interface RecordField {
  readonly model: LiveModel;
  readonly description: string;
}

type Data = Record<string, unknown>;
type OneField = RecordField & { readonly id: (data: Data) => string | null };
type ManyField = RecordField & { readonly ids: (data: Data) => readonly string[] };
type TextField = { readonly text: (data: Data) => unknown; readonly description: string };

/** What an event's object adds to its interface. */
export interface TypedFields {
  readonly one: Readonly<Record<string, OneField>>;
  readonly many: Readonly<Record<string, ManyField>>;
  readonly text: Readonly<Record<string, TextField>>;
}

// The log has the JSON that the catalogue's types describe, under the event's own type.
const reads =
  <Name extends EventName, Value>(_name: Name, read: (data: EventData<Name>) => Value) =>
  (data: Data): Value =>
    read(data as EventData<Name>);

const idsOf = (things: readonly { readonly id: string }[]) => things.map(({ id }) => id);

const subject = (model: LiveModel, description: string, key = 'id'): OneField => ({
  model,
  description: `${description} as it is now; null once it is gone.`,
  id: (data) => data[key] as string,
});

const record = (model: LiveModel, field: string, description: string): TypedFields => ({
  one: { [field]: subject(model, description) },
  many: {},
  text: {},
});

const user = record('User', 'user', 'The user');
const role = record('Role', 'role', 'The role');
const scope = record('Scope', 'scope', 'The scope');
const organization = record('Organization', 'organization', 'The organization');
const organizationRole = record('OrganizationRole', 'organizationRole', 'The organization role');
const organizationScope = record(
  'OrganizationScope',
  'organizationScope',
  'The organization scope',
);

const interaction: TypedFields = {
  one: {
    user: {
      ...subject('User', 'The user'),
      id: reads('PostSignIn', (data) => data.user.id),
    },
    application: subject('Application', 'The application that it was for', 'applicationId'),
  },
  many: {},
  text: {
    ip: {
      text: reads('PostSignIn', ({ ip }) => ip),
      description: 'The address that the person came from.',
    },
    userAgent: {
      text: reads('PostSignIn', ({ userAgent }) => userAgent),
      description: 'What the browser calls itself.',
    },
    sessionId: {
      text: reads('PostSignIn', ({ sessionId }) => sessionId),
      description: 'The session that it was in.',
    },
  },
};

const live = 'Those that are still there, as they are now.';

/** For each type of event the fields of its object. */
export const typedFields: Readonly<Record<EventName, TypedFields>> = {
  PostRegister: interaction,
  PostSignIn: interaction,
  PostResetPassword: interaction,
  'User.Created': user,
  'User.Deleted': user,
  'User.Data.Updated': user,
  'User.SuspensionStatus.Updated': user,
  'Role.Created': role,
  'Role.Deleted': role,
  'Role.Data.Updated': role,
  'Role.Scopes.Updated': {
    one: { role: subject('Role', 'The role', 'roleId') },
    many: {
      addedScopes: {
        model: 'Scope',
        ids: reads('Role.Scopes.Updated', (data) => idsOf(data.addedScopes)),
        description: `The scopes that it gained. ${live}`,
      },
      removedScopes: {
        model: 'Scope',
        ids: reads('Role.Scopes.Updated', (data) => idsOf(data.removedScopes)),
        description: `The scopes that it lost. ${live}`,
      },
    },
    text: {},
  },
  'Scope.Created': scope,
  'Scope.Deleted': scope,
  'Scope.Data.Updated': scope,
  'Organization.Created': organization,
  'Organization.Deleted': organization,
  'Organization.Data.Updated': organization,
  'Organization.Membership.Updated': {
    one: { organization: subject('Organization', 'The organization', 'organizationId') },
    many: {
      addedUsers: {
        model: 'User',
        ids: reads('Organization.Membership.Updated', (data) => data.addedUserIds),
        description: `The users who joined. ${live}`,
      },
      removedUsers: {
        model: 'User',
        ids: reads('Organization.Membership.Updated', (data) => data.removedUserIds),
        description: `The users who left. ${live}`,
      },
      addedApplications: {
        model: 'Application',
        ids: reads('Organization.Membership.Updated', (data) => data.addedApplicationIds),
        description: `The applications that joined. ${live}`,
      },
      removedApplications: {
        model: 'Application',
        ids: reads('Organization.Membership.Updated', (data) => data.removedApplicationIds),
        description: `The applications that left. ${live}`,
      },
    },
    text: {},
  },
  'OrganizationRole.Created': organizationRole,
  'OrganizationRole.Deleted': organizationRole,
  'OrganizationRole.Data.Updated': organizationRole,
  'OrganizationRole.Scopes.Updated': {
    one: {
      organizationRole: subject('OrganizationRole', 'The organization role', 'organizationRoleId'),
    },
    many: {
      addedScopes: {
        model: 'OrganizationScope',
        ids: reads('OrganizationRole.Scopes.Updated', (data) => idsOf(data.addedScopes)),
        description: `The organization scopes that it gained. ${live}`,
      },
      removedScopes: {
        model: 'OrganizationScope',
        ids: reads('OrganizationRole.Scopes.Updated', (data) => idsOf(data.removedScopes)),
        description: `The organization scopes that it lost. ${live}`,
      },
      addedResourceScopes: {
        model: 'Scope',
        ids: reads('OrganizationRole.Scopes.Updated', (data) => idsOf(data.addedResourceScopes)),
        description: `The scopes of resources that it gained. ${live}`,
      },
      removedResourceScopes: {
        model: 'Scope',
        ids: reads('OrganizationRole.Scopes.Updated', (data) => idsOf(data.removedResourceScopes)),
        description: `The scopes of resources that it lost. ${live}`,
      },
    },
    text: {},
  },
  'OrganizationScope.Created': organizationScope,
  'OrganizationScope.Deleted': organizationScope,
  'OrganizationScope.Data.Updated': organizationScope,
  'Identifier.Lockout': {
    one: {},
    many: {},
    text: {
      value: {
        text: reads('Identifier.Lockout', ({ value }) => value),
        description: 'The identifier that is shut.',
      },
      lockedUntil: {
        text: reads('Identifier.Lockout', ({ lockedUntil }) => lockedUntil),
        description: 'Until when (ISO 8601, UTC).',
      },
    },
  },
  'Message.RateLimited': {
    one: {},
    many: {},
    text: {
      action: {
        text: reads('Message.RateLimited', ({ action }) => action),
        description: 'What the messages were for.',
      },
      recipient: {
        text: reads('Message.RateLimited', ({ recipient }) => recipient),
        description: 'Who they were to.',
      },
    },
  },
};
