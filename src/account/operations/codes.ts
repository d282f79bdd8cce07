import { timingSafeEqual } from 'node:crypto';
import type { Transaction } from '../../db/transaction.ts';
import {
  LockedError,
  NotAllowedError,
  RateLimitedError,
  VerificationFailedError,
} from '../../errors.ts';
import { languageOf } from '../../experience/access/visitor.ts';
import {
  type Address,
  codeDigest,
  identifierOf,
  masked,
  newCode,
  readAddress,
  type SentCode,
} from '../../experience/codes.ts';
import { failureOf } from '../../experience/failure.ts';
import type { User, ViewerCode } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { canSend, queueMessage } from '../../messages/queue-message.ts';
import { forgetAttempts, type Guess, takeAttempt } from '../../protection/attempts.ts';
import { readDevice } from '../../protection/device.ts';
import { normalValue } from '../../protection/identifier.ts';
import { takeSending, takeSendingBy } from '../../protection/sending.ts';
import type { ViewerContext } from '../../services.ts';
import { type CodePolicy, readSignInExperience } from '../../sign-in-experience/settings.ts';
import { rememberProof } from './proof.ts';
import { changeViewer } from './viewer.ts';

// The digest in base64, and when it ends. JSON objects are types: an interface has no index signature.
type StoredCode = { readonly digest: string; readonly expiresAt: string };

/** Whether an account has an address now. */
function holds({ primaryEmail, primaryPhone }: User, address: Address): boolean {
  const held = address.type === 'EMAIL' ? primaryEmail : primaryPhone;
  if (held === null) return false;
  const { type, value } = identifierOf(address);
  return normalValue({ type, value: held }) === normalValue({ type, value });
}

/**
 * Sends a code to an address of the account, or to a new one. The answer, the work and the message are the same whether
 * or not somebody else has the new address. Earlier codes stay valid, within one budget of tries.
 *
 * @throws {InvalidInputError} {@link RateLimitedError}, after which `Message.RateLimited` is raised once a window;
 * {@link NotAllowedError} when there is no sender.
 */
export async function sendViewerCode(
  context: ViewerContext,
  given: { readonly email?: string | null; readonly phone?: string | null },
): Promise<SentCode> {
  const address = readAddress(given);
  const channel = address.type === 'EMAIL' ? 'EMAIL' : 'SMS';
  const settings = await readSignInExperience(context.database.prisma);
  if (!(await canSend(context, channel)))
    throw new NotAllowedError('Codes of this kind are not sent here.');
  const { codePolicy } = settings;
  const decided = await changeViewer(context, async (tx, viewer) => {
    const template = holds(viewer, address) ? 'VERIFY_IDENTITY' : 'VERIFY_ADDRESS';
    // Throwing here would roll back the count and the event.
    if (template === 'VERIFY_ADDRESS') {
      const by = { action: template, userId: viewer.id };
      const decision = await takeSendingBy(tx, context, codePolicy, by);
      if (!decision.allowed) return decision;
    }
    const sending = { action: template, recipient: address.recipient };
    const decision = await takeSending(tx, context, codePolicy, sending);
    if (!decision.allowed) return decision;
    const expiresAt = new Date(context.clock.now().getTime() + codePolicy.ttlSeconds * 1000);
    const code = newCode();
    const row = await keepCode(tx, context, codePolicy, address, { code, expiresAt });
    await queueMessage(tx, context, {
      channel,
      recipient: address.recipient,
      template,
      language: languageOf(context, settings),
      expiresAt,
      code,
    });
    return { allowed: true as const, row };
  });
  if (!decided.allowed) throw new RateLimitedError(decided.retryAfterSeconds);
  return sentCodeOf(decided.row);
}

/** A sent code, as the API shows it. */
export const sentCodeOf = ({ id, type, recipient, expiresAt }: ViewerCode): SentCode => ({
  id,
  recipient: masked({ type, recipient }),
  expiresAt,
});

/** One row for each address and session, until it succeeds or its tries are used up. */
async function keepCode(
  tx: Transaction,
  context: ViewerContext,
  { maxAttempts }: CodePolicy,
  address: Address,
  { code, expiresAt }: { readonly code: string; readonly expiresAt: Date },
): Promise<ViewerCode> {
  const { userId, session } = context.viewer;
  const now = context.clock.now();
  const known = await tx.viewerCode.findFirst({
    where: { userId, session, ...address, verifiedAt: null, attempts: { lt: maxAttempts } },
  });
  const id = known?.id ?? newId('Verification');
  const digest = Buffer.from(codeDigest(context, id, code)).toString('base64');
  const earlier = known ? codesOf(known).filter((one) => new Date(one.expiresAt) > now) : [];
  const codes = [...earlier, { digest, expiresAt: expiresAt.toISOString() }];
  return tx.viewerCode.upsert({
    where: { id },
    create: { id, userId, session, ...address, codes, createdAt: now, expiresAt },
    update: { codes, expiresAt },
  });
}

// Only `keepCode` writes them.
const codesOf = ({ codes }: ViewerCode) => codes as unknown as readonly StoredCode[];

/** An address that was shown to be held. */
export interface VerifiedAddress {
  readonly verification: SentCode;
  /** Until when the code counts as a proof of who the person is; null for an address that is not of the account. */
  readonly verifiedUntil: Date | null;
}

/**
 * Checks a code. A code to an address of the account proves who the person is; one to another address makes it ready
 * for `updateViewerEmail` or `updateViewerPhone`.
 *
 * @throws {VerificationFailedError} {@link LockedError}
 */
export async function verifyViewerCode(
  context: ViewerContext,
  { verificationId, code }: { verificationId: string; code: string },
): Promise<VerifiedAddress> {
  const { database, viewer, visitor } = context;
  const settings = await readSignInExperience(database.prisma);
  const row = await database.prisma.viewerCode.findFirst({
    where: { id: verificationId, userId: viewer.userId, session: viewer.session },
  });
  if (!row) throw new VerificationFailedError();
  const device = readDevice(context, visitor.cookies, viewer.userId);
  const guess: Guess = { ...identifierOf(row), check: 'code', device };
  const attempt = await takeAttempt(context, settings.lockoutPolicy, guess);
  if (!attempt.allowed) throw new LockedError(attempt.lockedUntil);
  const verified = await changeViewer(context, async (tx, user) => {
    if (!(await takeCode(tx, context, settings.codePolicy, row.id, code))) return null;
    return { verifiedUntil: holds(user, row) ? await rememberProof(tx, context) : null };
  });
  if (!verified) throw await failureOf(context, guess, attempt);
  await forgetAttempts(context, guess);
  return { verification: sentCodeOf(row), ...verified };
}

/**
 * Tries a code, and counts the attempt. A right code is used up, together with all others of its row.
 *
 * @returns Whether it was right, in time, and within the budget.
 */
async function takeCode(
  tx: Transaction,
  context: ViewerContext,
  { maxAttempts }: CodePolicy,
  id: string,
  code: string,
): Promise<boolean> {
  const now = context.clock.now();
  // The person is locked, so nobody else counts at the same time.
  const row = await tx.viewerCode.update({ where: { id }, data: { attempts: { increment: 1 } } });
  const digest = Buffer.from(codeDigest(context, id, code));
  const isOne =
    codesOf(row).filter(
      (one) =>
        timingSafeEqual(Buffer.from(one.digest, 'base64'), digest) && new Date(one.expiresAt) > now,
    ).length > 0;
  if (!isOne || row.verifiedAt !== null || row.attempts > maxAttempts) return false;
  await tx.viewerCode.update({ where: { id }, data: { codes: [], verifiedAt: now } });
  return true;
}
