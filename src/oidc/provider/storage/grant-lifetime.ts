import Provider from 'oidc-provider';
import { maxAccessTokenTtlSeconds } from '../../../resources/operations.ts';
import type { Services } from '../../../services.ts';
import { fromLibrary, libraryNow } from './library-time.ts';

const day = 24 * 60 * 60;

/** How long a sign-in may take, in seconds. */
export const interactionTtlSeconds = 3600;

/** How long a refresh token can be used, in seconds. */
export const refreshTokenTtlSeconds = 14 * day;

/** How long a family of refresh tokens can go on, in seconds. */
export const familyTtlSeconds = 365 * day;

// A grant is needed as long as a refresh token, and the longest access token that is issued for its last use: what ends
// a grant ends those. A day more saves a write at most uses.
const neededSeconds = refreshTokenTtlSeconds + maxAccessTokenTtlSeconds;

/** How long a grant lives after its last use, in seconds. */
export const grantTtlSeconds = neededSeconds + day;

/**
 * When a grant of the library that is used now has to end; undefined if it lives long enough as it is. Instants are
 * NumericDates of the library's clock.
 */
export function prolonged({
  iat,
  exp,
}: {
  readonly iat?: number | undefined;
  readonly exp?: number | undefined;
}): number | undefined {
  if (iat === undefined || exp === undefined) return undefined;
  const now = libraryNow();
  const end = Math.min(now + grantTtlSeconds, iat + familyTtlSeconds);
  return exp < Math.min(now + neededSeconds, end) ? end : undefined;
}

/** Prolongs a grant of which a refresh token is issued. */
export async function prolongGrant(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  storedGrantId: string,
): Promise<void> {
  const grant = Provider.ctx?.oidc.entities.Grant;
  const exp = grant && prolonged(grant);
  if (exp === undefined) return;
  const { exp: end } = fromLibrary(clock, { exp });
  // One that has ended meanwhile does not come back.
  await database.prisma.$executeRaw`
    UPDATE "OidcRecord"
       SET "expiresAt" = to_timestamp(${end}), "payload" = jsonb_set("payload", '{exp}', to_jsonb(${end}::int8))
     WHERE "model" = 'Grant' AND "id" = ${storedGrantId} AND "expiresAt" < to_timestamp(${end})`;
}
