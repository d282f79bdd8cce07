import Provider, { type AdapterPayload, type KoaContextWithOIDC } from 'oidc-provider';
import type { Services } from '../../../services.ts';
import { bindingOf } from './bound-refresh-token.ts';
import { isFapi } from './clients.ts';
import { storedId } from './stored-id.ts';

// A second tab and a client that lost an answer send a refresh token that was used already, and mean no harm. It gets
// tokens again for a few seconds, but no longer than until one of its successors is used: from then on the client has
// an answer, and whoever still sends the old token is somebody else.

/** How many tokens can replace one refresh token. */
export const maxSuccessors = 32;

/** Whether this request may use a refresh token that was used before; {@link useRefreshToken} decides. */
export const mayComeAgain = (ctx: KoaContextWithOIDC | undefined): boolean =>
  ctx?.oidc.route === 'token' && !isFapi(ctx.oidc.client);

/** The token that a new refresh token replaces, by its id in the table; undefined for the first of a family. */
export function predecessorOf({ jti }: AdapterPayload): string | undefined {
  const rotated = Provider.ctx?.oidc.entities.RotatedRefreshToken?.jti;
  return rotated === undefined || rotated === jti ? undefined : storedId(rotated);
}

/**
 * Uses a refresh token, for the first time or again. One statement decides and counts: requests on several nodes wait
 * for each other's row.
 *
 * @returns Whether its client gets tokens for it.
 */
export async function useRefreshToken(
  { database, clock }: Pick<Services, 'database' | 'clock'>,
  id: string,
): Promise<boolean> {
  const now = clock.now();
  // Once it was used with a key, it does not come again without one.
  const binding = JSON.stringify(bindingOf(Provider.ctx, {}));
  const count = await database.prisma.$executeRaw`
    UPDATE "OidcRecord" r
       SET "consumedAt" = coalesce(r."consumedAt", ${now}::timestamptz),
           "payload" = ${binding}::jsonb || r."payload" || jsonb_build_object('successors',
             CASE WHEN r."consumedAt" IS NULL THEN 1
                  ELSE coalesce((r."payload"->>'successors')::int, 1) + 1 END)
      FROM "Application" a
     WHERE r."model" = 'RefreshToken' AND r."id" = ${storedId(id)} AND a."id" = r."clientId"
       AND (r."consumedAt" IS NULL
            OR (a."refreshTokenReuseSeconds" > 0
                AND r."consumedAt" >= ${now}::timestamptz - a."refreshTokenReuseSeconds" * interval '1 second'
                AND coalesce((r."payload"->>'successors')::int, 1) < ${maxSuccessors}
                AND NOT EXISTS (
                  SELECT 1 FROM "OidcRecord" s
                   WHERE s."model" = 'RefreshToken' AND s."uid" = r."id" AND s."consumedAt" IS NOT NULL)))`;
  return count === 1;
}
