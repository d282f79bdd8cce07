import {
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
} from '@simplewebauthn/server';
import { z } from 'zod';
import { lockUser } from '../../db/lock.ts';
import type { Transaction } from '../../db/transaction.ts';
import { updateUserRow } from '../../db/user-row.ts';
import { NotAllowedError, VerificationFailedError } from '../../errors.ts';
import { recordEvent } from '../../events/record.ts';
import type { User, UserFactor } from '../../generated/prisma/client.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import type { Context, Services } from '../../services.ts';
import { userRecord } from '../../users/payload.ts';
import { issueChallenge, takeChallenge } from './challenges.ts';
import { algorithms, ceremonySeconds, relyingPartyOf, userHandleOf } from './relying-party.ts';
import { encoded, readClientData, readRegistration } from './responses.ts';
import { type NewPasskey, PasskeyRefused, verifyRegistration } from './verify.ts';

/** The most passkeys of one person. All are named in the options of a sign-in, and of an enrolment. */
export const maxPasskeys = 32;

/** Who enrols a passkey, and in which interaction or session. */
export interface Enrollment {
  /** The id of the interaction or of the session. The same one must confirm. */
  readonly holder: string;
  readonly userId: string;
}

/**
 * Begins to enrol a passkey: makes the options of `navigator.credentials.create()`, as
 * `PublicKeyCredential.parseCreationOptionsFromJSON()` takes them (WebAuthn Level 3 §5.1.8).
 *
 * @param productName What the authenticator shows as the name of the service.
 * @throws {NotAllowedError} when the person has {@link maxPasskeys}.
 */
export async function startPasskeyEnrollment(
  tx: Transaction,
  services: Pick<Services, 'clock' | 'baseUrl'>,
  { holder, user, productName }: { holder: string; user: User; productName: string },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const known = await listPasskeys(tx, user.id);
  assertRoom(known.length);
  const challenge = await issueChallenge(tx, services, {
    holder,
    isEnrollment: true,
    userId: user.id,
  });
  const account = user.username ?? user.primaryEmail ?? user.primaryPhone ?? user.id;
  return generateRegistrationOptions({
    rpName: productName,
    rpID: relyingPartyOf(services).id,
    userID: userHandleOf(user.id),
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
  name: text(128)
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
 * Stores a passkey that was verified. Raises `User.Data.Updated`.
 *
 * @throws {NotFoundError} of the user; {@link NotAllowedError} when there are {@link maxPasskeys};
 *   {@link VerificationFailedError} when somebody has this passkey already.
 */
export async function addPasskey(
  tx: Transaction,
  context: Context,
  userId: string,
  { isUserVerified: _shown, ...passkey }: NewPasskey,
  name: string | null,
): Promise<UserFactor> {
  await lockUser(tx, userId);
  assertRoom((await listPasskeys(tx, userId)).length);
  const from = await factorTypes(tx, userId);
  const id = newId('UserFactor');
  const now = context.clock.now();
  // An id that is taken must not end the transaction in a fault.
  const { count } = await tx.userFactor.createMany({
    data: { id, userId, type: 'PASSKEY', name, ...passkey, createdAt: now },
    skipDuplicates: true,
  });
  if (count === 0) throw new VerificationFailedError();
  const user = await updateUserRow(tx, userId, { updatedAt: now });
  const changes = { factors: { from, to: [...from, 'PASSKEY'] } };
  await recordEvent(tx, context, 'User.Data.Updated', { ...userRecord(user), changes });
  return tx.userFactor.findUniqueOrThrow({ where: { id } });
}

async function factorTypes(tx: Transaction, userId: string): Promise<UserFactor['type'][]> {
  const factors = await tx.userFactor.findMany({
    where: { userId },
    orderBy: { id: 'asc' },
    select: { type: true },
  });
  return factors.map(({ type }) => type);
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
