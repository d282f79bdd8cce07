import { toNumericDate } from '../../../clock.ts';
import type { Services } from '../../../services.ts';
import { idJagTyp } from '../cross-app/id-jag.ts';
import {
  type ForeignJwt,
  isInForce,
  isJti,
  isSignedBy,
  maxSkewSeconds,
} from '../keys/foreign-jwt.ts';
import { InvalidGrant } from '../oauth-errors.ts';
import type { KnownIssuer } from './issuers.ts';

const maxSubjectLength = 1_024;

/** The kind of an assertion, by its type (RFC 8725 §3.11); undefined for a JWT that is for something else. */
export function kindOfAssertion({ header: { typ } }: ForeignJwt): KnownIssuer['kind'] | undefined {
  if (typ === idJagTyp) return 'IDENTITY';
  // What pipelines, clusters and SPIFFE write.
  return typ === undefined || /^(?:jwt|jose)$/i.test(typ) ? 'WORKLOAD' : undefined;
}

/** Whether the claims of an assertion are what an issuer's rules say. A claim that is no single value fits none. */
export const fitsRules = (
  { claims }: ForeignJwt,
  { claimRules }: Pick<KnownIssuer, 'claimRules'>,
): boolean =>
  claimRules.every(({ claim, equals }) => {
    const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
    return ['string', 'number', 'boolean'].includes(typeof value) && String(value) === equals;
  });

/**
 * Verifies an assertion of a trusted issuer (RFC 7523 §3). It is not used up.
 *
 * @param provenKey The thumbprint of the key that the request proves; undefined without a proof.
 * @throws {InvalidGrant}
 */
export async function verifyAssertion(
  services: Services,
  assertion: ForeignJwt,
  issuer: KnownIssuer,
  provenKey: string | undefined,
): Promise<void> {
  const { claims } = assertion;
  const fault =
    faultOfClaims(services, assertion, issuer) ??
    // Bound in a way that is not known here, it must not pass either.
    (claims['cnf'] !== undefined &&
    (provenKey === undefined || (claims['cnf'] as { jkt?: unknown } | null)?.jkt !== provenKey)
      ? 'it is bound to a key that the request does not prove'
      : undefined);
  if (fault !== undefined) throw new InvalidGrant(`assertion is refused: ${fault}`);
  const { jwksUri } = issuer;
  if (!(await isSignedBy(services, assertion, { jwks: null, jwksUri })))
    throw new InvalidGrant('assertion is refused: no key of its issuer has signed it');
}

function faultOfClaims(
  { issuer: here, clock }: Services,
  { claims }: ForeignJwt,
  { kind, issuer, maxLifetimeSeconds, requireJti }: KnownIssuer,
): string | undefined {
  const { iss, sub, aud, iat, jti } = claims;
  const now = clock.now();
  const isSubject = typeof sub === 'string' && sub !== '' && sub.length <= maxSubjectLength;
  if (iss !== issuer || !isSubject) return 'it has no issuer, or no subject';
  // One for several would let each of them use it here.
  const alone: unknown =
    kind === 'WORKLOAD' && Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  if (alone !== here) return 'it is for another audience';
  if (!isInForce(claims, now, maxLifetimeSeconds)) return 'it has expired, or lives for too long';
  const latest = toNumericDate(now) + maxSkewSeconds;
  if (iat !== undefined && !(typeof iat === 'number' && iat <= latest))
    return 'it was issued in the future';
  const isOnce = jti === undefined ? !requireJti : isJti(jti);
  return isOnce ? undefined : 'it has no jti';
}
