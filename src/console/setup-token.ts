import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockName } from '../db/lock.ts';
import { quietTransaction } from '../db/transaction.ts';
import type { User } from '../generated/prisma/client.ts';
import { digestOf } from '../keys/digest.ts';
import type { Asker } from '../messages/senders/non-ascii-addresses.ts';
import type { Services } from '../services.ts';
import {
  type AdministratorInput,
  createFirstAdministrator,
  type Founder,
} from './administrator.ts';
import { hasAdministrator } from './roles.ts';

/** How long a link to the setup page can be used. */
export const setupTokenTtlSeconds = 3600;

const fileName = 'setup-token';

/** The data folder that holds the token in clear, for who cannot read the log; undefined on PostgreSQL. */
export type SetupFolder = string | undefined;

/**
 * Makes a token with which somebody can become the first administrator; there may be several, one from each node.
 *
 * @returns The token in clear; undefined if there is an administrator.
 */
export async function offerSetup(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  folder: SetupFolder,
): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const isOffered = await quietTransaction(database, async (tx) => {
    await lockName(tx, 'signet:bootstrap');
    if (await hasAdministrator(tx)) return false;
    const createdAt = clock.now();
    const expiresAt = new Date(createdAt.getTime() + setupTokenTtlSeconds * 1000);
    await tx.setupToken.create({ data: { digest: digestOf(token), createdAt, expiresAt } });
    return true;
  });
  await forgetSetupFile(folder);
  if (!isOffered) return undefined;
  if (folder !== undefined) {
    await writeFile(join(folder, fileName), `${token}\n`, { flag: 'wx', mode: 0o600 });
  }
  return token;
}

/** Deletes the file with the token, which is of no use any more. */
export async function forgetSetupFile(folder: SetupFolder): Promise<void> {
  if (folder !== undefined) await rm(join(folder, fileName), { force: true });
}

/** Whether a token can be used now. */
export async function isSetupToken(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  token: string,
): Promise<boolean> {
  const found = await database.prisma.setupToken.count({
    where: { digest: digestOf(token), expiresAt: { gt: clock.now() } },
  });
  return found > 0 && !(await hasAdministrator(database.prisma));
}

const turns = new WeakMap<object, Promise<unknown>>();

/**
 * Uses a token up: creates the first administrator.
 *
 * @returns Undefined if the token is wrong, used or expired.
 * @throws {InvalidInputError} {@link ConflictError}; the token is not used up then.
 */
export async function useSetupToken(
  services: Founder & Asker,
  token: string,
  input: AdministratorInput,
): Promise<User | undefined> {
  const { database, clock } = services;
  // One at a time in this process: of many at once, all but the first find the token gone before they hash a password.
  const turn = (turns.get(database) ?? Promise.resolve()).then(async () => {
    if (!(await isSetupToken(services, token))) return undefined;
    return createFirstAdministrator(services, input, async (tx) => {
      const { count } = await tx.setupToken.deleteMany({
        where: { digest: digestOf(token), expiresAt: { gt: clock.now() } },
      });
      return count > 0;
    });
  });
  turns.set(
    database,
    turn.catch(() => undefined),
  );
  return turn;
}
