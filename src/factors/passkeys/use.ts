import {
  generateAuthenticationOptions,
  type PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { Transaction } from '../../db/transaction.ts';
import { NotAllowedError } from '../../errors.ts';
import type { User } from '../../generated/prisma/client.ts';
import { type Failed, suspended } from '../../protection/attempts.ts';
import type { Context, Services } from '../../services.ts';
import { type ChallengePurpose, issueChallenge, takeChallenge } from './challenges.ts';
import { descriptorOf, listPasskeys, type Passkey } from './enroll.ts';
import { ceremonySeconds, relyingPartyOf, userHandleOf } from './relying-party.ts';
import { type AuthenticationResponse, bytesOf, encoded, readClientData } from './responses.ts';
import { PasskeyRefused, type PasskeyUse, verifyAuthentication } from './verify.ts';

/** Who must show a passkey, and in which interaction or session. */
export interface PasskeyRequest {
  readonly holder: string;
  /** Null while nobody is known: any passkey will do, and it must verify the person. */
  readonly userId: string | null;
}

/**
 * Makes the options of `navigator.credentials.get()` (WebAuthn Level 3 §5.1.8). While nobody is known they name no
 * passkey, so they reveal nothing about an account.
 *
 * @throws {NotAllowedError} when the known person has none.
 */
export async function startPasskeyUse(
  tx: Transaction,
  services: Pick<Services, 'clock' | 'baseUrl'>,
  { holder, userId }: PasskeyRequest,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const passkeys = userId === null ? [] : await listPasskeys(tx, userId);
  if (userId !== null && passkeys.length === 0)
    throw new NotAllowedError('This person has no passkey.');
  const challenge = await issueChallenge(tx, services, { holder, userId, isEnrollment: false });
  const options = await generateAuthenticationOptions({
    rpID: relyingPartyOf(services).id,
    challenge,
    timeout: ceremonySeconds * 1000,
    // For a second factor a touch is enough: the first one identified the person.
    userVerification: userId === null ? 'required' : 'discouraged',
  });
  return {
    ...options,
    allowCredentials: passkeys.map((passkey) => ({
      ...descriptorOf(passkey),
      type: 'public-key' as const,
    })),
  } as PublicKeyCredentialRequestOptionsJSON;
}

/** A passkey and the person it belongs to. */
export type OwnedPasskey = Passkey & { readonly user: User };

/** The passkey that a response names; null if nobody has it. */
export async function findPasskey(
  { prisma }: Services['database'],
  { id }: AuthenticationResponse,
): Promise<OwnedPasskey | null> {
  const found = await prisma.userFactor.findUnique({
    where: { credentialId: bytesOf(id) },
    include: { user: true },
  });
  return found?.type === 'PASSKEY' ? (found as OwnedPasskey) : null;
}

/**
 * Verifies the use of a passkey, and uses its challenge up, whether or not the response is right. Never call it inside
 * a transaction; {@link recordPasskeyUse} stores the result.
 *
 * @param passkey The passkey that the response names; null if nobody has it.
 * @returns Null if it proves nothing, and {@link suspended} if only that is why; the log has the reason.
 */
export async function verifyPasskeyUse(
  services: Pick<Services, 'database' | 'clock' | 'baseUrl' | 'log'>,
  { holder, userId }: PasskeyRequest,
  response: AuthenticationResponse,
  passkey: OwnedPasskey | null,
): Promise<PasskeyUse | Failed> {
  const purpose: ChallengePurpose = { holder, userId, isEnrollment: false };
  const about = { userId: passkey?.userId, factorId: passkey?.id };
  try {
    const challenge = readClientData(response.response.clientDataJSON)?.challenge;
    if (!challenge) throw new PasskeyRefused('it answers no challenge');
    if (!(await takeChallenge(services, challenge, purpose)))
      throw new PasskeyRefused('the challenge is unknown, expired or used');
    const { publicKey, isBackupEligible, user } = ownPasskey(passkey, userId, response);
    const stored = { publicKey, isBackupEligible: isBackupEligible === true };
    const use = await verifyAuthentication(
      relyingPartyOf(services),
      encoded(challenge),
      response,
      stored,
      { requireUserVerification: userId === null },
    );
    if (!user.isSuspended) return use;
    services.log.info(about, 'a passkey of a suspended user was refused');
    return suspended;
  } catch (error) {
    if (!(error instanceof PasskeyRefused)) throw error;
    services.log.info({ ...about, reason: error.message }, 'a passkey was refused');
    return null;
  }
}

/** The passkey, if it is the known person's, or that of the person whom the authenticator names (§7.2, step 6). */
function ownPasskey(
  passkey: OwnedPasskey | null,
  userId: string | null,
  { response: { userHandle } }: AuthenticationResponse,
): OwnedPasskey {
  if (!passkey) throw new PasskeyRefused('nobody has this passkey');
  if (userId !== null && passkey.userId !== userId)
    throw new PasskeyRefused('the passkey is that of another user');
  // Required while nobody is known, and optional after that.
  const isNamed = userHandle == null ? userId !== null : userHandle === handleOf(passkey);
  if (!isNamed) throw new PasskeyRefused('the user handle is that of another user');
  return passkey;
}

const handleOf = ({ userId }: Passkey): string => encoded(userHandleOf(userId));

/**
 * Stores the use of a passkey, if the counter of its signatures went forward, or is not used at all (both zero,
 * §6.1.1). One statement compares and writes: of two uses with one count, one is refused, on all nodes.
 *
 * @returns False if the counter went back, as that of a copied authenticator does, or the passkey was deleted.
 */
export async function recordPasskeyUse(
  tx: Transaction,
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  { id, userId }: Passkey,
  { signCount, isBackedUp }: PasskeyUse,
): Promise<boolean> {
  const { count } = await tx.userFactor.updateMany({
    where: { id, signCount: signCount === 0n ? 0n : { lt: signCount } },
    data: { signCount, isBackedUp, lastUsedAt: clock.now() },
  });
  if (count === 0) {
    const given = Number(signCount);
    log.warn({ factorId: id, userId, given }, "a passkey's counter went back, or it was deleted");
  }
  return count === 1;
}

/**
 * The authentication methods of a passkey (RFC 8176): its key is bound to one device or can be copied in software, the
 * person touched it, and with verification it is two factors in one.
 */
export const methodsOfPasskey = ({ isBackupEligible }: Pick<Passkey, 'isBackupEligible'>) => [
  isBackupEligible ? 'swk' : 'hwk',
  'user',
];
