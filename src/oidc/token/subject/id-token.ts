import { issuedAt, TokenFault, verifyOwnJwt } from '../../../auth/access-token.ts';
import type { Services } from '../../../services.ts';

/** A user who is proved by an ID token of an application. */
interface Identified {
  readonly userId: string;
  /** When the token was issued. */
  readonly issuedAt: Date;
  /** How and when the person signed in (OpenID Connect Core §2), for those whom the token's user is told to. */
  readonly authentication: Readonly<Record<string, unknown>>;
}

const authenticationClaims = ['auth_time', 'acr', 'amr'] as const;

/**
 * Verifies an ID token that Signet issued to an application (OpenID Connect Core §2), as the subject of an exchange.
 *
 * @throws {TokenFault} with the class of fault.
 */
export async function verifyIdToken(
  { keys, issuer }: Pick<Services, 'keys' | 'issuer'>,
  token: string,
  { clientId, at }: { readonly clientId: string; readonly at: Date },
): Promise<Identified> {
  const claims = await verifyOwnJwt({ keys, issuer, clock: { now: () => at } }, token, {
    // ID tokens have none. Every other JWT that Signet signs has one of its own.
    isType: (typ) => typ === undefined || typ === 'JWT',
    otherType: 'not an ID token',
    requiredClaims: ['sub', 'aud', 'iat', 'exp'],
  });
  const { sub, aud, azp = clientId, iat = 0, jti = '' } = claims;
  const [audience, ...others] = [aud].flat();
  const isItsOwn = audience === clientId && others.length === 0 && azp === clientId;
  if (!isItsOwn) throw new TokenFault('not an ID token of this application');
  if (typeof sub !== 'string') throw new TokenFault('malformed token');
  return {
    userId: sub,
    issuedAt: issuedAt({ jti, iat }),
    authentication: Object.fromEntries(
      authenticationClaims.filter((name) => name in claims).map((name) => [name, claims[name]]),
    ),
  };
}
