import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import { findUserByAddress } from '../../proving/codes.ts';
import type { Services } from '../../services.ts';
import { addressOfToken } from '../../users/one-time-tokens/one-time-token.ts';

const purpose = 'one-time-token-parameter';

/** Encrypts the one-time token of an authorization request, so that a reader of the table of requests cannot use it. */
export function sealOneTimeToken(
  { cipher }: Pick<Services, 'cipher'>,
  { oidc: { params, entities } }: KoaContextWithOIDC,
): void {
  // It was encrypted when the request was pushed.
  if (entities.PushedAuthorizationRequest) return;
  const token = params?.['one_time_token'];
  if (params && typeof token === 'string' && token !== '')
    params['one_time_token'] = Buffer.from(cipher.encrypt(token, purpose)).toString('base64url');
}

/** Decrypts the one-time token of an authorization request; undefined if it has none. */
export function openOneTimeToken(
  { cipher }: Pick<Services, 'cipher'>,
  { one_time_token: sealed }: Readonly<Record<string, unknown>>,
): string | undefined {
  if (typeof sealed !== 'string' || sealed === '') return undefined;
  try {
    return cipher.decrypt(Buffer.from(sealed, 'base64url'), purpose);
  } catch {
    // Encrypted with a secret that is gone.
    return undefined;
  }
}

/** The address that a one-time token of the request is for, if `login_hint` names it. */
export function hintedEmail({
  login_hint: hint,
}: Readonly<Record<string, unknown>>): string | undefined {
  return typeof hint === 'string' && hint.includes('@') ? hint : undefined;
}

/**
 * Asks for an interaction when the request has a one-time token for somebody else than who is signed in in the browser,
 * or for an address without an account. Of a token that is used or expired, only the hint still tells for whom it was.
 */
export const oneTimeTokenCheck = (
  services: Pick<Services, 'database' | 'clock' | 'cipher'>,
): interactionPolicy.Check =>
  new interactionPolicy.Check(
    'one_time_token',
    'the link is for another person',
    'login_required',
    async ({ oidc: { params = {}, session, result } }) => {
      // Whoever has just signed in in answer to this question is who goes on.
      if (session?.accountId === undefined || result?.login) return false;
      const token = openOneTimeToken(services, params);
      if (token === undefined) return false;
      const recipient = (await addressOfToken(services, token)) ?? hintedEmail(params);
      if (recipient === undefined) return false;
      const owner = await findUserByAddress(services.database.prisma, { type: 'EMAIL', recipient });
      return owner?.id !== session.accountId;
    },
  );
