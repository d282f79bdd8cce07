import { randomBytes } from 'node:crypto';
import { readConfig } from '../config.ts';
import { restoreAdministrator } from '../console/administrator.ts';
import { isBootstrapped } from '../console/roles.ts';
import { forgetSetupFile } from '../console/setup-token.ts';
import type { Database } from '../db/database.ts';
import { readClock } from '../service-status/clock.ts';
import { standardPasswordCost } from '../users/password.ts';
import { CommandError, defineCommand, type Terminal, UsageError } from './command.ts';
import { openDatabase } from './open-database.ts';

/** How long to wait for somebody to begin to write, where standard input is open and says nothing. */
const silenceMs = 5_000;

export const createAdmin = defineCommand({
  parameters: '--username <name> [< password]',
  help: `
Gives the user the role Administrator and a new password, ends a suspension and the user's sessions. Makes the user if
nobody has the name.

  --username <name>  who it is

The password is read from standard input. Where nobody writes one, it is a random one, which is printed.

As for the service, the database is that of DATABASE_URL, beside running services, or the embedded one in DATA_DIR, with
the service stopped.`,
  options: { username: { type: 'string' } },
  async run({ values: { username } }, { environment, stdin, stdout, stderr }) {
    if (!username) throw new UsageError('--username is missing');
    const config = readConfig(environment);
    await using opened = new AsyncDisposableStack();
    const database = await openDatabase(config, opened, (error) =>
      stderr.write(`${error.message}\n`),
    );
    await database.migrate();
    if (!(await isBootstrapped(database))) {
      throw new CommandError('this database is empty: start the service once before.');
    }
    const given = await readPassword(stdin);
    const password = given ?? randomBytes(18).toString('base64url');
    const services = {
      database,
      clock: await readClock(database),
      config,
      passwordCost: standardPasswordCost,
    };
    const { user, isNew } = await restoreAdministrator(services, { username, password });
    if (config.database.kind === 'embedded') await forgetSetupFile(config.database.dataDir);
    const say = (line: string) => stdout.write(`${line}\n`);
    say(`${isNew ? 'Created' : 'Restored'} the administrator ${user.username}.`);
    if (given === undefined) say(`Password: ${password}`);
    const addresses = [user.primaryEmail, user.primaryPhone].filter((one) => one !== null);
    if (addresses.length > 0) {
      say(`Codes that reset the password go to ${addresses.join(' and ')}.`);
    }
    // Somebody else may have registered the name, and still hold these.
    const others = await otherWaysIn(database, user.id);
    if (others.length > 0) say(`Signs in by ${others.join(' and ')} too.`);
    return 0;
  },
});

/** What signs a user in beside the password and codes. */
async function otherWaysIn({ prisma }: Database, userId: string): Promise<string[]> {
  const passkeys = await prisma.userFactor.findMany({
    where: { userId, type: 'PASSKEY' },
    orderBy: { id: 'asc' },
  });
  const identities = await prisma.userIdentity.findMany({
    where: { userId },
    orderBy: { id: 'asc' },
    include: { provider: true },
  });
  return [
    ...passkeys.map(({ name, createdAt }) =>
      ['the passkey', name, `of ${createdAt.toISOString()}`].filter(Boolean).join(' '),
    ),
    ...identities.map(({ provider }) => `the identity provider ${provider.name}`),
  ];
}

/** The password on standard input; undefined where nobody writes one. */
async function readPassword(stdin: Terminal['stdin']): Promise<string | undefined> {
  if (stdin.isTTY) return undefined;
  const chunks: Buffer[] = [];
  await new Promise<void>((resolve, reject) => {
    const giveUp = setTimeout(resolve, silenceMs);
    stdin.on('data', (chunk: Buffer) => {
      clearTimeout(giveUp);
      chunks.push(chunk);
    });
    stdin.once('end', resolve);
    stdin.once('error', reject);
  });
  stdin.destroy();
  return (
    Buffer.concat(chunks)
      .toString()
      .replace(/\r?\n$/, '') || undefined
  );
}
