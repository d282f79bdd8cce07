/** The resource indicator of the management API: the `aud` of the tokens it accepts. */
export const managementIndicator = 'urn:signet:management';

/** The resource indicator of the Account API. */
export const accountIndicator = 'urn:signet:account';

/** The indicators of Signet's own APIs. An exchange for one needs an application that lists it by name. */
export const ownIndicators: ReadonlySet<string> = new Set([managementIndicator, accountIndicator]);

/** The start of the indicator of an organization itself; its id follows. */
export const organizationPrefix = 'urn:signet:organization:';

/**
 * Whether Signet keeps an indicator for itself. The scheme and the namespace of a URN are the same in any letter case
 * (RFC 8141 §3.1).
 */
export const isReservedIndicator = (indicator: string): boolean => /^urn:signet:/i.test(indicator);

/** Whether an indicator is reserved but names nothing, such as another spelling of one of Signet's own. */
export const isVoidIndicator = (indicator: string): boolean =>
  isReservedIndicator(indicator) &&
  !ownIndicators.has(indicator) &&
  !indicator.startsWith(organizationPrefix);

/** The scopes of the account resource, and what they allow. Every person holds them for their own account. */
export const accountScopes = new Map([
  ['account:read', 'Read the own account.'],
  ['account:write', 'Read and change the own account.'],
] as const);

/** A scope of the account resource. */
export type AccountScope = 'account:read' | 'account:write';

const areas = {
  users: 'users and their roles',
  roles: 'roles and the scopes they hold',
  resources: 'resources and their scopes',
  applications: 'applications and their secrets',
  organizations: 'organizations, their members, roles, scopes and invitations',
  webhooks: 'webhooks and their deliveries, with the events in them',
  experience: 'how people sign in: settings, senders of messages, identity providers',
} as const;

type Area = keyof typeof areas;

/** A scope of the management resource. */
export type ManagementScope =
  | 'all'
  | 'events:read'
  | 'permissions:read'
  | `${Area}:${'read' | 'write'}`;

/** Every scope of the management resource, and what it allows. */
export const managementScopes: ReadonlyMap<ManagementScope, string> = new Map<
  ManagementScope,
  string
>([
  ['all', 'Everything.'],
  ...(Object.entries(areas) as [Area, string][]).flatMap(
    ([area, what]): [ManagementScope, string][] => [
      [`${area}:read`, `Read ${what}.`],
      [`${area}:write`, `Read and change ${what}.`],
    ],
  ),
  ['events:read', 'Read the event log and subscribe to it.'],
  ['permissions:read', 'Ask whether a user or an application has a scope, and who or what has it.'],
]);

/** Whether the held scopes allow `required`: `all` allows everything, and a write scope includes the read scope. */
export function allows(
  held: ReadonlySet<string>,
  required: ManagementScope | AccountScope,
): boolean {
  return (
    held.has(required) ||
    held.has('all') ||
    (required.endsWith(':read') && held.has(required.replace(/:read$/, ':write')))
  );
}

/** The scopes that both sides hold; a wider scope includes the narrower. */
export const commonScopes = (some: ReadonlySet<string>, others: ReadonlySet<string>): string[] => [
  ...new Set([
    ...[...some].filter((scope) => allows(others, scope as ManagementScope)),
    ...[...others].filter((scope) => allows(some, scope as ManagementScope)),
  ]),
];
