import { randomUUID } from 'node:crypto';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { type Clock, toNumericDate } from '../clock.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';

/** A claim set of an access token that Signet issued (RFC 9068 §2.2). */
export interface AccessTokenClaims extends JWTPayload {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly client_id: string;
  readonly scope?: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly act?: ActClaim;
  readonly organization_id?: string;
}

/** Who acts, and for whom they acted before (RFC 8693 §4.1). */
export interface ActClaim {
  readonly sub: string;
  readonly act?: ActClaim;
}

/** Why a token is none that can be accepted; the message names the class of fault. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
}

type Verifier = { keys: SigningKeys; issuer: string; clock: Clock };

/** A token's `jti`: a UUIDv7, so it tells the millisecond it was issued in, where `iat` tells the second. */
export function newJti(at: Date = new Date()): string {
  const milliseconds = at.getTime().toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7${randomUUID().slice(15)}`;
}

/** The instant a token was issued, to the millisecond where its `jti` tells it. */
export function issuedAt(claims: Pick<AccessTokenClaims, 'jti' | 'iat'>): Date {
  const isUuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(claims.jti);
  return new Date(
    isUuidV7 ? Number.parseInt(claims.jti.slice(0, 13).replace('-', ''), 16) : claims.iat * 1000,
  );
}

/** Signs an access token with the current key (RFC 9068 §2.1). */
export async function signAccessToken(
  keys: SigningKeys,
  claims: AccessTokenClaims,
): Promise<string> {
  const { algorithm, kid, privateKey } = keys.current();
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid })
    .sign(privateKey);
}

/**
 * Checks that an access token is one of ours and in force: signature, `typ`, `iss`, `exp`, `nbf` and the claims
 * that RFC 9068 §2.2 requires. Needs no database but for a `kid` never seen.
 *
 * @throws {TokenFault} with the class of fault.
 */
export async function verifyAccessToken(
  { keys, issuer, clock }: Verifier,
  token: string,
  options: { audience?: string } = {},
): Promise<AccessTokenClaims> {
  let payload: JWTPayload;
  try {
    ({ payload } = await jwtVerify(
      token,
      async ({ kid, alg }) => {
        const known = kid === undefined ? undefined : await keys.publicKey(kid);
        // A header decides which key, never which algorithm (RFC 8725 §3.1).
        if (!known || known.algorithm !== alg) throw new TokenFault('unknown signing key');
        return known.key;
      },
      {
        issuer,
        typ: 'at+jwt',
        currentDate: clock.now(),
        requiredClaims: ['sub', 'aud', 'client_id', 'iat', 'exp', 'jti'],
        ...options,
      },
    ));
  } catch (error) {
    throw error instanceof TokenFault ? error : describeFault(error);
  }
  const { sub, aud, client_id: clientId, jti } = payload;
  if ([sub, aud, clientId, jti].some((claim) => typeof claim !== 'string' || claim === '')) {
    throw new TokenFault('malformed token');
  }
  return payload as AccessTokenClaims;
}

function describeFault(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return new TokenFault('token expired', { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    const faults: Record<string, string> = {
      typ: 'not an access token',
      iss: 'unknown issuer',
      aud: 'wrong audience',
      nbf: 'token not yet valid',
    };
    return new TokenFault(faults[error.claim] ?? 'not an access token', { cause: error });
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new TokenFault('invalid signature', { cause: error });
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) {
    return new TokenFault('malformed token', { cause: error });
  }
  return error;
}

/** Seconds from now until a token that lives `ttlSeconds`, but no longer than `notAfter`, expires. */
export function lifetime(clock: Clock, ttlSeconds: number, notAfter = Number.POSITIVE_INFINITY) {
  const iat = toNumericDate(clock.now());
  const exp = Math.min(iat + ttlSeconds, notAfter);
  return { iat, exp, expiresIn: exp - iat };
}
