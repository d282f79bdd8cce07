import { CommandError } from '../../command.ts';
import type { Part } from '../part.ts';

/** The parts of a realm's export: one file, or a folder with the users in files of their own. */
export interface Realm {
  readonly settings: Part;
  readonly name: string;
  readonly users: readonly Part[];
  /** The users that stand for clients. */
  readonly serviceAccounts: ReadonlyMap<string, Part>;
}

/** @throws {CommandError} unless the files are those of one realm. */
export function realmOf(files: readonly Part[]): Realm {
  const parts = files.flatMap((file) => (Array.isArray(file.value) ? file.items() : [file]));
  const names = new Set(parts.flatMap((part) => part.text('realm') ?? part.text('id') ?? []));
  const [name, other] = names;
  if (name === undefined) {
    throw new CommandError(`${files[0]?.place} is no export of a realm: it has no field 'realm'`);
  }
  if (other !== undefined) {
    throw new CommandError(
      `${files[0]?.place} holds several realms, ${[...names].join(', ')}: export one`,
    );
  }
  const users = parts.flatMap((part) => part.list('users'));
  const settings = parts.find((part) => part.has('clients') || part.has('roles')) ?? parts[0];
  return {
    settings: settings as Part,
    name,
    users: users.filter((user) => !user.has('serviceAccountClientId')),
    serviceAccounts: new Map(
      users.flatMap((user) => {
        const client = user.text('serviceAccountClientId');
        return client === undefined ? [] : [[client, user]];
      }),
    ),
  };
}

/** The clients that Keycloak makes in every realm. */
const ownClients = [
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
];

/** What people call a client. Names such as `${client_account}` are keys of Keycloak's texts. */
export function nameOf(client: Part): string | undefined {
  const name = client.text('name');
  return name && !/^\$\{.*\}$/.test(name) ? name : client.text('clientId');
}

/** Whether Keycloak has made a client itself. In its realm `master` there is one more for each realm. */
export const isOwnClient = (realm: string, clientId: string): boolean =>
  ownClients.includes(clientId) || (realm === 'master' && clientId.endsWith('-realm'));
