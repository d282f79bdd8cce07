import type { Part } from '../part.ts';

/** The records of an export of Auth0, under the names that its `tenant.yaml` gives their kinds. */
export type Sections = ReadonlyMap<string, readonly Part[]>;

/** The folders of the deploy CLI's other form, which has a file for each record. */
const folders: Readonly<Record<string, string>> = {
  clients: 'clients',
  'resource-servers': 'resourceServers',
  roles: 'roles',
  connections: 'connections',
  'database-connections': 'databases',
  grants: 'clientGrants',
  organizations: 'organizations',
  actions: 'actions',
  hooks: 'hooks',
  rules: 'rules',
  'rules-configs': 'rulesConfigs',
  pages: 'pages',
  'guardian/factors': 'guardianFactors',
  'log-streams': 'logStreams',
};

/** The files of that form that are one record each. */
const singles: Readonly<Record<string, string>> = {
  'tenant.json': 'tenant',
  'branding/branding.json': 'branding',
  'emails/provider.json': 'emailProvider',
  'guardian/policies.json': 'guardianPolicies',
  'attack-protection/brute-force-protection.json': 'bruteForceProtection',
};

/** Where the users of an export are. */
export const usersSection = 'users';

/** Sorts the files of an export: a `tenant.yaml` or the folders of records, and lists of users. */
export function sectionsOf(files: readonly Part[]): Sections {
  const sections = new Map<string, Part[]>();
  const add = (name: string, parts: readonly Part[]) => {
    const known = sections.get(name) ?? [];
    sections.set(name, known);
    // Not spread into one call: there may be a million users.
    for (const part of parts) known.push(part);
  };
  for (const file of files) {
    const path = file.place;
    const folder = path.split('/').slice(0, -1).join('/');
    const single = singles[path];
    const kind = folders[folder] ?? folders[folder.split('/')[0] ?? ''];
    if (Array.isArray(file.value) && folder === '') add(usersSection, file.items());
    else if (['user_id', '_id', 'passwordHash'].some((field) => file.has(field))) {
      add(usersSection, [file]);
    } else if (kind) add(kind, [file]);
    else if (single && !hasSections(file)) add(single, [file]);
    else if (folder !== '') add(folder.split('/')[0] as string, [file]);
    else {
      for (const [name, part] of file.entries()) {
        if (name === 'attackProtection')
          add('bruteForceProtection', [part.get('bruteForceProtection')]);
        if (name === 'attackProtection') part.leaveUnread();
        else if (Array.isArray(part.value)) add(name, part.items());
        else add(name, [part]);
      }
    }
  }
  return sections;
}

/** Whether a file is of the form that has all in one: the other's `tenant.json` has settings alone. */
const hasSections = (file: Part): boolean =>
  ['tenant', 'clients', 'resourceServers', 'roles', 'connections', 'databases'].some((name) =>
    file.has(name),
  );
