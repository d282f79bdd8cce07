import { randomUUID } from 'node:crypto';
import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type ProtectedHeaderParameters,
  UnsecuredJWT,
} from 'jose';
import { type Clock, toNumericDate } from '../clock.ts';
import { signCompact, verifyCompact } from '../keys/compact-jws.ts';
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

// RFC 9068 §2.1
const accessTokenTyp = 'at+jwt';
const unsecuredHeader = Buffer.from('{"alg":"none"}').toString('base64url');

type Verifier = { keys: SigningKeys; issuer: string; clock: Clock };

/** A token's `jti`: a UUIDv7, so it tells the millisecond it was issued in, where `iat` tells the second. */
export function newJti(at: Date): string {
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
  return signCompact(
    { algorithm, key: privateKey },
    { alg: algorithm, typ: accessTokenTyp, kid },
    claims,
  );
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
  const payload = await verifySignature(keys, token);
  let claims: JWTPayload;
  try {
    // Of an unsecured JWT jose checks the claims alone; the signature held.
    ({ payload: claims } = UnsecuredJWT.decode(`${unsecuredHeader}.${payload}.`, {
      issuer,
      currentDate: clock.now(),
      requiredClaims: ['sub', 'aud', 'client_id', 'iat', 'exp', 'jti'],
      ...options,
    }));
  } catch (error) {
    throw describeFault(error);
  }
  const { sub, aud, client_id: clientId, jti } = claims;
  if ([sub, aud, clientId, jti].some((claim) => typeof claim !== 'string' || claim === '')) {
    throw new TokenFault('malformed token');
  }
  return claims as AccessTokenClaims;
}

/** Returns the payload, still encoded, of a JWS that one of our keys signed as an access token. */
async function verifySignature(keys: SigningKeys, token: string): Promise<string> {
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token);
  if (!parts) throw new TokenFault('malformed token');
  const [, encodedHeader = '', payload = '', signature = ''] = parts;
  let header: ProtectedHeaderParameters;
  try {
    header = decodeProtectedHeader(token);
  } catch (error) {
    throw describeFault(error);
  }
  const { alg, kid, typ, crit } = header;
  // No extension is understood here, so none can be critical (RFC 7515 §4.1.11).
  if (crit !== undefined) throw new TokenFault('malformed token');
  const known = typeof kid === 'string' ? await keys.publicKey(kid) : undefined;
  // A header decides which key, never which algorithm (RFC 8725 §3.1).
  if (!known || known.algorithm !== alg) throw new TokenFault('unknown signing key');
  if (!(await verifyCompact(known, `${encodedHeader}.${payload}`, signature))) {
    throw new TokenFault('invalid signature');
  }
  if (typ !== accessTokenTyp) throw new TokenFault('not an access token');
  return payload;
}

function describeFault(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return new TokenFault('token expired', { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    const faults: Record<string, string> = {
      iss: 'unknown issuer',
      aud: 'wrong audience',
      nbf: 'token not yet valid',
    };
    return new TokenFault(faults[error.claim] ?? 'not an access token', { cause: error });
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
