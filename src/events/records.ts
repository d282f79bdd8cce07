/**
 * The records that events hold whole, with the field names of the GraphQL schema. Secrets such as passwords and their
 * digests have no field here.
 */
import {
  type DataOf,
  type Field,
  type Fields,
  flag,
  id,
  instant,
  instantOrNull,
  json,
  object,
  oneOf,
  text,
  textOrNull,
} from './fields.ts';

const named = {
  name: text('Its name.', 'A test'),
  description: textOrNull('Its description.'),
};
const written = {
  createdAt: instant('When it was created.'),
  updatedAt: instant('When it last changed.'),
};
const roleType = oneOf(
  ['USER', 'MACHINE_TO_MACHINE'],
  'The kind of its holders: USER or MACHINE_TO_MACHINE.',
);

/** The fields of each kind of record. A new field needs a line here and one in the feature's `payload.ts`. */
export const records = {
  User: {
    id: id('User'),
    username: textOrNull('The name that the person signed in with.', 'test'),
    primaryEmail: textOrNull('The e-mail address.', 'test@example.com'),
    primaryPhone: textOrNull('The telephone number in E.164.'),
    name: textOrNull("The person's name.", 'A test'),
    avatar: textOrNull('The URL of a picture.'),
    profile: json('Standard claims about the person.'),
    customData: json('Data that your tools keep about the person.'),
    isEmailVerified: flag('Whether the person had proved to own the e-mail address.'),
    isPhoneVerified: flag('Whether the person had proved to own the telephone number.'),
    isSuspended: flag('Whether the person was barred from signing in.'),
    hasPassword: flag('Whether the person had a password.'),
    lastSignInAt: instantOrNull('When the person last signed in.'),
    ...written,
  },
  Role: {
    id: id('Role'),
    ...named,
    type: roleType,
    isDefault: flag('Whether new users get the role.'),
    ...written,
  },
  Scope: {
    id: id('Scope'),
    resourceId: id('Resource', 'The resource that defines it.'),
    ...named,
    ...written,
  },
  Organization: {
    id: id('Organization'),
    ...named,
    customData: json('Data that your tools keep about the organization.'),
    requiresFactor: flag('Whether its members needed a second factor.'),
    ...written,
  },
  OrganizationRole: { id: id('OrganizationRole'), ...named, type: roleType, ...written },
  OrganizationScope: { id: id('OrganizationScope'), ...named, ...written },
} satisfies Record<string, Fields>;

/** A kind of record that events hold whole. */
export type RecordModel = keyof typeof records;

/** A user as written. */
export type UserRecord = DataOf<typeof records.User>;
/** A role as written. */
export type RoleRecord = DataOf<typeof records.Role>;
/** A scope as written. */
export type ScopeRecord = DataOf<typeof records.Scope>;
/** An organization as written. */
export type OrganizationRecord = DataOf<typeof records.Organization>;
/** An organization role as written. */
export type OrganizationRoleRecord = DataOf<typeof records.OrganizationRole>;
/** An organization scope as written. */
export type OrganizationScopeRecord = DataOf<typeof records.OrganizationScope>;

const scopeFields = {
  id: records.Scope.id,
  name: records.Scope.name,
  resourceId: records.Scope.resourceId,
};
const organizationScopeFields = {
  id: records.OrganizationScope.id,
  name: records.OrganizationScope.name,
};

/** How events about roles name a scope. */
export const scopeReference = object(scopeFields);
/** How events about organization roles name an organization scope. */
export const organizationScopeReference = object(organizationScopeFields);
/** A scope as an event about roles names it. */
export type ScopeReference = DataOf<typeof scopeFields>;
/** An organization scope as an event about organization roles names it. */
export type OrganizationScopeReference = DataOf<typeof organizationScopeFields>;

/** The fields that an update changed, each with its value before and after. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>;

/** The field `changes` of events about updates. */
export const changes: Field<Changes> = {
  schema: {
    type: 'object',
    description: 'The fields that changed, each with its value before and after. Never a secret.',
    additionalProperties: {
      type: 'object',
      properties: { from: {}, to: {} },
      required: ['from', 'to'],
    },
  },
  typed: { kind: 'changes' },
  sample: () => ({ name: { from: 'Before the test', to: 'A test' } }),
};
