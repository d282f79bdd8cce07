/** The resource indicator of the management API: the `aud` of the tokens it takes. */
export const managementIndicator = 'urn:signet:management';

const areas = {
  users: 'users and their roles',
  roles: 'roles and the scopes they hold',
  resources: 'resources and their scopes',
  applications: 'applications and their secrets',
  organizations: 'organizations, their members, roles, scopes and invitations',
  webhooks: 'webhooks and their deliveries, with the events in them',
} as const;

type Area = keyof typeof areas;

/** A scope of the management resource. */
export type ManagementScope = 'all' | 'events:read' | `${Area}:${'read' | 'write'}`;

/** Every scope of the management resource, with what it lets its holder do. */
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
]);

/** Whether the scopes held allow what `required` stands for: `all` allows everything, a write scope the read. */
export function allows(held: ReadonlySet<string>, required: ManagementScope): boolean {
  return (
    held.has(required) ||
    held.has('all') ||
    (required.endsWith(':read') && held.has(required.replace(/:read$/, ':write')))
  );
}
