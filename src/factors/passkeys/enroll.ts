import {
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
} from '@simplewebauthn/server';
import { z } from 'zod';
import type { Told } from '../../db/told.ts';
import type { Transaction } from '../../db/transaction.ts';
import { NotAllowedError, VerificationFailedError } from '../../errors.ts';
import type { UserFactor } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { composedText, parseInput } from '../../input.ts';
import type { Language } from '../../languages.ts';
import type { Context, Services } from '../../services.ts';
import { readSettingsInForce } from '../../sign-in-experience/in-force.ts';
import { changeFactors } from '../change.ts';
import { assertOffered } from '../policy.ts';
import { issueChallenge, takeChallenge } from './challenges.ts';
import { algorithms, ceremonySeconds, relyingPartyOf, userHandleOf } from './relying-party.ts';
import { encoded, readClientData, readRegistration } from './responses.ts';
import { type NewPasskey, PasskeyRefused, verifyRegistration } from './verify.ts';

/** How many passkeys a person can have. The options of a sign-in and of an enrolment name all of them. */
const maxPasskeys = 15;

/** Who enrols a passkey, and where. */
export interface Enrollment {
  /** The id of the interaction or of the session. Only the same one can confirm. */
  readonly holder: string;
  readonly userId: string;
}

/**
 * Begins to enrol a passkey: makes the options of `navigator.credentials.create()`, as
 * `PublicKeyCredential.parseCreationOptionsFromJSON()` takes them (WebAuthn Level 3 §5.1.8).
 *
 * @throws {NotAllowedError} when the settings do not offer passkeys, or the person has {@link maxPasskeys}.
 */
export async function startPasskeyEnrollment(
  tx: Transaction,
  services: Pick<Services, 'clock' | 'baseUrl'>,
  { holder, userId }: Enrollment,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const settings = await readSettingsInForce(tx, userId);
  assertOffered(settings, 'PASSKEY');
  const known = await listPasskeys(tx, userId);
  assertRoom(known.length);
  const challenge = await issueChallenge(tx, services, { holder, userId, isEnrollment: true });
  const user = await tx.user.findUniqueOrThrow({ where: { id: userId } });
  const account = user.username ?? user.primaryEmail ?? user.primaryPhone ?? userId;
  return generateRegistrationOptions({
    rpName: settings.branding.productName,
    rpID: relyingPartyOf(services).id,
    userID: userHandleOf(userId),
    userName: account,
    userDisplayName: user.name ?? account,
    challenge,
    timeout: ceremonySeconds * 1000,
    attestationType: 'none',
    excludeCredentials: known.map(descriptorOf),
    // Preferred and not required: a security key that has no room, or no PIN, is still a good second factor.
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    supportedAlgorithmIDs: [...algorithms],
  });
}

/**
 * Verifies the response to {@link startPasskeyEnrollment}, and uses its challenge up. Never call it inside a
 * transaction; {@link addPasskey} stores the result.
 *
 * @throws {InvalidInputError} on a malformed response; {@link VerificationFailedError}
 */
export async function verifyEnrollment(
  services: Pick<Services, 'database' | 'clock' | 'baseUrl' | 'log'>,
  { holder, userId }: Enrollment,
  given: unknown,
): Promise<NewPasskey> {
  const response = readRegistration(given);
  try {
    const challenge = readClientData(response.response.clientDataJSON)?.challenge;
    if (!challenge) throw new PasskeyRefused('it answers no challenge');
    if (!(await takeChallenge(services, challenge, { holder, userId, isEnrollment: true })))
      throw new PasskeyRefused('the challenge is unknown, expired or used');
    return await verifyRegistration(relyingPartyOf(services), encoded(challenge), response);
  } catch (error) {
    if (!(error instanceof PasskeyRefused)) throw error;
    services.log.info({ userId, reason: error.message }, 'a new passkey was refused');
    throw new VerificationFailedError();
  }
}

const nameInput = z.object({
  name: composedText(128)
    .trim()
    .nullish()
    .transform((given) => given || null),
});

/**
 * Reads the name that a person gives to a passkey; null without one.
 *
 * @throws {InvalidInputError}
 */
export const readPasskeyName = (name: unknown): string | null =>
  parseInput(nameInput, { name }).name;

/**
 * Stores a passkey that was verified. Raises `User.Data.Updated` and `User.Credential.Updated`, and tells the
 * person by message.
 *
 * @throws {NotFoundError} of the user; {@link NotAllowedError} when there are too many, or the settings no longer offer
 *   passkeys; {@link VerificationFailedError} when somebody has this passkey already.
 */
export async function addPasskey(
  tx: Transaction,
  context: Context,
  { userId, language }: Pick<Enrollment, 'userId'> & { readonly language?: Language | undefined },
  { isUserVerified: _shown, ...passkey }: NewPasskey,
  name: string | null,
): Promise<Told<UserFactor>> {
  assertOffered(await readSettingsInForce(tx, userId), 'PASSKEY');
  return changeFactors(tx, context, { userId, language, notice: 'FACTOR_ADDED' }, async () => {
    assertRoom((await listPasskeys(tx, userId)).length);
    const id = newId('UserFactor');
    // An id that is taken must not end the transaction in a fault.
    const { count } = await tx.userFactor.createMany({
      data: { id, userId, type: 'PASSKEY', name, ...passkey, createdAt: context.clock.now() },
      skipDuplicates: true,
    });
    if (count === 0) throw new VerificationFailedError();
    return tx.userFactor.findUniqueOrThrow({ where: { id } });
  });
}

/** A stored passkey. */
export type Passkey = UserFactor & {
  readonly type: 'PASSKEY';
  readonly credentialId: Uint8Array<ArrayBuffer>;
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly signCount: bigint;
};

/** A person's passkeys, the oldest first. */
export async function listPasskeys(
  client: Pick<Transaction, 'userFactor'>,
  userId: string,
): Promise<Passkey[]> {
  const found = await client.userFactor.findMany({
    where: { userId, type: 'PASSKEY', credentialId: { not: null } },
    orderBy: { id: 'asc' },
  });
  return found as Passkey[];
}

/** A passkey as options name it (`PublicKeyCredentialDescriptorJSON`, §5.8.3). */
export const descriptorOf = ({ credentialId, transports }: Passkey) => ({
  id: encoded(credentialId),
  transports,
});

function assertRoom(count: number): void {
  if (count >= maxPasskeys)
    throw new NotAllowedError(`Nobody can have more than ${maxPasskeys} passkeys.`);
}
