import { chmod, open } from 'node:fs/promises';
import { stringify } from 'yaml';
import { CommandError, defineCommand, UsageError } from '../command.ts';
import { readAuth0 } from './auth0/configuration.ts';
import { sectionsOf as sectionsOfAuth0, usersSection } from './auth0/sections.ts';
import { readAuth0Users } from './auth0/users.ts';
import { Draft } from './draft.ts';
import { readKeycloak } from './keycloak/configuration.ts';
import { realmOf } from './keycloak/realm.ts';
import { readKeycloakUsers } from './keycloak/users.ts';
import { readLogto } from './logto/configuration.ts';
import { sectionsOf as sectionsOfLogto } from './logto/sections.ts';
import { readLogtoUsers } from './logto/users.ts';
import { Findings, Part } from './part.ts';
import { readFiles } from './read-files.ts';
import { UserRows } from './user-rows.ts';

/** The users of an export, and how they become rows. */
interface Users {
  readonly count: number;
  readonly read: (rows: UserRows) => void;
}

/** How an export of each system is read: its configuration at once, its users if they are wanted. */
const systems: Readonly<Record<string, (files: readonly Part[], draft: Draft) => Users>> = {
  auth0(files, draft) {
    const sections = sectionsOfAuth0(files);
    const users = sections.get(usersSection) ?? [];
    readAuth0(sections, draft);
    return { count: users.length, read: (rows) => readAuth0Users(users, rows) };
  },
  keycloak(files, draft) {
    const realm = realmOf(files);
    readKeycloak(realm, draft);
    return { count: realm.users.length, read: (rows) => readKeycloakUsers(realm, rows) };
  },
  logto(files, draft) {
    const sections = sectionsOfLogto(files);
    const users = sections.get('users') ?? [];
    readLogto(sections, draft);
    return { count: users.length, read: (rows) => readLogtoUsers(users, rows) };
  },
};

export const importExport = defineCommand({
  parameters: '--from auth0|keycloak|logto FILE [FILE ...] [--users FILE] [--json]',
  help: `
Reads the export of another system, and prints it as a document for \`plan\` and \`apply\`. What it cannot take, it says on
standard error, line by line, each with its place. It asks no service and changes nothing.

  --from <system>  auth0: the tenant.yaml or the folder of its deploy CLI; then its lists of users and of digests
                   keycloak: the export of a realm, a file or a folder
                   logto: answers of its management API, in one file or a folder; then its table of users
  --users <file>   also write the users with their digests to this file, which only you can read: on each line the
                   input of one importUsers
  --json           as JSON instead of YAML

A FILE is JSON, JSON lines or YAML, a folder, or - for standard input. Several are read as one export. The secrets of
applications and of people who sign in elsewhere are not read; where Signet needs one, { env: NAME } stands for it.`,
  options: {
    from: { type: 'string' },
    users: { type: 'string' },
    json: { type: 'boolean' },
  },
  positionals: ['FILE'],
  others: true,
  async run({ values, positionals }, terminal) {
    const system = new Map(Object.entries(systems)).get(values.from ?? '');
    if (!system) throw new UsageError(`--from must be one of ${Object.keys(systems).join(', ')}`);
    const findings = new Findings((line) => terminal.stderr.write(line));
    const files = await readFiles(positionals, terminal);
    const parts = files.map(({ path, value }) => new Part(value, path, findings));
    const scalar = parts.find(({ value }) => typeof value !== 'object' || value === null);
    if (scalar) throw new CommandError(`${scalar.place} holds no records`);
    const draft = new Draft();
    const users = system(parts, draft);
    if (values.users !== undefined) {
      const rows = new UserRows(findings);
      users.read(rows);
      rows.leaveUnread();
      await writeUsers(values.users, rows);
    } else if (users.count > 0) {
      findings.say('users', `${users.count} are not read: give --users FILE`);
    }
    const document = draft.document();
    terminal.stdout.write(
      values.json
        ? `${JSON.stringify(document, undefined, 2)}\n`
        : stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }),
    );
    return 0;
  },
});

async function writeUsers(path: string, rows: UserRows): Promise<void> {
  try {
    await using file = await open(path, 'w', 0o600);
    // A file that was there before keeps its mode.
    await chmod(path, 0o600);
    for (const line of rows.lines()) await file.write(line);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
}
