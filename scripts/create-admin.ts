// Brings an administrator back, or makes one: `npm run create-admin -- --username ada`. The user gets the role
// Administrator and a new password: the one on standard input, or a random one, which is printed. As for the service,
// the database is that of DATABASE_URL, beside running services, or the embedded one in DATA_DIR, with the service
// stopped.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/clock.ts';
import { ConfigurationError, readConfig } from '../src/config.ts';
import { restoreAdministrator } from '../src/console/administrator.ts';
import { isBootstrapped } from '../src/console/built-in.ts';
import { forgetSetupFile } from '../src/console/setup-token.ts';
import { openPostgresql, useEmbedded } from '../src/db/database.ts';
import { claimDataDir } from '../src/db/embedded/data-dir.ts';
import { openEmbedded } from '../src/db/embedded/open.ts';
import { assertReachable } from '../src/db/postgresql.ts';
import { ConflictError, InvalidInputError, StartError } from '../src/errors.ts';

const usage = 'usage: npm run create-admin -- --username <name> [< password]';
/** How long to wait for somebody to begin to write, where standard input is open and says nothing. */
const silenceMs = 5_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { username: { type: 'string' } } });
  const { username } = values;
  if (!username) throw new StartError(usage);
  const config = readConfig(process.env);
  await using opened = new AsyncDisposableStack();
  const database = await open(config, opened);
  await database.migrate();
  if (!(await isBootstrapped(database))) {
    throw new StartError('This database is empty: start the service once before.');
  }
  const given = await readPassword();
  const password = given ?? randomBytes(18).toString('base64url');
  const services = { database, clock: systemClock, config };
  const { user, isNew } = await restoreAdministrator(services, { username, password });
  if (config.database.kind === 'embedded') await forgetSetupFile(config.database.dataDir);
  console.log(`${isNew ? 'Created' : 'Restored'} the administrator ${user.username}.`);
  if (given === undefined) console.log(`Password: ${password}`);
  const addresses = [user.primaryEmail, user.primaryPhone].filter((address) => address !== null);
  if (addresses.length > 0) {
    console.log(`Codes that reset the password go to ${addresses.join(' and ')}.`);
  }
}

async function open(config: ReturnType<typeof readConfig>, opened: AsyncDisposableStack) {
  if (config.database.kind === 'postgresql') {
    const { url } = config.database;
    await assertReachable(url);
    const onError = (error: Error) => console.error(error.message);
    const database = openPostgresql({ url, poolSize: 2, tokenPoolSize: 1, onError });
    opened.defer(() => database.close());
    return database;
  }
  const dataDir = await claimDataDir(config.database.dataDir);
  opened.defer(() => dataDir.release());
  const database = useEmbedded(await openEmbedded({ dataDir: `${dataDir.path}/database` }));
  opened.defer(() => database.close());
  return database;
}

/** The password on standard input; undefined where nobody writes one. */
async function readPassword(): Promise<string | undefined> {
  const { stdin } = process;
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

await main().catch((error: unknown) => {
  const isExpected = [ConfigurationError, StartError, InvalidInputError, ConflictError].some(
    (kind) => error instanceof kind,
  );
  const told = isExpected ? (error as Error).message : (error as Error).stack;
  process.stderr.write(`No administrator was made: ${told}\n`);
  process.exitCode = 1;
});
