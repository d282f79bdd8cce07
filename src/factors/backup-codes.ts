import { randomInt } from 'node:crypto';
import type { Told } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import { newId } from '../ids.ts';
import type { Language } from '../languages.ts';
import { keyedDigest } from '../protection/keyed-digest.ts';
import type { Context, Services } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { withoutSeparators } from '../text/typed.ts';
import { changeFactors } from './change.ts';
import { assertOffered } from './policy.ts';

// Crockford's alphabet: no I, L, O or U. Twelve characters are 60 bits.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const codeCount = 10;

/**
 * Makes ten backup codes (look-up secrets, NIST SP 800-63B-4 §3.1.2), which replace the earlier ones. Raises
 * `User.Credential.Updated`, and `User.Data.Updated` if the person had none.
 *
 * @returns The codes. They cannot be read again.
 * @throws {NotAllowedError} when the settings do not offer them; {@link NotFoundError} of the user.
 */
export async function createBackupCodes(
  tx: Transaction,
  context: Context,
  { userId, language }: { readonly userId: string; readonly language?: Language | undefined },
): Promise<Told<string[]>> {
  assertOffered(await readSettingsInForce(tx, userId), 'BACKUP_CODES');
  const codes = Array.from({ length: codeCount }, newCode);
  const change = { userId, language, notice: 'FACTOR_ADDED' } as const;
  const told = await changeFactors(tx, context, change, async () => {
    await tx.userFactor.deleteMany({ where: { userId, type: 'BACKUP_CODES' } });
    const id = newId('UserFactor');
    await tx.userFactor.create({
      data: {
        id,
        userId,
        type: 'BACKUP_CODES',
        createdAt: context.clock.now(),
        codes: { create: codes.map((code) => ({ digest: digestOf(context, id, code) })) },
      },
    });
  });
  return told.with(codes);
}

/**
 * Uses up one of the person's backup codes. Count guesses before you call it.
 *
 * @returns Whether the code was right. Of concurrent calls with one code, only one gets true.
 */
export async function takeBackupCode(
  tx: Transaction,
  { cipher, clock }: Pick<Services, 'cipher' | 'clock'>,
  userId: string,
  code: string,
): Promise<boolean> {
  const sets = await tx.userFactor.findMany({
    where: { userId, type: 'BACKUP_CODES' },
    select: { id: true },
  });
  for (const { id } of sets) {
    const { count } = await tx.backupCode.deleteMany({
      where: { factorId: id, digest: digestOf({ cipher }, id, code) },
    });
    if (count === 0) continue;
    await tx.userFactor.update({ where: { id }, data: { lastUsedAt: clock.now() } });
    return true;
  }
  return false;
}

const newCode = (): string => {
  const characters = Array.from({ length: 12 }, () => alphabet[randomInt(alphabet.length)]);
  return (characters.join('').match(/.{4}/g) ?? []).join('-');
};

// People misread their paper: "o" for zero, "l" for one.
const normal = (typed: string): string =>
  withoutSeparators(typed).toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');

const digestOf = (
  { cipher }: Pick<Services, 'cipher'>,
  factorId: string,
  code: string,
): Uint8Array<ArrayBuffer> => keyedDigest(cipher, 'backup-code', [factorId, normal(code)]);
