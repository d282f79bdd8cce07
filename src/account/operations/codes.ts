import { mayProve } from '../../auth/granting/prove.ts';
import { untold } from '../../db/told.ts';
import { NotAllowedError, VerificationFailedError } from '../../errors.ts';
import { canSend } from '../../messages/queue-message.ts';
import { tryGuess } from '../../protection/attempts.ts';
import {
  channelOf,
  identifierOf,
  readAddress,
  type SentCode,
  sendCodeWithin,
  sentCodeOf,
  shownCode,
  takeCode,
} from '../../proving/codes.ts';
import { guessAt } from '../../proving/guesses.ts';
import { holdsAddress, noteProved } from '../../proving/proved.ts';
import type { ViewerContext } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import { languageOf } from '../../sign-in-experience/language.ts';
import { readSignInExperience } from '../../sign-in-experience/settings.ts';
import { rememberProof } from './proof.ts';
import { changeViewer } from './viewer.ts';

/**
 * Sends a code to an address of the account, or to a new one. The answer, the work and the message are the same whether
 * or not somebody else has the new address. Earlier codes stay valid, within one budget of attempts.
 *
 * @throws {InvalidInputError} {@link RateLimitedError}, after which `Message.RateLimited` is raised once a window;
 * {@link NotAllowedError} when there is no sender.
 */
export async function sendViewerCode(
  context: ViewerContext,
  given: { readonly email?: string | null; readonly phone?: string | null },
): Promise<SentCode> {
  const address = await readAddress(context, given);
  const settings = await readSignInExperience(context.database.prisma);
  if (!(await canSend(context, channelOf(address))))
    throw new NotAllowedError('Codes of this kind are not sent here.');
  const { userId, session } = context.viewer;
  const sent = await changeViewer(context, async (tx, viewer) => {
    const isOwn = holdsAddress(viewer, address);
    const template = isOwn ? 'VERIFY_IDENTITY' : 'VERIFY_ADDRESS';
    return untold(
      await sendCodeWithin(tx, context, settings.codePolicy, {
        owner: { userId, session },
        address,
        holderId: userId,
        action: template,
        template,
        language: languageOf(context, settings),
        senderId: isOwn ? undefined : userId,
        contentOf: (_id, code) => ({ code }),
      }),
    );
  });
  return sentCodeOf(sent);
}

/** A verified address. */
export interface VerifiedAddress {
  readonly verification: SentCode;
  /** Until when the code proves who the person is; null for an address that the account does not have. */
  readonly verifiedUntil: Date | null;
}

/**
 * Checks a code. A code to an address of the account proves who the person is; one to another address makes it ready
 * for `updateViewerEmail` or `updateViewerPhone`. Raises `User.Data.Updated` if the account's address was not verified.
 *
 * @throws {VerificationFailedError} {@link LockedError}
 */
export async function verifyViewerCode(
  context: ViewerContext,
  { verificationId, code }: { verificationId: string; code: string },
): Promise<VerifiedAddress> {
  const { prisma } = context.database;
  const { userId, session, clientId } = context.viewer;
  const settings = await readSettingsInForce(prisma, userId);
  const verification = await prisma.verification.findUnique({
    where: { id: verificationId, userId, session },
  });
  if (!verification) throw new VerificationFailedError();
  const guess = guessAt(context, 'CODE', identifierOf(verification), {
    userId,
    applicationId: clientId,
  });
  const verified = await tryGuess(context, settings, guess, () =>
    changeViewer<{ verifiedUntil: Date | null } | null>(context, async (tx, user) => {
      const taken = await takeCode(tx, context, settings.codePolicy, verification, code);
      if (!taken || !(await mayProve(tx, taken.setterScopes, userId))) return untold(null);
      if (!holdsAddress(user, taken)) return untold({ verifiedUntil: null });
      const { result: verifiedUntil } = await rememberProof(tx, context);
      const noted = await noteProved(tx, context, userId, taken);
      return noted.with({ verifiedUntil });
    }),
  );
  return { verification: shownCode(verification), ...verified };
}
