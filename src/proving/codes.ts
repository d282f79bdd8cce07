import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Transaction } from '../db/transaction.ts';
import { InvalidInputError, RateLimitedError } from '../errors.ts';
import type {
  AddressType,
  InteractionEvent,
  MessageChannel,
  User,
  Verification,
} from '../generated/prisma/client.ts';
import { newId } from '../ids.ts';
import { AddressedInput, phoneNumber } from '../input.ts';
import type { Language } from '../languages.ts';
import { queueMessage, readSenderScopes } from '../messages/queue-message.ts';
import { type Asker, parseAddressed } from '../messages/senders/non-ascii-addresses.ts';
import type { MessageTemplate } from '../messages/templates/wording.ts';
import type { Identifier } from '../protection/identifier.ts';
import {
  type SendingDecision,
  takeSending,
  takeSendingBy,
  takeSendingFrom,
} from '../protection/sending.ts';
import type { Services, VisitContext } from '../services.ts';
import { readSettingsInForce } from '../sign-in-experience/in-force.ts';
import { type CodePolicy, identifierTypes } from '../sign-in-experience/settings.ts';
import { withoutSeparators } from '../text/typed.ts';
import { findUserByIdentifier } from '../users/find.ts';

const input = new AddressedInput((emailAddress) =>
  z.object({ email: emailAddress.nullish(), phone: phoneNumber.nullish() }),
);

/** An address that codes are sent to. */
export interface Address {
  readonly type: AddressType;
  readonly recipient: string;
}

/**
 * The address in a request for a code.
 *
 * @throws {InvalidInputError} unless there is exactly one.
 */
export async function readAddress(
  services: Asker,
  given: {
    readonly email?: string | null | undefined;
    readonly phone?: string | null | undefined;
  },
): Promise<Address> {
  const asked = { email: given.email || null, phone: given.phone || null };
  const parsed = await parseAddressed(services, input, asked);
  if ((parsed.email == null) === (parsed.phone == null)) {
    const message = 'exactly one of email and phone must be given';
    throw new InvalidInputError([{ path: ['email'], message }]);
  }
  return parsed.email != null
    ? { type: 'EMAIL', recipient: parsed.email }
    : { type: 'PHONE', recipient: parsed.phone ?? '' };
}

/** How messages reach an address. */
export const channelOf = ({ type }: Pick<Address, 'type'>): MessageChannel =>
  type === 'EMAIL' ? 'EMAIL' : 'SMS';

/** The authentication method of a code (RFC 8176): SMS has its own value. */
export const methodsOf = ({ type }: Pick<Address, 'type'>): string[] =>
  type === 'PHONE' ? ['sms'] : ['otp'];

/** The identifier of an address. */
export const identifierOf = ({ type, recipient }: Address): Identifier => ({
  type: type === 'EMAIL' ? 'email' : 'phone',
  value: recipient,
});

const anyIdentifier = { signInIdentifiers: identifierTypes };

/** The user who has an address, suspended or not. */
export const findUserByAddress = (
  tx: Pick<Transaction, '$queryRaw'>,
  address: Address,
): Promise<User | null> => findUserByIdentifier(tx, anyIdentifier, identifierOf(address));

/** An address, partly hidden, that its owner recognizes: `a•••@example.com`, `•••4567`. */
export function masked({ type, recipient }: Address): string {
  if (type === 'PHONE') return `•••${recipient.slice(-4)}`;
  const at = recipient.lastIndexOf('@');
  return `${[...recipient][0]}•••${recipient.slice(at)}`;
}

/** Who a verification belongs to: an interaction, for one purpose; or a user's session. It counts nowhere else. */
type VerificationOwner =
  | { readonly interactionId: string; readonly purpose: InteractionEvent }
  | { readonly userId: string; readonly session: string };

/** A code to send. */
export interface CodeToSend {
  readonly owner: VerificationOwner;
  readonly address: Address;
  /** The user whom the code proves something about, if any: the rules that are in force for them apply. */
  readonly holderId: string | undefined;
  /** What the recipient's limit counts it as. */
  readonly action: MessageTemplate;
  readonly template: MessageTemplate;
  readonly language: Language;
  /** The user who sends it to an address that they do not have: they have a limit of their own. */
  readonly senderId?: string | undefined;
  /** What the message carries: nothing if its template says why there is no code. */
  readonly contentOf: (
    verificationId: string,
    code: string,
  ) => { readonly code?: string; readonly link?: string };
}

/** The result of sending a code, for {@link sentCodeOf}. */
export type Sent =
  | { readonly allowed: true; readonly verification: Verification }
  | Extract<SendingDecision, { allowed: false }>;

/**
 * Sends a code, unless a limit is reached: then `Message.RateLimited` is raised once a window. Earlier codes stay
 * valid, within one budget of attempts. Call it with the owner locked, and let the transaction commit in either case:
 * throwing would roll back the count and the event.
 */
export async function sendCodeWithin(
  tx: Transaction,
  context: VisitContext,
  codePolicy: CodePolicy,
  { owner, address, holderId, action, template, language, senderId, contentOf }: CodeToSend,
): Promise<Sent> {
  const channel = channelOf(address);
  if (senderId !== undefined) {
    const ofSender = await takeSendingBy(tx, context, codePolicy, { action, userId: senderId });
    if (!ofSender.allowed) return ofSender;
  }
  const { recipient } = address;
  const { codePolicy: inForce } = await readSettingsInForce(tx, holderId);
  const ofRecipient = await takeSending(tx, context, inForce, { action, recipient });
  if (!ofRecipient.allowed) return ofRecipient;
  const ofClient = await takeSendingFrom(tx, context, { channel, ip: context.ip });
  if (!ofClient.allowed) return ofClient;
  const after = (seconds: number) => new Date(context.clock.now().getTime() + seconds * 1000);
  // The request shows when this expires, which must not show who holds more rights.
  const verification = await keepVerification(tx, context, inForce, {
    ...owner,
    ...address,
    expiresAt: after(codePolicy.ttlSeconds),
  });
  const expiresAt = after(inForce.ttlSeconds);
  const code = newCode();
  const digest = codeDigest(context, verification.id, code);
  await tx.verificationCode.create({
    data: { verificationId: verification.id, digest, expiresAt },
  });
  await queueMessage(tx, context, {
    channel,
    recipient,
    template,
    language,
    expiresAt,
    ...contentOf(verification.id, code),
  });
  return { allowed: true, verification };
}

/** One verification for each owner and address, until it succeeds or its attempts are used up. */
async function keepVerification(
  tx: Transaction,
  { clock }: VisitContext,
  { maxAttempts }: CodePolicy,
  { expiresAt, ...key }: VerificationOwner & Address & { readonly expiresAt: Date },
): Promise<Verification> {
  const known = await tx.verification.findFirst({
    where: { ...key, verifiedAt: null, attempts: { lt: maxAttempts } },
    select: { id: true },
  });
  const id = known?.id ?? newId('Verification');
  // A new password may just have voided the known one.
  return tx.verification.upsert({
    where: { id },
    create: { id, ...key, createdAt: clock.now(), expiresAt },
    update: { expiresAt },
  });
}

/** A sent code, as the API shows it. */
export interface SentCode {
  readonly id: string;
  /** The address, partly hidden. */
  readonly recipient: string;
  readonly expiresAt: Date;
}

/**
 * A code after {@link sendCodeWithin}, as the API shows it.
 *
 * @throws {RateLimitedError}
 */
export function sentCodeOf(sent: Sent): SentCode {
  if (!sent.allowed) throw new RateLimitedError(sent.retryAfterSeconds);
  return shownCode(sent.verification);
}

/** A verification, as the API shows it. */
export const shownCode = ({ id, type, recipient, expiresAt }: Verification): SentCode => ({
  id,
  recipient: masked({ type, recipient }),
  expiresAt,
});

/**
 * Tries a code, and counts the attempt before it looks. A right code is used up, together with all others of its
 * verification. Call it inside {@link tryGuess}, with the owner locked.
 *
 * @returns The verification, which now counts for as long as that code; null if the code was wrong, late, or beyond the
 *   budget of attempts.
 */
export async function takeCode(
  tx: Transaction,
  context: VisitContext,
  { maxAttempts }: CodePolicy,
  { id, type }: Verification,
  code: string,
): Promise<Verification | null> {
  const now = context.clock.now();
  const [tried] = await tx.verification.updateManyAndReturn({
    where: { id },
    data: { attempts: { increment: 1 } },
  });
  const codes = await tx.verificationCode.findMany({
    where: { verificationId: id, expiresAt: { gt: now } },
  });
  const digest = codeDigest(context, id, code);
  const [right] = codes.filter((one) => timingSafeEqual(one.digest, digest));
  const setterScopes = [...(await readSenderScopes(tx, channelOf({ type })))];
  if (!tried || !right) return null;
  if (tried.verifiedAt !== null || tried.attempts > maxAttempts) return null;
  await tx.verificationCode.deleteMany({ where: { verificationId: id } });
  return tx.verification.update({
    where: { id },
    data: { verifiedAt: now, expiresAt: right.expiresAt, setterScopes },
  });
}

/** Six digits from a cryptographic random number generator. */
const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

/**
 * The stored digest of a code. Uses the verification's id, and a key outside the database: a plain digest of six digits
 * could be reversed by trying all.
 */
const codeDigest = (
  { cipher }: Pick<Services, 'cipher'>,
  verificationId: string,
  code: string,
): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHmac('sha256', cipher.keptKey('verification-code'))
      .update(`${verificationId}:${withoutSeparators(code)}`)
      .digest(),
  );
