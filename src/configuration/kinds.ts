import {
  type GraphQLInputObjectType,
  type GraphQLSchema,
  isInputObjectType,
  isNonNullType,
} from 'graphql';
import type { MutationName } from '../graphql/mutations/raised.ts';

/** The kinds of records of a configuration, in the order in which they are written: what others name comes first. */
export const kindNames = [
  'RESOURCE',
  'SCOPE',
  'ROLE',
  'ORGANIZATION_SCOPE',
  'ORGANIZATION_ROLE',
  'APPLICATION',
  'TRUSTED_ISSUER',
  'CROSS_APP_CONNECTION',
  'WEBHOOK',
  'IDENTITY_PROVIDER',
  'MESSAGE_SENDER',
  'SIGN_IN_EXPERIENCE',
] as const;

/** A kind of record of a configuration. */
export type KindName = (typeof kindNames)[number];

/** A mutation of the management API, with the input that it takes once the ids of other records are known. */
export interface Call {
  readonly mutation: MutationName;
  readonly input: Readonly<Record<string, unknown>>;
}

/** A field whose values are records of another kind. A document names them; the API takes their ids. */
export interface Link {
  readonly of: 'SCOPE' | 'ROLE' | 'ORGANIZATION_SCOPE';
  /** The field of the creation's input that takes the ids; undefined: they are linked after the creation. */
  readonly input?: string;
  /** The calls that make the linked records these. */
  readonly replace: (id: string, change: LinkChange) => readonly Call[];
}

/** The ids of linked records. */
interface LinkChange {
  readonly all: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** What a kind of records with names is in a document and in the API. */
export interface RecordKind {
  /** The section of the document, or for a part of another record its field there. */
  readonly section: string;
  /** Its type in the schema. */
  readonly type: string;
  /** The field by which people know a record. */
  readonly key: string;
  /** The kind of the records that it is a part of, and the input's field that takes the id of one. */
  readonly within?: { readonly kind: KindName; readonly field: string };
  readonly links?: Readonly<Record<string, Link>>;
  /** Fields that a document does not hold: they name records of one installation by their ids. */
  readonly without?: readonly string[];
}

const each = (
  mutation: MutationName,
  ids: readonly string[],
  input: (id: string) => Call['input'],
): Call[] => ids.map((id) => ({ mutation, input: input(id) }));

const unlessNone = (
  mutation: MutationName,
  ids: readonly string[],
  input: Call['input'],
): Call[] => (ids.length === 0 ? [] : [{ mutation, input }]);

/** The kinds of records that have names. The other two are one record each. */
export const recordKinds = {
  RESOURCE: { section: 'resources', type: 'Resource', key: 'indicator' },
  SCOPE: {
    section: 'scopes',
    type: 'Scope',
    key: 'name',
    within: { kind: 'RESOURCE', field: 'resourceId' },
  },
  ROLE: {
    section: 'roles',
    type: 'Role',
    key: 'name',
    links: {
      scopes: {
        of: 'SCOPE',
        input: 'scopeIds',
        replace: (roleId, { added, removed }) => [
          ...unlessNone('addRoleScopes', added, { roleId, scopeIds: added }),
          ...each('removeRoleScope', removed, (scopeId) => ({ roleId, scopeId })),
        ],
      },
    },
  },
  ORGANIZATION_SCOPE: { section: 'organizationScopes', type: 'OrganizationScope', key: 'name' },
  ORGANIZATION_ROLE: {
    section: 'organizationRoles',
    type: 'OrganizationRole',
    key: 'name',
    links: {
      scopes: {
        of: 'ORGANIZATION_SCOPE',
        input: 'organizationScopeIds',
        replace: (organizationRoleId, { all }) => [
          {
            mutation: 'replaceOrganizationRoleScopes',
            input: { organizationRoleId, organizationScopeIds: all },
          },
        ],
      },
      resourceScopes: {
        of: 'SCOPE',
        input: 'scopeIds',
        replace: (organizationRoleId, { added, removed }) => [
          ...unlessNone('addOrganizationRoleResourceScopes', added, {
            organizationRoleId,
            scopeIds: added,
          }),
          ...each('removeOrganizationRoleResourceScope', removed, (scopeId) => ({
            organizationRoleId,
            scopeId,
          })),
        ],
      },
    },
  },
  APPLICATION: {
    section: 'applications',
    type: 'Application',
    key: 'name',
    without: ['mayActFor'],
    links: {
      roles: {
        of: 'ROLE',
        replace: (applicationId, { all }) => [
          { mutation: 'replaceApplicationRoles', input: { applicationId, roleIds: all } },
        ],
      },
    },
  },
  TRUSTED_ISSUER: {
    section: 'trustedIssuers',
    type: 'TrustedIssuer',
    key: 'name',
    within: { kind: 'APPLICATION', field: 'applicationId' },
  },
  CROSS_APP_CONNECTION: {
    section: 'crossAppConnections',
    type: 'CrossAppConnection',
    key: 'issuer',
    within: { kind: 'APPLICATION', field: 'applicationId' },
  },
  WEBHOOK: { section: 'webhooks', type: 'Webhook', key: 'name' },
  IDENTITY_PROVIDER: { section: 'identityProviders', type: 'IdentityProvider', key: 'name' },
} as const satisfies Partial<Record<KindName, RecordKind>>;

/** A kind of records that have names. */
export type RecordKindName = keyof typeof recordKinds;

/** What a kind is, without the literal types of the table. */
export const recordKind = (kind: RecordKindName): RecordKind => recordKinds[kind];

/** The sections of the document that are one record each, and their kinds. */
export const singleSections = {
  messageSenders: 'MESSAGE_SENDER',
  signInExperience: 'SIGN_IN_EXPERIENCE',
} as const satisfies Record<string, KindName>;

/** The channels of message senders, under the names that a document gives them, with what sets and removes each. */
export const senderChannels = {
  email: { channel: 'EMAIL', set: 'setEmailSender', remove: 'removeEmailSender' },
  sms: { channel: 'SMS', set: 'setSmsSender', remove: 'removeSmsSender' },
} as const satisfies Record<string, { channel: string; set: MutationName; remove: MutationName }>;

/** A channel of message senders, as a document names it. */
export type SenderChannel = keyof typeof senderChannels;

/** The type of a mutation's input. */
export function inputTypeOf(schema: GraphQLSchema, mutation: string): GraphQLInputObjectType {
  const argument = schema
    .getMutationType()
    ?.getFields()
    [mutation]?.args.find(({ name }) => name === 'input');
  const type = isNonNullType(argument?.type) ? argument.type.ofType : undefined;
  if (!isInputObjectType(type)) throw new Error(`${mutation} is not a mutation of the schema.`);
  return type;
}

/** The mutations that create, change and delete a record of a kind. */
export const mutationsOf = (kind: RecordKindName) =>
  // Every record type has these three.
  ({
    create: `create${recordKinds[kind].type}` as MutationName,
    update: `update${recordKinds[kind].type}` as MutationName,
    delete: `delete${recordKinds[kind].type}` as MutationName,
  }) as const;

/** The fields that a document can give a record of a kind, but for its links: those that its creation takes. */
export function fieldsOf(schema: GraphQLSchema, kind: RecordKindName): readonly string[] {
  const { links = {}, within, without = [] } = recordKind(kind);
  const linked = Object.values(links).map(({ input }) => input);
  return Object.keys(inputTypeOf(schema, mutationsOf(kind).create).getFields()).filter(
    (field) => !linked.includes(field) && field !== within?.field && !without.includes(field),
  );
}
