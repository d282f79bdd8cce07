import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { findClashes } from '../../db/migrations/clashes.ts';
import { migrationState } from '../../db/migrations/migrate.ts';
import { createSealing } from '../../keys/cipher.ts';
import { verifySenders } from '../../messages/senders/verify.ts';
import { createResolver } from '../../outbound/dns.ts';
import { assertSecretFits } from '../../secret-rotation/fits.ts';
import { readClock } from '../../service-status/clock.ts';
import { type Findings, patienceMs, whyNot } from './finding.ts';

/** What was read from a database that was looked at. */
export interface Contents {
  /** The ids of its signing keys. */
  readonly keyIds: readonly string[];
}

/** Looks at what a database holds: its migrations, whether the secret fits, who sends. */
export async function checkContents(
  findings: Findings,
  config: Config,
  database: Database,
  secret: string | undefined,
): Promise<Contents | undefined> {
  const { pending, unfinished, unknown, isEmpty } = await migrationState(database.prisma);
  if (unfinished.length > 0) {
    findings.fault(
      'migrations',
      `The migration ${unfinished[0]} did not end.`,
      'Restore the backup from before the upgrade, and look for the reason in the log of that start.',
    );
    return undefined;
  }
  if (isEmpty) {
    findings.ok('migrations', 'The database is empty: the first start makes its tables.');
    return undefined;
  }
  const clashes = await findClashes(database.prisma, database.sql);
  if (unknown.length > 0) {
    findings.warn(
      'migrations',
      `A later version has migrated the database: this one does not know ${unknown[0]}.`,
      'Beside an upgrade that is what it should be; else start the later version.',
    );
  } else if (clashes) {
    findings.fault('migrations', clashes.message, clashes.advice);
  } else if (pending.length > 0) {
    findings.ok('migrations', `The next start applies ${pending.length}.`);
  } else findings.ok('migrations', 'The database fits this version.');
  if (pending.length > 0) {
    findings.skip('secret', 'It can be looked at once the database is migrated.');
    return undefined;
  }
  const keys = await database.prisma.signingKey.findMany({
    select: { id: true },
  });
  if (secret === undefined) findings.skip('secret', 'There is none yet.');
  else {
    const cipher = createSealing(secret, config.previousSecret);
    const misfit = await assertSecretFits(database, cipher).catch((error: Error) => error);
    if (misfit) {
      findings.fault(
        'secret',
        `${misfit.message}.`,
        'Give every node the secret that the database was last started with.',
      );
    } else {
      findings.ok('secret', keys[0] ? 'It fits the database.' : 'The database has no key yet.');
      const resolveHost = createResolver();
      const services = { config, database, cipher, clock: await readClock(database), resolveHost };
      await checkSenders(findings, config, services);
    }
  }
  return { keyIds: keys.map(({ id }) => id) };
}

async function checkSenders(
  findings: Findings,
  { database }: Config,
  services: Parameters<typeof verifySenders>[0],
): Promise<void> {
  const senders = await verifySenders(services, patienceMs);
  for (const { channel, kind, error } of senders) {
    const check = `sender of ${channel}`;
    if (error === undefined) {
      findings.ok(check, kind === 'SMTP' ? 'The mail server lets this user in.' : 'It is reached.');
    } else {
      findings.fault(
        check,
        `The ${kind === 'SMTP' ? 'mail server' : 'endpoint'} cannot be used: ${whyNot(error)}.`,
        'Correct the sender in the console, under Messages; messages that wait are sent then.',
      );
    }
  }
  if (senders.some(({ channel }) => channel === 'EMAIL')) return;
  if (database.kind === 'embedded') {
    findings.ok('sender of EMAIL', 'There is none: messages are files in DATA_DIR/outbox.');
  } else {
    findings.warn(
      'sender of EMAIL',
      'There is none: no code reaches anybody by e-mail.',
      'Set one in the console, under Messages.',
    );
  }
}
