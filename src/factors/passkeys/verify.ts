import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoCBOR } from '@simplewebauthn/server/helpers';
import { algorithms, type RelyingParty } from './relying-party.ts';
import {
  type AuthenticationResponse,
  bytesOf,
  encoded,
  type RegistrationResponse,
  readClientData,
} from './responses.ts';

/** A passkey as an authenticator has just made it. */
export interface NewPasskey {
  readonly credentialId: Uint8Array<ArrayBuffer>;
  /** A COSE_Key (RFC 9052 §7). */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  readonly signCount: bigint;
  readonly transports: string[];
  /** Whether it may be copied to other devices. */
  readonly isBackupEligible: boolean;
  readonly isBackedUp: boolean;
  /** Whether the authenticator verified the person, by a PIN or a fingerprint for example. */
  readonly isUserVerified: boolean;
}

/** What the use of a passkey showed. */
export interface PasskeyUse {
  readonly signCount: bigint;
  readonly isBackedUp: boolean;
  readonly isUserVerified: boolean;
}

/** A response that proves nothing. The message is for the log; it may quote what was sent. */
export class PasskeyRefused extends Error {
  override readonly name = 'PasskeyRefused';
}

/**
 * Verifies the making of a passkey (WebAuthn Level 3 §7.1). No attestation is asked for, so a statement by a
 * manufacturer is not looked at; a signature of the passkey itself is.
 *
 * @param challenge The challenge that was issued for it, in base64url.
 * @throws {PasskeyRefused}
 */
export async function verifyRegistration(
  { id, origin }: RelyingParty,
  challenge: string,
  { response, ...credential }: RegistrationResponse,
): Promise<NewPasskey> {
  assertSameOrigin(response.clientDataJSON);
  const { verified, registrationInfo } = await refusing(async () =>
    verifyRegistrationResponse({
      response: {
        ...credential,
        clientExtensionResults: {},
        response: {
          clientDataJSON: response.clientDataJSON,
          attestationObject: withoutCertificates(response.attestationObject),
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: false,
      supportedAlgorithmIDs: [...algorithms],
    }),
  );
  if (!verified) throw new PasskeyRefused('the statement about the passkey is not right');
  const made = registrationInfo.credential;
  // The outer id is what the browser says, and nothing signs it.
  if (made.id !== credential.id) throw new PasskeyRefused('the ids of the passkey differ');
  return {
    credentialId: bytesOf(made.id),
    publicKey: new Uint8Array(made.publicKey),
    signCount: BigInt(made.counter),
    transports: response.transports ?? [],
    isBackupEligible: registrationInfo.credentialDeviceType === 'multiDevice',
    isBackedUp: registrationInfo.credentialBackedUp,
    isUserVerified: registrationInfo.userVerified,
  };
}

/** A stored passkey, as far as its use needs it. */
export interface StoredPasskey {
  readonly publicKey: Uint8Array;
  readonly isBackupEligible: boolean;
}

/**
 * Verifies the use of a passkey (WebAuthn Level 3 §7.2), except for the counter of its signatures (step 22): that is
 * compared where it is written, so that two uses at once cannot both be the next.
 *
 * @param challenge The challenge that was issued for it, in base64url.
 * @throws {PasskeyRefused}
 */
export async function verifyAuthentication(
  { id, origin }: RelyingParty,
  challenge: string,
  { response, ...credential }: AuthenticationResponse,
  { publicKey, isBackupEligible }: StoredPasskey,
  { requireUserVerification }: { requireUserVerification: boolean },
): Promise<PasskeyUse> {
  assertSameOrigin(response.clientDataJSON);
  const { clientDataJSON, authenticatorData, signature } = response;
  const { verified, authenticationInfo: used } = await refusing(() =>
    verifyAuthenticationResponse({
      response: {
        ...credential,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      credential: { id: credential.id, publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification,
    }),
  );
  if (!verified) throw new PasskeyRefused('the signature is not right');
  if ((used.credentialDeviceType === 'multiDevice') !== isBackupEligible)
    throw new PasskeyRefused('the passkey changed whether it may be copied');
  return {
    signCount: BigInt(used.newCounter),
    isBackedUp: used.credentialBackedUp,
    isUserVerified: used.userVerified,
  };
}

// No other site may frame these pages, so none can have asked (§13.4.9).
function assertSameOrigin(clientDataJSON: string): void {
  if (readClientData(clientDataJSON)?.isCrossOrigin !== false)
    throw new PasskeyRefused('the page is framed by another site');
}

/**
 * An attestation object with the statement that a browser leaves in when none was asked for (§5.1.3): a signature of
 * the passkey itself, or nothing. Certificates would have to be traced, and their lists of revocations fetched from
 * wherever they say.
 */
function withoutCertificates(attestationObject: string): string {
  const object = decodeAttestationObject(bytesOf(attestationObject));
  const format = object.get('fmt');
  const isBare =
    format === 'none' || (format === 'packed' && object.get('attStmt').get('x5c') === undefined);
  if (isBare) return attestationObject;
  const bare = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', object.get('authData')],
  ]);
  return encoded(isoCBOR.encode(bare as Parameters<typeof isoCBOR.encode>[0]));
}

// The library throws plain errors and, on malformed bytes, whatever its parsers meet.
async function refusing<T>(verify: () => Promise<T>): Promise<T> {
  try {
    return await verify();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown';
    throw new PasskeyRefused(reason.slice(0, 200), { cause });
  }
}
