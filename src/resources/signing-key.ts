import type { SigningAlgorithm } from '../config.ts';
import type { Transaction } from '../db/transaction.ts';
import { recordEvent } from '../events/record.ts';
import type { Resource } from '../generated/prisma/client.ts';
import { ensureKeyBeside, signsAfterLead, statusAt } from '../keys/signing-keys.ts';
import type { Context } from '../services.ts';

/**
 * Makes sure that there is a key for an algorithm that a resource or an application asks for. A new one is published, and
 * raises `SigningKey.Rotated`. The caller lets the keys be read again once it has committed.
 */
export async function ensureSigningKey(
  tx: Transaction,
  context: Context,
  algorithm: SigningAlgorithm | null | undefined,
): Promise<void> {
  const created =
    algorithm && (await ensureKeyBeside(tx, context, algorithm, signsAfterLead(context)));
  if (created) await recordEvent(tx, context, 'SigningKey.Rotated', { signingKeyId: created.id });
}

/** What a resource's tokens are signed in until the key of a new algorithm signs: as before. */
export async function algorithmUntilThen(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  { signingAlg, signingAlgBefore }: Pick<Resource, 'signingAlg' | 'signingAlgBefore'>,
): Promise<string | null> {
  if (signingAlg === null) return null;
  const keys = await tx.signingKey.findMany({
    where: { algorithm: signingAlg },
    select: { signsFrom: true, createdAt: true, retiredAt: true },
  });
  const now = clock.now();
  return keys.some((key) => statusAt(key, now) === 'ACTIVE') ? signingAlg : signingAlgBefore;
}
