import { kindOfId } from '../../ids.ts';
import { administration } from './administration.ts';
import { type Data, define, type EventDefinition, updated, written } from './definition.ts';
import {
  type DataOf,
  id,
  idIn,
  idOf,
  idOrNullOf,
  instant,
  type JsonSchema,
  listOf,
  object,
  oneOf,
  text,
  textOrNull,
  untyped,
} from './fields.ts';
import { people } from './people.ts';
import { organizationScopeReference, records, scopeReference } from './records.ts';

const interaction = (description: string) =>
  define({
    description,
    data: {
      user: object(records.User),
      applicationId: idOrNullOf({
        model: 'Application',
        name: 'application',
        description: 'The application of the interaction',
      }),
      ip: textOrNull("The client's IP address.", '192.0.2.1'),
      userAgent: textOrNull("The browser's `User-Agent` header.", 'test'),
      sessionId: textOrNull("The session's id.", 'test'),
    },
    subject: 'user',
    holds: 'User',
  });

/**
 * Every type of event. The GraphQL enum and object types, the log's `subjectId`, the OpenAPI document, the
 * documentation and the samples of `testWebhook` are made from it. A new type of event needs an entry here and an
 * operation that records it.
 */
export const catalogue = {
  PostRegister: interaction('A person registered.'),
  PostSignIn: interaction('A person signed in.'),
  PostResetPassword: interaction('A person replaced a forgotten password.'),

  'User.Created': written('User', 'A user was created.'),
  'User.Deleted': written('User', 'A user was deleted.'),
  'User.Data.Updated': updated('User', "A user's data changed."),
  'User.SuspensionStatus.Updated': updated(
    'User',
    'A user was suspended, or the suspension was lifted.',
    {
      isSuspended: true,
      changes: { isSuspended: { from: false, to: true } },
    },
  ),

  'Role.Created': written('Role', 'A role was created.'),
  'Role.Deleted': written('Role', 'A role was deleted.'),
  'Role.Data.Updated': updated('Role', "A role's data changed."),
  'Role.Scopes.Updated': define({
    description: 'A role gained or lost scopes.',
    data: {
      roleId: idOf({ model: 'Role', name: 'role', description: 'The role' }),
      addedScopes: listOf(scopeReference, 1, {
        model: 'Scope',
        name: 'addedScopes',
        description: 'The scopes that it gained.',
      }),
      removedScopes: listOf(scopeReference, 0, {
        model: 'Scope',
        name: 'removedScopes',
        description: 'The scopes that it lost.',
      }),
    },
    subject: 'roleId',
  }),

  'Scope.Created': written('Scope', 'A scope was created.'),
  'Scope.Deleted': written('Scope', 'A scope was deleted.'),
  'Scope.Data.Updated': updated('Scope', "A scope's data changed."),

  'Organization.Created': written('Organization', 'An organization was created.'),
  'Organization.Deleted': written('Organization', 'An organization was deleted.'),
  'Organization.Data.Updated': updated('Organization', "An organization's data changed."),
  'Organization.Membership.Updated': define({
    description: 'Users or applications joined an organization or left it.',
    data: {
      organizationId: idOf({
        model: 'Organization',
        name: 'organization',
        description: 'The organization',
      }),
      addedUserIds: listOf(id('User'), 1, {
        model: 'User',
        name: 'addedUsers',
        description: 'The users who joined.',
      }),
      removedUserIds: listOf(id('User'), 0, {
        model: 'User',
        name: 'removedUsers',
        description: 'The users who left.',
      }),
      addedApplicationIds: listOf(id('Application'), 0, {
        model: 'Application',
        name: 'addedApplications',
        description: 'The applications that joined.',
      }),
      removedApplicationIds: listOf(id('Application'), 0, {
        model: 'Application',
        name: 'removedApplications',
        description: 'The applications that left.',
      }),
    },
    subject: 'organizationId',
  }),

  'OrganizationRole.Created': written('OrganizationRole', 'An organization role was created.'),
  'OrganizationRole.Deleted': written('OrganizationRole', 'An organization role was deleted.'),
  'OrganizationRole.Data.Updated': updated(
    'OrganizationRole',
    "An organization role's data changed.",
  ),
  'OrganizationRole.Scopes.Updated': define({
    description: 'An organization role gained or lost organization scopes or resource scopes.',
    data: {
      organizationRoleId: idOf({
        model: 'OrganizationRole',
        name: 'organizationRole',
        description: 'The organization role',
      }),
      addedScopes: listOf(organizationScopeReference, 1, {
        model: 'OrganizationScope',
        name: 'addedScopes',
        description: 'The organization scopes that it gained.',
      }),
      removedScopes: listOf(organizationScopeReference, 0, {
        model: 'OrganizationScope',
        name: 'removedScopes',
        description: 'The organization scopes that it lost.',
      }),
      addedResourceScopes: listOf(scopeReference, 1, {
        model: 'Scope',
        name: 'addedResourceScopes',
        description: 'The scopes of resources that it gained.',
      }),
      removedResourceScopes: listOf(scopeReference, 0, {
        model: 'Scope',
        name: 'removedResourceScopes',
        description: 'The scopes of resources that it lost.',
      }),
    },
    subject: 'organizationRoleId',
  }),

  'OrganizationScope.Created': written('OrganizationScope', 'An organization scope was created.'),
  'OrganizationScope.Deleted': written('OrganizationScope', 'An organization scope was deleted.'),
  'OrganizationScope.Data.Updated': updated(
    'OrganizationScope',
    "An organization scope's data changed.",
  ),

  ...administration,
  ...people,

  'Identifier.Lockout': define({
    description:
      'An identifier was locked for a while after too many failed verifications in a row.',
    data: {
      // Untyped: in GraphQL, `type` is the type of the event.
      type: untyped(oneOf(['username', 'email', 'phone'], 'The kind of identifier.', 'email')),
      value: text('The locked identifier.', 'test@example.com'),
      lockedUntil: instant('The end of the lockout.'),
    },
    subject: null,
  }),
  'Message.RateLimited': define({
    description: 'A recipient asked for more messages than the sending limit allows.',
    data: {
      action: text('The purpose of the messages.'),
      recipient: text('The e-mail address or telephone number.', 'test@example.com'),
    },
    subject: null,
  }),
};

/** The name of a type of event, such as `User.Data.Updated`. */
export type EventName = keyof typeof catalogue;

/** The data of an event of this type. */
export type EventData<Name extends EventName> = DataOf<(typeof catalogue)[Name]['data']>;

/** Every type of event, in the catalogue's order. */
export const eventNames = Object.keys(catalogue) as EventName[];

/** The entry of a type, widened so that code can read any of them. */
export const definitionOf = (name: EventName): EventDefinition => catalogue[name];

/** The id of the record that an event is about; null if it is about none. */
export function subjectIdOf(type: EventName, data: Data): string | null {
  const { subject } = definitionOf(type);
  return subject === null ? null : idIn(data[subject]);
}

/** The ids at the top level of an event's data, alone or in lists such as `addedUserIds`, without that of its subject. */
export function otherIdsIn(type: EventName, data: Data): string[] {
  const subjectId = subjectIdOf(type, data);
  const ids = Object.entries(data).flatMap(([name, value]): unknown[] => {
    if (name === 'id' || name.endsWith('Id')) return [value];
    return name.endsWith('Ids') && Array.isArray(value) ? value : [];
  });
  // An identity provider's `clientId` is none of Signet's ids.
  return [...new Set(ids)].filter(
    (id): id is string => typeof id === 'string' && id !== subjectId && kindOfId(id) !== undefined,
  );
}

/** The record that an event holds whole: the subject field, or `data` itself. */
export function recordIn(type: EventName, data: Data): Data {
  const { subject } = definitionOf(type);
  const named = subject === null ? data : data[subject];
  return typeof named === 'object' ? (named as Data) : data;
}

/** The JSON Schema of an event's `data`. */
export const dataSchemaOf = (name: EventName): JsonSchema => object(definitionOf(name).data).schema;

/** Makes sample data in the shape of a real event. Its ids are well formed and belong to no record. */
export function sampleData(name: EventName, now: Date): Record<string, unknown> {
  const { data, sample } = definitionOf(name);
  return { ...object(data).sample(now), ...sample };
}

/** A type's value in the GraphQL enum: `User.Data.Updated` is `USER_DATA_UPDATED`, `PostSignIn` is `POST_SIGN_IN`. */
export const enumValueOf = (name: EventName): string =>
  name
    .replaceAll('.', '_')
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase();

/** A type's object in GraphQL: `User.Data.Updated` is `UserDataUpdatedEvent`. */
export const typeNameOf = (name: EventName): string => `${name.replaceAll('.', '')}Event`;
