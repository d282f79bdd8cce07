import type { Database } from '../db/database.ts';
import { StartError } from '../errors.ts';
import type { Sealing } from '../keys/cipher.ts';
import { purposeOf } from '../keys/sealed-columns.ts';
import { findLeft } from './rewrite.ts';

/**
 * Checks that the secrets open the signing keys. It needs no migration, so that a database with another secret is left
 * unchanged.
 *
 * @throws {StartError}
 */
export async function assertSecretFits({ prisma }: Database, sealing: Sealing): Promise<void> {
  const [row] = await prisma.$queryRaw<{ exists: boolean }[]>`
    SELECT to_regclass('"SigningKey"') IS NOT NULL AS "exists"`;
  if (!row?.exists) return;
  const keys = await prisma.signingKey.findMany({ select: { id: true, privateJwk: true } });
  const isOpen = ({ id, privateJwk }: (typeof keys)[number]) =>
    sealing.secretOf(privateJwk, purposeOf('signing-key', id)) !== undefined;
  if (keys.every(isOpen)) return;
  throw new StartError(
    sealing.previous
      ? 'neither SIGNET_SECRET nor SIGNET_SECRET_PREVIOUS is the one that the keys in this database were encrypted with'
      : 'SIGNET_SECRET is not the one that the keys in this database were encrypted with',
  );
}

/**
 * Checks that the secrets open everything, if a secret that is not among them may have encrypted something.
 *
 * @throws {StartError}
 */
export async function assertNothingNeedsAnother(
  database: Database,
  sealing: Sealing,
): Promise<void> {
  const { prisma } = database;
  const { first, previous } = sealing;
  const mine = [first.id, ...(previous ? [previous.id] : [])];
  const others = await prisma.secretUse.findMany({
    where: { id: { notIn: mine }, rewrittenAt: null },
  });
  if (others.length === 0) return;
  const closed = new Map<string, number>();
  for await (const { table, isReadable } of findLeft(database, sealing)) {
    if (!isReadable) closed.set(table, (closed.get(table) ?? 0) + 1);
  }
  if (closed.size === 0) return;
  const counts = [...closed].map(([table, count]) => `${table}: ${count}`).join(', ');
  throw new StartError(
    `SIGNET_SECRET_PREVIOUS has to be the secret of before for now: not everything is re-encrypted (${counts})`,
  );
}
