import { accountApplicationId } from '../applications/own.ts';
import { newJti } from '../auth/access-token.ts';
import { accountIndicator, accountScopes } from '../auth/scopes.ts';
import { readTokenFault } from '../auth/token-state.ts';
import { toNumericDate } from '../clock.ts';
import type { OwnApplication } from '../oidc/own/sign-in.ts';
import type { Services, Viewer } from '../services.ts';

/** The application as which people sign in to the pages of their account. */
export const accountApplication: OwnApplication = {
  id: accountApplicationId,
  purpose: 'account-sign-in',
};

/** How long a browser stays signed in to the pages. The provider's session, which lasts longer, signs in again. */
export const pagesMaxSeconds = 12 * 3600;

/** A browser's session at the pages: sealed in a cookie, and in force for as long as its grant is. */
interface Sealed {
  readonly userId: string;
  readonly grant: string;
  /** In milliseconds. */
  readonly at: number;
}

const purpose = 'account-session';

/** Makes the cookie's value of a browser that has signed in. */
export function sealSession(
  { cipher, clock }: Pick<Services, 'cipher' | 'clock'>,
  { userId, grant }: { readonly userId: string; readonly grant: string },
): string {
  const sealed: Sealed = { userId, grant, at: clock.now().getTime() };
  return Buffer.from(cipher.encrypt(JSON.stringify(sealed), purpose)).toString('base64url');
}

function unseal({ cipher }: Pick<Services, 'cipher'>, value: string): Sealed | undefined {
  try {
    return JSON.parse(cipher.decrypt(Buffer.from(value, 'base64url'), purpose)) as Sealed;
  } catch {
    return undefined;
  }
}

/**
 * The person whom a cookie's value names; undefined if the session is over. The rules for tokens hold: a session stands
 * for one.
 */
export async function findPagesViewer(
  services: Services,
  value: string | undefined,
): Promise<Viewer | undefined> {
  const sealed = value === undefined ? undefined : unseal(services, value);
  if (!sealed) return undefined;
  const { userId, grant, at } = sealed;
  const begun = new Date(at);
  const now = services.clock.now();
  if (begun.getTime() + pagesMaxSeconds * 1000 <= now.getTime()) return undefined;
  const fault = await readTokenFault(services.database.tokens, {
    iss: services.issuer,
    sub: userId,
    aud: accountIndicator,
    client_id: accountApplicationId,
    iat: toNumericDate(begun),
    exp: toNumericDate(begun) + pagesMaxSeconds,
    jti: newJti(begun),
    lineage: [grant],
  });
  if (fault) return undefined;
  const scopes = new Set<string>(accountScopes.keys());
  return { userId, clientId: accountApplicationId, session: grant, scopes };
}
