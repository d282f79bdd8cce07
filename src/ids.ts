import { TypeID, typeid } from 'typeid-js';

/**
 * The kinds of ids and the prefix each carries, the same in GraphQL, in tokens and in webhooks.
 * @see https://github.com/jetify-com/typeid/tree/main/spec
 */
export const idPrefixes = {
  User: 'user',
  Application: 'app',
  ApplicationSecret: 'secret',
  Role: 'role',
  Resource: 'res',
  Scope: 'scope',
  Organization: 'org',
  OrganizationRole: 'orgrole',
  OrganizationScope: 'orgscope',
  OrganizationInvitation: 'inv',
  Webhook: 'hook',
  WebhookSecret: 'whsecret',
  Delivery: 'dlv',
  Event: 'evt',
  SigningKey: 'key',
} as const;

/** A kind of thing that has an id. */
export type IdKind = keyof typeof idPrefixes;

const kinds = new Map<string, IdKind>(
  Object.entries(idPrefixes).map(([kind, prefix]) => [prefix, kind as IdKind]),
);

/** Makes a new id of that kind. Ids sort by the millisecond they were made in (UUIDv7). */
export const newId = (kind: IdKind): string => typeid(idPrefixes[kind]).toString();

/** The kind that an id's prefix names, or undefined where it is no id of ours. */
export function kindOfId(id: string): IdKind | undefined {
  try {
    return kinds.get(TypeID.fromString(id).getType());
  } catch {
    return undefined;
  }
}

/** A new trace id, which leads from a request through its events to their deliveries (W3C Trace Context §3.2.2.3). */
export const newTraceId = (): string => typeid().toUUID().replaceAll('-', '');
