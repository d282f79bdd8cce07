import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { lockName } from '../db/lock.ts';
import { quietTransaction, type Transaction } from '../db/transaction.ts';
import type { Cipher, Sealing, SecretName } from './cipher.ts';
import { type KeptUse, keptUses } from './kept-uses.ts';
import { purposeOf } from './sealed-columns.ts';

// Its digests are in cookies, where the key of the version before is still looked for. A secret that leaked must not
// make them for ever.
const alwaysRandom: readonly KeptUse[] = ['device-cookie'];

/**
 * Reads the kept keys, and makes those that are missing. In a database of a version that kept none, they are the ones
 * that it derived from its secret, so that its digests stay valid.
 *
 * @returns The whole cipher.
 */
export async function openKeptKeys(
  database: Database,
  sealing: Sealing,
  clock: Clock,
): Promise<Cipher> {
  const rows = await quietTransaction(database, async (tx) => {
    const before = await tx.keptKey.findMany();
    const missing = keptUses.filter((use) => before.every((row) => row.use !== use));
    if (missing.length === 0) return before;
    // Nodes that start together make one set.
    await lockName(tx, 'signet:kept-keys');
    const isFirst = (await tx.keptKey.count()) === 0;
    const secret = isFirst ? await secretOfVersionBefore(tx, sealing) : undefined;
    const data = missing.map((use) => {
      const key =
        secret && !alwaysRandom.includes(use)
          ? sealing.keyOfVersionBefore(use, secret)
          : randomBytes(32);
      const sealed = sealing.encrypt(key.toString('base64'), purposeOf('kept-key', use));
      return { use, key: sealed, createdAt: clock.now() };
    });
    await tx.keptKey.createMany({ data, skipDuplicates: true });
    return tx.keptKey.findMany();
  });
  const keys = new Map(
    rows.map(({ use, key }) => [
      use,
      Buffer.from(sealing.decrypt(key, purposeOf('kept-key', use)), 'base64'),
    ]),
  );
  return {
    ...sealing,
    keptKey(use) {
      const key = keys.get(use);
      if (!key) throw new Error(`There is no key for ${use}.`);
      return key;
    },
  };
}

/** The secret of a database that a version without kept keys has used; undefined for a new database. */
async function secretOfVersionBefore(
  tx: Transaction,
  sealing: Sealing,
): Promise<SecretName | undefined> {
  const key = await tx.signingKey.findFirst({ select: { id: true, privateJwk: true } });
  return key ? sealing.secretOf(key.privateJwk, purposeOf('signing-key', key.id)) : undefined;
}
