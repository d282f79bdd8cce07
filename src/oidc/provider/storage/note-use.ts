import type { KoaContextWithOIDC } from 'oidc-provider';
import { needsConsent } from '../../../auth/granting/consent.ts';
import { ownIndicators } from '../../../auth/scopes.ts';
import type { Services } from '../../../services.ts';
import { applicationOf } from './clients.ts';

// A grant in use is written once an hour, not with each token.
const noteMs = 3_600_000;

const noteStatement = `
  UPDATE "UserGrant" SET "lastUsedAt" = $3::timestamptz
   WHERE "userId" = $1 AND "applicationId" = $2 AND ("lastUsedAt" IS NULL OR "lastUsedAt" < $4::timestamptz)`;

/**
 * Notes on a person's consent that its application got a token for the person just now. A failure is logged: the token
 * is issued, and its refresh token may be the only one that the client has.
 */
export async function noteUse(
  { database, clock, log }: Pick<Services, 'database' | 'clock' | 'log'>,
  { oidc, status }: KoaContextWithOIDC,
): Promise<void> {
  // Addresses that the library does not know have none.
  if (oidc?.route !== 'token' || status !== 200) return;
  const { client, account } = oidc;
  if (!client || !account) return;
  const application = applicationOf(client);
  // Nobody is asked about others, so there is no consent to note it on.
  if (![...ownIndicators].some((indicator) => needsConsent(application, indicator))) return;
  const now = clock.now();
  try {
    await database.tokens.query('note-grant', noteStatement, [
      account.accountId,
      application.id,
      now.toISOString(),
      new Date(now.getTime() - noteMs).toISOString(),
    ]);
  } catch (err) {
    log.warn({ err, applicationId: application.id }, 'the use of a grant was not noted');
  }
}
