import { join } from 'node:path';
import { readConfig } from '../../config.ts';
import { defineCommand, UsageError } from '../command.ts';
import { openSource } from './source.ts';
import { type Counted, moveTo } from './target.ts';

/** What says which database a service uses, and how. */
const ofTheTarget = {
  DATABASE_URL: undefined,
  DATABASE_DIRECT_URL: undefined,
  DATABASE_REPLICA_URLS: undefined,
  DATABASE_PASSWORD_FILE: undefined,
  WORKERS: undefined,
} as const;

export const moveToPostgresql = defineCommand({
  parameters: '<url>',
  help: `
Copies the embedded database in DATA_DIR to a PostgreSQL, with everything in it: tokens, cursors and deliveries go on. The
service must be stopped. The data folder stays as it is.

  <url>  the DATABASE_URL of later, of an empty database

Everything arrives in one transaction, or nothing does: after a failure or a kill, run it again. At the end the rows of each
table are counted on both sides. DATABASE_DIRECT_URL and DATABASE_PASSWORD_FILE count, as for the service.`,
  options: {},
  positionals: ['<url>'],
  async run({ positionals: [url = ''] }, { environment, stdout, stderr }) {
    const here = readConfig({ ...environment, ...ofTheTarget });
    const folder = here.database.kind === 'embedded' ? here.database.dataDir : '';
    const { database } = readConfig({
      ...environment,
      WORKERS: undefined,
      DATABASE_URL: url,
      SIGNET_SECRET: here.secret ?? placeholder,
    });
    if (database.kind !== 'postgresql') throw new UsageError('<url> is empty');
    await using opened = new AsyncDisposableStack();
    const source = await openSource(here, folder, opened);
    const counted = await moveTo(database, source, (line) => void stderr.write(`${line}\n`));
    stdout.write(tableOf(counted));
    const rows = counted.reduce((sum, { there }) => sum + there, 0);
    stdout.write(`\n${rows} rows of ${counted.length} tables, the same on both sides.\n`);
    const secret =
      here.secret === undefined
        ? `the contents of ${join(folder, 'secret')} as its SIGNET_SECRET`
        : 'the same SIGNET_SECRET';
    stdout.write(
      `Now start the service with this DATABASE_URL, and ${secret}. Do not start it on this DATA_DIR again.\n`,
    );
    return 0;
  },
});

/** Stands for the secret in the folder, which is not read yet. */
const placeholder = '0123456789abcdef0123456789abcdef';

function tableOf(counted: readonly Counted[]): string {
  const names = ['table', ...counted.map(({ table }) => table)];
  const width = Math.max(...names.map(({ length }) => length));
  const line = (name: string, here: unknown, there: unknown) =>
    `${name.padEnd(width)}  ${String(here).padStart(10)}  ${String(there).padStart(10)}\n`;
  return [
    line('table', 'embedded', 'PostgreSQL'),
    ...[...counted]
      .sort((one, other) => (one.table < other.table ? -1 : 1))
      .map(({ table, here, there }) => line(table, here, there)),
  ].join('');
}
