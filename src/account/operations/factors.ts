import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { Transaction } from '../../db/transaction.ts';
import { LockedError, NotAllowedError, VerificationFailedError } from '../../errors.ts';
import { failureOf } from '../../experience/failure.ts';
import { createBackupCodes as createCodes, takeBackupCode } from '../../factors/backup-codes.ts';
import { type DeletedFactor, deleteOwnFactor } from '../../factors/delete.ts';
import { factorGuess } from '../../factors/guess.ts';
import {
  addPasskey,
  readPasskeyName,
  startPasskeyEnrollment as startEnrollment,
  verifyEnrollment,
} from '../../factors/passkeys/enroll.ts';
import { readAuthentication } from '../../factors/passkeys/responses.ts';
import {
  findPasskey,
  recordPasskeyUse,
  startPasskeyUse,
  verifyPasskeyUse,
} from '../../factors/passkeys/use.ts';
import type { PasskeyUse } from '../../factors/passkeys/verify.ts';
import { assertOffered } from '../../factors/policy.ts';
import {
  beginTotp,
  type ConfirmTotpInput,
  confirmTotp as confirmApp,
  type ShownTotp,
  takeTotp,
} from '../../factors/totp.ts';
import type { FactorType } from '../../generated/prisma/client.ts';
import { forgetAttempts, takeAttempt, whileTaken } from '../../protection/attempts.ts';
import { readDevice } from '../../protection/device.ts';
import type { ViewerContext } from '../../services.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { assertProved, changeProved, rememberProof } from './proof.ts';
import { changeViewer, readViewer } from './viewer.ts';
import { keepWayIn } from './ways-in.ts';

// What is begun in one session is finished there.
const enrolling = ({ viewer: { userId, session }, visitor: { language } }: ViewerContext) => ({
  userId,
  holder: session,
  language,
});

/**
 * Begins to add an authenticator app to the own account.
 *
 * @throws {NotAllowedError} {@link VerificationRequiredError}
 */
export const enrollTotp = (context: ViewerContext): Promise<ShownTotp> =>
  changeProved(context, (tx) => {
    const { userId, holder } = enrolling(context);
    return beginTotp(tx, context, { userId, holder });
  });

/**
 * Adds the authenticator app of {@link enrollTotp}. Raises `User.Data.Updated`.
 *
 * @throws {VerificationFailedError} {@link InvalidInputError} {@link NotAllowedError}
 *   {@link VerificationRequiredError}
 */
export const confirmTotp = (context: ViewerContext, input: ConfirmTotpInput): Promise<void> =>
  changeProved(context, async (tx) => {
    const factor = await confirmApp(tx, context, enrolling(context), input);
    if (!factor) throw new VerificationFailedError();
  });

/**
 * Makes ten backup codes, which replace the earlier ones. Raises `User.Data.Updated` if there were none.
 *
 * @returns The codes. They cannot be read again.
 * @throws {NotAllowedError} {@link VerificationRequiredError}
 */
export const createBackupCodes = (context: ViewerContext): Promise<string[]> =>
  changeProved(context, (tx) => {
    const { userId, language } = enrolling(context);
    return createCodes(tx, context, { userId, language });
  });

/**
 * Makes the options with which a browser makes a new passkey.
 *
 * @throws {NotAllowedError} {@link VerificationRequiredError}
 */
export const startPasskeyEnrollment = (
  context: ViewerContext,
): Promise<PublicKeyCredentialCreationOptionsJSON> =>
  changeProved(context, (tx) => {
    const { userId, holder } = enrolling(context);
    return startEnrollment(tx, context, { userId, holder });
  });

/**
 * Stores a new passkey of the person. Raises `User.Data.Updated`.
 *
 * @throws {InvalidInputError} {@link VerificationFailedError} {@link NotAllowedError}
 *   {@link VerificationRequiredError}
 */
export async function confirmPasskey(
  context: ViewerContext,
  { response, name }: { response: unknown; name?: string | null | undefined },
): Promise<void> {
  const { userId, holder, language } = enrolling(context);
  assertOffered(await readSignInExperience(context.database.prisma), 'PASSKEY');
  await assertProved(context);
  const shown = readPasskeyName(name);
  const passkey = await verifyEnrollment(context, { userId, holder }, response);
  await changeProved(context, async (tx) => {
    await addPasskey(tx, context, { userId, language }, passkey, shown);
  });
}

/**
 * Deletes one of the own factors. The last one stays where one is required, and so does a passkey that is the last way
 * to sign in. Raises `User.Data.Updated`.
 *
 * @returns The factor in its last state.
 * @throws {NotFoundError} {@link NotAllowedError} {@link VerificationRequiredError}
 */
export const deleteViewerFactor = (
  context: ViewerContext,
  { id: factorId }: { id: string },
): Promise<DeletedFactor> =>
  changeProved(context, (tx) => {
    const { userId, language } = enrolling(context);
    return keepWayIn(tx, context, () =>
      deleteOwnFactor(tx, context, { userId, factorId, language }),
    );
  });

/**
 * Proves by a code of an authenticator app who the person is.
 *
 * @returns Until when the proof counts.
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError}
 */
export const verifyTotp = (context: ViewerContext, { code }: { code: string }): Promise<Date> =>
  verifyFactor(context, 'TOTP', (tx) => takeTotp(tx, context, context.viewer.userId, code));

/**
 * Proves by a backup code, which is used up, who the person is.
 *
 * @returns Until when the proof counts.
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError}
 */
export const verifyBackupCode = (
  context: ViewerContext,
  { code }: { code: string },
): Promise<Date> =>
  verifyFactor(context, 'BACKUP_CODES', (tx) =>
    takeBackupCode(tx, context, context.viewer.userId, code),
  );

/**
 * Makes the options with which a browser asks for one of the own passkeys.
 *
 * @throws {NotAllowedError}
 */
export async function startPasskey(
  context: ViewerContext,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  assertOffered(await readSignInExperience(context.database.prisma), 'PASSKEY');
  const { session: holder, userId } = context.viewer;
  return changeViewer(context, (tx) => startPasskeyUse(tx, context, { holder, userId }));
}

/**
 * Proves by one of the own passkeys who the person is.
 *
 * @returns Until when the proof counts.
 * @throws {InvalidInputError} {@link VerificationFailedError} {@link LockedError} {@link NotAllowedError}
 */
export async function verifyPasskey(
  context: ViewerContext,
  { response: given }: { response: unknown },
): Promise<Date> {
  const response = readAuthentication(given);
  const { session: holder, userId } = context.viewer;
  const passkey = await findPasskey(context.database, response);
  let use: PasskeyUse | null = null;
  return verifyFactor(
    context,
    'PASSKEY',
    async (tx) => (passkey && use ? recordPasskeyUse(tx, context, passkey, use) : false),
    // Outside the transaction: a rollback would make the challenge good again.
    async () => {
      use = await verifyPasskeyUse(context, { holder, userId }, response, passkey);
    },
  );
}

/**
 * Checks a guess at a factor, which then proves who the person is.
 *
 * @param take Uses up what was shown; false if it is not right.
 * @param check Runs before the transaction.
 */
async function verifyFactor(
  context: ViewerContext,
  type: FactorType,
  take: (tx: Transaction) => Promise<boolean>,
  check?: () => Promise<void>,
): Promise<Date> {
  const settings = await readSignInExperience(context.database.prisma);
  assertOffered(settings, type);
  const user = await readViewer(context);
  const guess = factorGuess(user, readDevice(context, context.visitor.cookies, user.id));
  const attempt = await takeAttempt(context, settings.lockoutPolicy, guess);
  if (!attempt.allowed) throw new LockedError(attempt.lockedUntil);
  const until = await whileTaken(context, guess, attempt, async () => {
    await check?.();
    return changeViewer(context, async (tx) =>
      (await take(tx)) ? rememberProof(tx, context) : null,
    );
  });
  if (until === null) throw await failureOf(context, guess, attempt);
  await forgetAttempts(context, guess);
  return until;
}
