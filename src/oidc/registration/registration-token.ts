import { z } from 'zod';
import { lockRow } from '../../db/lock.ts';
import { type Transaction, transaction } from '../../db/transaction.ts';
import { InvalidInputError } from '../../errors.ts';
import { recordEvent } from '../../events/record.ts';
import type { RegistrationToken } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { instant, parseInput } from '../../input.ts';
import { digestOf } from '../../keys/digest.ts';
import type { Context } from '../../services.ts';
import { generateToken } from '../../subject-tokens/opaque-token.ts';

/** The most applications that one token can register. */
export const maxRegistrations = 1_000;

const input = z.object({
  expiresAt: instant,
  maxUses: z
    .number()
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(maxRegistrations, `must be at most ${maxRegistrations}`)
    .nullish(),
});

/**
 * Creates a token with which programs can register applications (RFC 7591 §1.2, the initial access token). Raises
 * `RegistrationToken.Created`.
 *
 * @returns The token's value too, which cannot be read again.
 * @throws {InvalidInputError}
 */
export async function createRegistrationToken(
  context: Context,
  given: z.input<typeof input>,
): Promise<{ registrationToken: RegistrationToken; token: string }> {
  const { expiresAt, maxUses } = parseInput(input, given);
  const now = context.clock.now();
  if (expiresAt <= now)
    throw new InvalidInputError([{ path: ['expiresAt'], message: 'must be in the future' }]);
  const { token, digest } = generateToken('RegistrationToken');
  const registrationToken = await transaction(context.database, async (tx) => {
    const created = await tx.registrationToken.create({
      data: {
        id: newId('RegistrationToken'),
        digest,
        maxUses: maxUses ?? 1,
        createdAt: now,
        expiresAt,
      },
    });
    const told = await recordEvent(tx, context, 'RegistrationToken.Created', {
      registrationTokenId: created.id,
      expiresAt: created.expiresAt.toISOString(),
      maxUses: created.maxUses,
    });
    return told.with(created);
  });
  return { registrationToken, token };
}

/**
 * Deletes a registration token: nothing more is registered with it. Raises `RegistrationToken.Deleted`.
 *
 * @returns The token in its last state.
 * @throws {NotFoundError}
 */
export async function deleteRegistrationToken(
  context: Context,
  { id }: { id: string },
): Promise<RegistrationToken> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'RegistrationToken', id);
    const deleted = await tx.registrationToken.delete({ where: { id } });
    const told = await recordEvent(tx, context, 'RegistrationToken.Deleted', {
      registrationTokenId: id,
    });
    return told.with(deleted);
  });
}

/**
 * Uses a registration token once more.
 *
 * @returns Whether it was good for that.
 */
export async function useRegistrationToken(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  token: string,
): Promise<boolean> {
  const used = await tx.$executeRaw`
    UPDATE "RegistrationToken" SET "uses" = "uses" + 1
     WHERE "digest" = ${digestOf(token)}::bytea AND "uses" < "maxUses" AND "expiresAt" > ${clock.now()}::timestamptz`;
  return used === 1;
}
