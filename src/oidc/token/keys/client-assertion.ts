import { decodeJwt } from 'jose';
import { allows } from '../../../applications/security-profile.ts';
import type { SetterScopes } from '../../../auth/granting/setter-scopes.ts';
import { useOnce } from '../../../auth/used-once.ts';
import type { SecurityProfile } from '../../../generated/prisma/client.ts';
import type { Services } from '../../../services.ts';
import { InvalidClient } from '../oauth-errors.ts';
import {
  isInForce,
  isJti,
  isSignedBy,
  maxForeignLength,
  readForeignJwt,
  rememberedUntil,
} from './foreign-jwt.ts';

/** The `client_assertion_type` of a JWT (RFC 7523 §2.2). */
export const clientAssertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** How far ahead an assertion may expire, in seconds. */
export const maxAheadSeconds = 300;

/** The keys of a client, as the database has them. */
export interface ClientKeys {
  readonly jwks: unknown;
  readonly jwksUri: string | null;
  /** What whoever set the keys held; null if there is no such client. */
  readonly keySetterScopes: SetterScopes | null;
  readonly securityProfile: SecurityProfile | null;
}

/** The client that an assertion names, which is not verified; empty if it names none. */
export function readAssertedClient(assertion: string): string {
  try {
    const { sub } = decodeJwt(assertion);
    return assertion.length <= maxForeignLength && typeof sub === 'string' ? sub : '';
  } catch {
    return '';
  }
}

/**
 * Checks a client's assertion (RFC 7523 §3), and uses it up.
 *
 * @returns What whoever set the client's keys held. It limits what they open of Signet's own APIs.
 * @throws {InvalidClient}
 */
export async function assertAssertion(
  services: Services,
  { clientId, assertion }: { readonly clientId: string; readonly assertion: string },
  keys: ClientKeys,
): Promise<SetterScopes> {
  const jwt = readForeignJwt(assertion);
  if (!jwt || !allows(keys.securityProfile, jwt.header.alg)) throw new InvalidClient();
  if (!(await isSignedBy(services, jwt, keys))) throw new InvalidClient();
  const { iss, sub, aud, exp, jti } = jwt.claims;
  const isFapi = keys.securityProfile === 'FAPI_2_0';
  const isRight =
    iss === clientId &&
    sub === clientId &&
    (aud === services.issuer || (!isFapi && aud === `${services.issuer}/token`)) &&
    isInForce(jwt.claims, services.clock.now(), maxAheadSeconds) &&
    isJti(jti);
  if (!isRight) throw new InvalidClient();
  const isFirst = await useOnce(services.database.tokens, {
    what: ['client_assertion', clientId, jti],
    expiresAt: rememberedUntil(exp ?? 0),
    at: services.clock.now(),
  });
  if (!isFirst) throw new InvalidClient();
  return keys.keySetterScopes ?? [];
}
