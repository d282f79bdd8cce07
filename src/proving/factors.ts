import { untold } from '../db/told.ts';
import type { Transaction } from '../db/transaction.ts';
import { createBackupCodes as createCodes, takeBackupCode } from '../factors/backup-codes.ts';
import { assertOffered } from '../factors/policy.ts';
import {
  beginTotp,
  type ConfirmTotpInput,
  confirmTotp as confirmApp,
  type ShownTotp,
  takeTotp,
} from '../factors/totp.ts';
import type { FactorType } from '../generated/prisma/client.ts';
import { tryGuess } from '../protection/attempts.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { enrollmentGuessOf, guessOf } from './guesses.ts';
import type { Holder } from './holder.ts';

// A one-time password (RFC 8176 §2).
const methods = ['otp'];

/**
 * Begins to add an authenticator app.
 *
 * @throws {NotAllowedError} {@link VerificationRequiredError} {@link InteractionExpiredError}
 */
export const enrollTotp = (holder: Holder): Promise<ShownTotp> =>
  holder.enroll(async (tx, person) => untold(await beginTotp(tx, person.context, person)));

/**
 * Adds the authenticator app of {@link enrollTotp}, which has then been shown too. Raises
 * `User.Data.Updated` and `User.Credential.Updated`.
 *
 * The code proves nothing about the person, so guesses at it have a counter of their own: mistakes must not lock the
 * factors that the person has, and a success must not forget guesses at these.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link InvalidInputError} {@link NotAllowedError}
 *   {@link VerificationRequiredError} {@link InteractionExpiredError}
 */
export async function confirmTotp(holder: Holder, input: ConfirmTotpInput): Promise<void> {
  const { context } = holder;
  const user = await holder.readPerson('ENROLL');
  const settings = await readSettingsInForce(context.database.prisma, user.id);
  await tryGuess(context, settings, enrollmentGuessOf(context, user), () =>
    holder.enroll(async (tx, person) => {
      // A concurrent step may have signed in somebody else, whose guesses count elsewhere.
      if (person.userId !== user.id) return untold(null);
      const added = await confirmApp(tx, person.context, person, input);
      if (added.result) await person.recordShown(methods);
      return added;
    }),
  );
}

/**
 * Makes ten backup codes, which replace the earlier ones. Raises `User.Credential.Updated`, and `User.Data.Updated`
 * if there were none.
 *
 * @returns The codes. They cannot be read again.
 * @throws {NotAllowedError} {@link VerificationRequiredError} {@link InteractionExpiredError}
 */
export const createBackupCodes = (holder: Holder): Promise<string[]> =>
  holder.enroll((tx, person) => createCodes(tx, person.context, person));

/** A code that a person has typed. */
export interface TypedCode {
  readonly code: string;
}

/**
 * Checks a code of the person's authenticator app.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} {@link InteractionExpiredError}
 */
export const verifyTotp = (holder: Holder, { code }: TypedCode): Promise<void> =>
  verifyFactor(holder, 'TOTP', 'TOTP', (tx, userId) => takeTotp(tx, holder.context, userId, code));

/**
 * Uses up one of the person's backup codes.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} {@link InteractionExpiredError}
 */
export const verifyBackupCode = (holder: Holder, { code }: TypedCode): Promise<void> =>
  verifyFactor(holder, 'BACKUP_CODES', 'BACKUP_CODE', (tx, userId) =>
    takeBackupCode(tx, holder.context, userId, code),
  );

/**
 * Checks a guess at a second factor.
 *
 * @param take Uses up what was shown. False if it is wrong.
 */
async function verifyFactor(
  holder: Holder,
  type: FactorType,
  method: 'TOTP' | 'BACKUP_CODE',
  take: (tx: Transaction, userId: string) => Promise<boolean>,
): Promise<void> {
  const { context } = holder;
  const user = await holder.readPerson('SHOW');
  const settings = await readSettingsInForce(context.database.prisma, user.id);
  assertOffered(settings, type);
  const factor = { userId: user.id, methods, isOnlyStep: false };
  await tryGuess(
    context,
    settings,
    guessOf(context, method, user, holder),
    async () => (await holder.show(factor, (tx) => take(tx, user.id))) || null,
  );
}
