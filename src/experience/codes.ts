import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Transaction } from '../db/transaction.ts';
import {
  InvalidInputError,
  LockedError,
  NotAllowedError,
  RateLimitedError,
  VerificationFailedError,
} from '../errors.ts';
import type {
  AddressType,
  InteractionEvent,
  User,
  Verification,
} from '../generated/prisma/client.ts';
import { assertNotElsewhere } from '../identity-providers/choice.ts';
import { newId } from '../ids.ts';
import { emailAddress, parseInput, phoneNumber } from '../input.ts';
import { canSend, queueMessage } from '../messages/queue-message.ts';
import type { MessageTemplate } from '../messages/templates/wording.ts';
import { forgetAttempts, type Guess, takeAttempt } from '../protection/attempts.ts';
import { readDevice } from '../protection/device.ts';
import { type Identifier, normalValue } from '../protection/identifier.ts';
import { takeSending } from '../protection/sending.ts';
import type { InteractionAccess, Services, VisitContext } from '../services.ts';
import {
  identifierTypes,
  readSignInExperience,
  type SignInExperience,
} from '../sign-in-experience/settings.ts';
import { findUserByIdentifier } from '../users/find.ts';
import { languageOf } from './access/visitor.ts';
import { failureOf } from './failure.ts';
import {
  authenticate,
  changeInteraction,
  type Interaction,
  readInteraction,
  updateInteraction,
} from './interaction.ts';
import { newcomerOf } from './steps.ts';

const input = z.object({ email: emailAddress.nullish(), phone: phoneNumber.nullish() });

/** The purpose of a code, and the e-mail address or telephone number that it goes to. */
export interface CodeRequest {
  readonly purpose: InteractionEvent;
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
}

/** An address that codes are sent to. */
export interface Address {
  readonly type: AddressType;
  readonly recipient: string;
}

/** A sent code, as the API shows it. */
export interface SentCode {
  readonly id: string;
  /** The address, partly hidden. */
  readonly recipient: string;
  readonly expiresAt: Date;
}

/**
 * Sends a code, or a message to the address which says why there is none. The answer, the work and the number of
 * messages are the same whether or not the address has an account. Earlier codes stay valid, within one budget of
 * attempts.
 *
 * @throws {InvalidInputError} {@link RateLimitedError}, after which `Message.RateLimited` is raised once a window;
 * {@link NotAllowedError} when the settings do not allow it, or the address is that of an identity provider; {@link InteractionExpiredError}
 */
export async function sendCode(
  context: VisitContext,
  access: InteractionAccess,
  { purpose, ...given }: CodeRequest,
): Promise<{ interaction: Interaction; verification: SentCode }> {
  const address = readAddress(given);
  const settings = await readSignInExperience(context.database.prisma);
  await assertOffered(context, settings, purpose, address.type);
  const newcomer = newcomerOf(await readInteraction(context, access));
  await assertNotElsewhere(context.database.prisma, address.recipient, newcomer);
  const decided = await changeInteraction(context, access, async (tx, interaction) => {
    const { codePolicy } = settings;
    const sending = { action: purpose, recipient: address.recipient };
    const decision = await takeSending(tx, context, codePolicy, sending);
    // Throwing here would roll back the count and the event.
    if (!decision.allowed) return decision;
    const holder = await findHolder(tx, address);
    const expiresAt = new Date(context.clock.now().getTime() + codePolicy.ttlSeconds * 1000);
    const verification = await keepVerification(tx, context, interaction, {
      ...address,
      purpose,
      expiresAt,
      maxAttempts: codePolicy.maxAttempts,
    });
    const code = newCode();
    await tx.verificationCode.create({
      data: {
        verificationId: verification.id,
        digest: codeDigest(context, verification.id, code),
        expiresAt,
      },
    });
    const template = templateFor(purpose, holder);
    await queueMessage(tx, context, {
      channel: address.type === 'EMAIL' ? 'EMAIL' : 'SMS',
      recipient: address.recipient,
      template,
      language: languageOf(context, settings),
      expiresAt,
      ...(template === purpose ? { code, ...linkTo(context, access, verification, code) } : {}),
    });
    const changed = await updateInteraction(tx, interaction, {
      event: purpose,
      identifier: address.recipient,
    });
    return { allowed: true as const, interaction: changed, verification };
  });
  if (!decided.allowed) throw new RateLimitedError(decided.retryAfterSeconds);
  const { id, type, recipient, expiresAt } = decided.verification;
  return {
    interaction: decided.interaction,
    verification: { id, recipient: masked({ type, recipient }), expiresAt },
  };
}

/**
 * Checks a code. A code for signing in signs the person in. Other codes verify the address, and `register` or
 * `resetPassword` comes next.
 *
 * @throws {VerificationFailedError} {@link LockedError} {@link NotAllowedError} when the address is that of an identity
 *   provider; {@link InteractionExpiredError}
 */
export async function verifyCode(
  context: VisitContext,
  access: InteractionAccess,
  { verificationId, code }: { verificationId: string; code: string },
): Promise<Interaction> {
  const { prisma } = context.database;
  const settings = await readSignInExperience(prisma);
  const running = await readInteraction(context, access);
  const verification = running.verifications.find(({ id }) => id === verificationId);
  if (!verification) throw new VerificationFailedError();
  // The company of the address may have connected its provider since the code was sent.
  await assertNotElsewhere(prisma, verification.recipient, newcomerOf(running));
  const identifier = identifierOf(verification);
  const user = await findUserByIdentifier(prisma, anyIdentifier, identifier);
  const device = readDevice(context, context.visitor.cookies, user?.id);
  const guess: Guess = { ...identifier, check: 'code', device };
  const attempt = await takeAttempt(context, settings.lockoutPolicy, guess);
  if (!attempt.allowed) throw new LockedError(attempt.lockedUntil);
  const interaction = await changeInteraction(context, access, async (tx, found) => {
    const isRight = await takeCode(tx, context, settings, verification, code);
    return isRight ? proceed(tx, context, found, verification) : null;
  });
  if (!interaction) throw await failureOf(context, guess, attempt);
  await forgetAttempts(context, guess);
  return interaction;
}

const anyIdentifier = { signInIdentifiers: identifierTypes };

/** The result of a right code; null if it can sign nobody in. */
async function proceed(
  tx: Transaction,
  context: VisitContext,
  interaction: Interaction,
  verification: Verification,
): Promise<Interaction | null> {
  const { purpose } = verification;
  const holder = await findHolder(tx, verification);
  // No code was sent for registering a taken address, or for recovering an account that does not exist.
  const isUsable = purpose === 'REGISTER' ? holder === null : holder?.isSuspended === false;
  if (!isUsable) return null;
  if (purpose === 'SIGN_IN' && holder) {
    const methods = methodsOf(verification);
    return authenticate(tx, context, interaction, { userId: holder.id, methods, event: purpose });
  }
  return updateInteraction(tx, interaction, { event: purpose, identifier: verification.recipient });
}

/**
 * Tries a code, and counts the attempt. A right code is used up, together with all others of its verification.
 *
 * @returns Whether it was right, in time, and within the budget.
 */
async function takeCode(
  tx: Transaction,
  context: VisitContext,
  { codePolicy }: Pick<SignInExperience, 'codePolicy'>,
  { id }: Pick<Verification, 'id'>,
  code: string,
): Promise<boolean> {
  const { attempts, verifiedAt } = await tx.verification.update({
    where: { id },
    data: { attempts: { increment: 1 } },
  });
  const now = context.clock.now();
  const codes = await tx.verificationCode.findMany({
    where: { verificationId: id, expiresAt: { gt: now } },
  });
  const digest = codeDigest(context, id, code);
  const isOne = codes.filter((one) => timingSafeEqual(one.digest, digest)).length > 0;
  if (!isOne || verifiedAt !== null || attempts > codePolicy.maxAttempts) return false;
  await tx.verificationCode.deleteMany({ where: { verificationId: id } });
  await tx.verification.update({ where: { id }, data: { verifiedAt: now } });
  return true;
}

/** The authentication method of a code (RFC 8176): SMS has its own value. */
export const methodsOf = ({ type }: Pick<Verification, 'type'>): string[] =>
  type === 'PHONE' ? ['sms'] : ['otp'];

/** The identifier of an address. */
export const identifierOf = ({ type, recipient }: Address): Identifier => ({
  type: type === 'EMAIL' ? 'email' : 'phone',
  value: recipient,
});

/** The user who has an address, suspended or not. */
export const findHolder = (
  tx: Pick<Transaction, '$queryRaw'>,
  address: Address,
): Promise<User | null> => findUserByIdentifier(tx, anyIdentifier, identifierOf(address));

/**
 * The address in a request for a code.
 *
 * @throws {InvalidInputError} unless there is exactly one.
 */
export function readAddress(given: Omit<CodeRequest, 'purpose'>): Address {
  const email = given.email?.trim() || null;
  const phone = given.phone ? normalValue({ type: 'phone', value: given.phone }) : null;
  const parsed = parseInput(input, { email, phone });
  if ((parsed.email == null) === (parsed.phone == null)) {
    const message = 'exactly one of email and phone must be given';
    throw new InvalidInputError([{ path: ['email'], message }]);
  }
  return parsed.email != null
    ? { type: 'EMAIL', recipient: parsed.email }
    : { type: 'PHONE', recipient: parsed.phone ?? '' };
}

async function assertOffered(
  services: Services,
  settings: SignInExperience,
  purpose: InteractionEvent,
  type: AddressType,
): Promise<void> {
  const isOffered = {
    SIGN_IN: settings.codeEnabled && settings.signInIdentifiers.includes(type),
    REGISTER: settings.signUpEnabled && settings.signUpIdentifiers.includes(type),
    RESET_PASSWORD: settings.passwordEnabled,
  }[purpose];
  if (!isOffered || !(await canSend(services, type === 'EMAIL' ? 'EMAIL' : 'SMS')))
    throw new NotAllowedError('Codes of this kind are not sent here.');
}

/** One verification for each address and purpose, until it succeeds or its attempts are used up. */
async function keepVerification(
  tx: Transaction,
  { clock }: VisitContext,
  interaction: Interaction,
  wanted: Address & { purpose: InteractionEvent; expiresAt: Date; maxAttempts: number },
): Promise<Verification> {
  const { maxAttempts, expiresAt, ...key } = wanted;
  const known = interaction.verifications.find(
    (one) =>
      one.purpose === key.purpose &&
      one.type === key.type &&
      one.recipient === key.recipient &&
      one.verifiedAt === null &&
      one.attempts < maxAttempts,
  );
  return known
    ? tx.verification.update({ where: { id: known.id }, data: { expiresAt } })
    : tx.verification.create({
        data: {
          id: newId('Verification'),
          interactionId: interaction.id,
          ...key,
          expiresAt,
          createdAt: clock.now(),
        },
      });
}

function templateFor(purpose: InteractionEvent, holder: User | null): MessageTemplate {
  if (purpose === 'REGISTER') return holder ? 'ACCOUNT_EXISTS' : 'REGISTER';
  return holder ? purpose : 'NO_ACCOUNT';
}

/**
 * The URL of the page for a link in a message. In the browser of the interaction the page fills in the code; in other
 * browsers it shows the code.
 */
function linkTo(
  { baseUrl }: Services,
  { uid }: InteractionAccess,
  { id, purpose }: Verification,
  code: string,
): { link?: string } {
  if (uid === null || purpose === 'REGISTER') return {};
  return {
    link: `${baseUrl}/sign-in/${uid}/link?${new URLSearchParams({ v: id, code })}`,
  };
}

/** A new code: six digits from a cryptographic random number generator. */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/**
 * The stored digest of a code. Uses the verification's id and a key outside the database. A plain digest of six digits could be reversed by trying
 * all.
 */
export const codeDigest = (
  { cipher }: Pick<Services, 'cipher'>,
  verificationId: string,
  code: string,
): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHmac('sha256', cipher.deriveKey('verification-code'))
      .update(`${verificationId}:${code.replaceAll(/[\s-]/g, '')}`)
      .digest(),
  );

/** An address, partly hidden, that its owner recognizes: `a•••@example.com`, `•••4567`. */
export function masked({ type, recipient }: Address): string {
  if (type === 'PHONE') return `•••${recipient.slice(-4)}`;
  const at = recipient.lastIndexOf('@');
  return `${[...recipient][0]}•••${recipient.slice(at)}`;
}
