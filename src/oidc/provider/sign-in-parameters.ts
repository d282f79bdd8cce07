import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Services } from '../../services.ts';

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
