import { randomUUID } from 'node:crypto';
import {
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type ProtectedHeaderParameters,
  UnsecuredJWT,
} from 'jose';
import { type Clock, toNumericDate } from '../clock.ts';
import { idForQuery } from '../ids.ts';
import { signCompact, splitCompact, verifyCompact } from '../keys/compact-jws.ts';
import { digestOf } from '../keys/digest.ts';
import type { ResourceAlgorithms, SigningKeys } from '../keys/signing-keys.ts';

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
  /** Who alone may be the actor of what is exchanged from it (RFC 8693 §4.4); absent: whoever may exchange it. */
  readonly may_act?: MayActClaim;
  readonly organization_id?: string;
  /** The thumbprint of the key that it is bound to (RFC 9449 §6.1); absent: it is a bearer token. */
  readonly cnf?: { readonly jkt: string };
  /**
   * What the token came from. Each of these ends the token: the grant it was issued under, the `jti`s of the tokens it
   * was exchanged from, and the application that had the first of them; then the same of its actor's token. A token by
   * the assertion of a trusted issuer has no grant, but the issuer, and for a user the consent or {@link ownReference}.
   * In the JWT it has the names of {@link lineageClaims}.
   */
  readonly lineage?: readonly string[];
}

/** The name of the lineage in a JWT, which is nobody else's (RFC 7519 §4.2). */
const lineageClaim = 'urn:signet:lineage';

/**
 * The lineage as the claims of a JWT. Nodes of the version before know the second name alone: without it, they would take
 * a token for one that came from nothing, and had no bounds.
 */
export const lineageClaims = (lineage: readonly string[]): Readonly<Record<string, unknown>> => ({
  [lineageClaim]: lineage,
  lineage,
});

/** The claims of a JWT, with its lineage, by whichever name. */
export const withLineage = ({ [lineageClaim]: lineage, ...claims }: JWTPayload): JWTPayload =>
  lineage === undefined ? claims : { ...claims, lineage };

/** Claims of a token whose signature was not verified yet. */
export type Unproved<Claim extends keyof AccessTokenClaims> = Readonly<
  Partial<Record<Claim, unknown>>
>;

/** The actor, and the actors before it (RFC 8693 §4.1). */
export interface ActClaim {
  readonly sub: string;
  /** The application that had the actor's token; absent if the actor is an application that needed none. */
  readonly client_id?: string;
  readonly act?: ActClaim;
}

/** Who may act: each claim is one of the actor's (RFC 8693 §4.4). */
export interface MayActClaim {
  readonly sub?: string;
  readonly client_id?: string;
}

/** The token cannot be accepted; the message names the class of fault. */
export class TokenFault extends Error {
  override readonly name = 'TokenFault';
}

// RFC 9068 §2.1
const accessTokenTyp = 'at+jwt';
const unsecuredHeader = Buffer.from('{"alg":"none"}').toString('base64url');

type Verifier = { keys: SigningKeys; issuer: string; clock: Clock };

/**
 * The `iat` of an access token that is issued at an instant: a whole second, one to two seconds back. Verifiers without
 * leeway refuse a token from what is the future by their clock. The instant itself is in the `jti`.
 */
export const iatOf = (at: Date): number => toNumericDate(at) - 1;

/** A token's `jti`: a UUIDv7. It holds the millisecond of issue, by which tokens are compared with what ends them. */
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

/**
 * Stands in a lineage for a user whose token was an actor's: it is revoked when all tokens of that user end, and the next
 * ones have another. It shows nobody when that was.
 *
 * @param tokensValidAfter When they ended last.
 */
export const actingReference = (userId: string, tokensValidAfter: Date | null): string =>
  referenceOf(`${userId} ${tokensValidAfter?.getTime()}`);

/**
 * Stands in a lineage for an application of the operator's own, which needed no consent: it is revoked for as long as the
 * application is a third party's.
 */
export const ownReference = (applicationId: string): string => referenceOf(`${applicationId} own`);

const referenceOf = (text: string): string => Buffer.from(digestOf(text)).toString('base64url');

/** The ids that end a token when one of them is revoked: its own `jti`, and all that it came from. */
export const revocableIds = ({
  jti,
  lineage = [],
}: Pick<AccessTokenClaims, 'jti' | 'lineage'>): string[] => [jti, ...lineage];

/**
 * The applications that end a token when one of them is deleted: its own, those that exchanged the tokens it came from
 * or had the actors' tokens, and the one that had the first token. None, which no token has, if its own is no application.
 */
export function applicationsOf({
  client_id: clientId,
  act,
  lineage,
}: Unproved<'client_id' | 'act' | 'lineage'>): string[] {
  if (idForQuery(clientId, 'Application') === null) return [];
  const named: unknown[] = [clientId, ...(Array.isArray(lineage) ? lineage : [])];
  for (let actor = act; typeof actor === 'object' && actor !== null; ) {
    const { sub, client_id: had, act: earlier }: Unproved<'sub' | 'client_id' | 'act'> = actor;
    named.push(sub, had);
    actor = earlier;
  }
  return [...new Set(named)].flatMap((id) => idForQuery(id, 'Application') ?? []);
}

/**
 * Signs an access token (RFC 9068 §2.1).
 *
 * @param resource How tokens for its resource are signed; by default with the current key.
 */
export async function signAccessToken(
  keys: SigningKeys,
  { lineage, ...claims }: AccessTokenClaims,
  resource?: ResourceAlgorithms,
): Promise<string> {
  const { algorithm, kid, privateKey } = resource ? keys.signerFor(resource) : keys.current();
  return signCompact(
    { algorithm, key: privateKey },
    { alg: algorithm, typ: accessTokenTyp, kid },
    lineage === undefined ? claims : { ...claims, ...lineageClaims(lineage) },
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
  const payload = await verifyOwnJwt({ keys, issuer, clock }, token, {
    isType: (typ) => typ === accessTokenTyp,
    otherType: 'not an access token',
    requiredClaims: ['sub', 'aud', 'client_id', 'iat', 'exp', 'jti'],
    ...options,
  });
  const claims = withLineage(payload);
  const { sub, aud, client_id: clientId, jti, lineage = [], cnf } = claims;
  // Nothing that is bound in a way that is not known here may pass as a bearer token.
  if (cnf !== undefined && !isText((cnf as { readonly jkt?: unknown } | null)?.jkt))
    throw new TokenFault('malformed token');
  if (!Array.isArray(lineage) || ![sub, aud, clientId, jti, ...lineage].every(isText)) {
    throw new TokenFault('malformed token');
  }
  return claims as AccessTokenClaims;
}

/**
 * Checks that a JWT is from Signet, of one type, and in force: signature, `typ`, `iss`, `exp` and `nbf`. Reads the
 * database only for an unknown `kid`.
 *
 * @throws {TokenFault} with the class of fault.
 */
export async function verifyOwnJwt(
  { keys, issuer, clock }: Verifier,
  token: string,
  {
    isType,
    otherType,
    ...expected
  }: {
    readonly isType: (typ: string | undefined) => boolean;
    /** The fault of a token that is of another type. */
    readonly otherType: string;
    readonly requiredClaims: string[];
    readonly audience?: string;
  },
): Promise<JWTPayload> {
  const { payload, typ } = await verifySignature(keys, token);
  if (!isType(typ)) throw new TokenFault(otherType);
  try {
    // The signature is already verified. For an unsecured JWT, jose checks only the claims.
    const options = { issuer, currentDate: clock.now(), ...expected };
    return UnsecuredJWT.decode(`${unsecuredHeader}.${payload}.`, options).payload;
  } catch (error) {
    throw describeFault(error, otherType);
  }
}

// PostgreSQL's text cannot hold NUL.
const isText = (claim: unknown) =>
  typeof claim === 'string' && claim !== '' && !claim.includes('\0');

/** Returns the payload, still encoded, of a JWS that a key of Signet signed, and its type. */
async function verifySignature(
  keys: SigningKeys,
  token: string,
): Promise<{ payload: string; typ: string | undefined }> {
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
  return { payload, typ };
}

function describeFault(error: unknown, otherType?: string): unknown {
  if (error instanceof errors.JWTExpired) return new TokenFault('token expired', { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    const faults: Record<string, string> = {
      iss: 'unknown issuer',
      aud: 'wrong audience',
      nbf: 'token not yet valid',
    };
    return new TokenFault(faults[error.claim] ?? otherType ?? 'malformed token', { cause: error });
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) {
    return new TokenFault('malformed token', { cause: error });
  }
  return error;
}

/** The lifetime, in seconds, of a token that is issued now and lives `ttlSeconds` but not past `notAfter`. */
export function lifetime(clock: Clock, ttlSeconds: number, notAfter = Number.POSITIVE_INFINITY) {
  const at = clock.now();
  const now = toNumericDate(at);
  const exp = Math.min(now + ttlSeconds, notAfter);
  return { iat: iatOf(at), exp, expiresIn: exp - now };
}
