import { randomUUID } from 'node:crypto';
import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type ProtectedHeaderParameters,
  UnsecuredJWT,
} from 'jose';
import { type Clock, toNumericDate } from '../clock.ts';
import { signCompact, splitCompact, verifyCompact } from '../keys/compact-jws.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';

/** The claims of an access token that Signet issued (RFC 9068 §2.2). */
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
  /** The grant it was issued under, and the `jti`s of the tokens it was exchanged from. It ends with any of them. */
  readonly lineage?: readonly string[];
}

/** The actor, and the actors before it (RFC 8693 §4.1). */
export interface ActClaim {
  readonly sub: string;
  readonly act?: ActClaim;
}

/** The token cannot be accepted; the message names the class of fault. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
}

// RFC 9068 §2.1
const accessTokenTyp = 'at+jwt';
const unsecuredHeader = Buffer.from('{"alg":"none"}').toString('base64url');

type Verifier = { keys: SigningKeys; issuer: string; clock: Clock };

/** A token's `jti`: a UUIDv7. It holds the millisecond of issue; `iat` holds only the second. */
export function newJti(at: Date): string {
  const milliseconds = at.getTime().toString(16).padStart(12, '0');
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8)}-7${randomUUID().slice(15)}`;
}

/** The instant of issue, to the millisecond if the `jti` holds it. */
export function issuedAt(claims: Pick<AccessTokenClaims, 'jti' | 'iat'>): Date {
  const isUuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/.test(claims.jti);
  return new Date(
    isUuidV7 ? Number.parseInt(claims.jti.slice(0, 13).replace('-', ''), 16) : claims.iat * 1000,
  );
}

/** The ids that end a token when one of them is revoked: its own `jti`, and all that it came from. */
export const revocableIds = ({
  jti,
  lineage = [],
}: Pick<AccessTokenClaims, 'jti' | 'lineage'>): string[] => [jti, ...lineage];

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
 * Checks that an access token is from Signet and in force: signature, `typ`, `iss`, `exp`, `nbf` and the claims that
 * RFC 9068 §2.2 requires. Reads the database only for an unknown `kid`.
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
    // The signature is already verified. For an unsecured JWT, jose checks only the claims.
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

/** Returns the payload, still encoded, of a JWS that a key of Signet signed as an access token. */
async function verifySignature(keys: SigningKeys, token: string): Promise<string> {
  const parts = splitCompact(token);
  if (!parts) throw new TokenFault('malformed token');
  const { text, payload, signature } = parts;
  let header: ProtectedHeaderParameters;
  try {
    header = decodeProtectedHeader(token);
  } catch (error) {
    throw describeFault(error);
  }
  const { alg, kid, typ, crit } = header;
  // Signet understands no extensions, so a token with a critical one is refused (RFC 7515 §4.1.11).
  if (crit !== undefined) throw new TokenFault('malformed token');
  const known = typeof kid === 'string' ? await keys.publicKey(kid) : undefined;
  // The header chooses the key, never the algorithm (RFC 8725 §3.1).
  if (!known || known.algorithm !== alg) throw new TokenFault('unknown signing key');
  if (!(await verifyCompact(known, text, signature))) {
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

/** The lifetime, in seconds, of a token that lives `ttlSeconds` but not past `notAfter`. */
export function lifetime(clock: Clock, ttlSeconds: number, notAfter = Number.POSITIVE_INFINITY) {
  const iat = toNumericDate(clock.now());
  const exp = Math.min(iat + ttlSeconds, notAfter);
  return { iat, exp, expiresIn: exp - iat };
}
