import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Services } from '../../services.ts';

const purpose = 'one-time-token-parameter';

/** Seals the one-time token that an application brought: whoever reads the table of requests must not hold it. */
export function sealOneTimeToken(
  { cipher }: Pick<Services, 'cipher'>,
  { oidc: { params } }: KoaContextWithOIDC,
): void {
  const token = params?.['one_time_token'];
  if (params && typeof token === 'string' && token !== '')
    params['one_time_token'] = Buffer.from(cipher.encrypt(token, purpose)).toString('base64url');
}

/** The one-time token of an authorization request; undefined where it has none. */
export function openOneTimeToken(
  { cipher }: Pick<Services, 'cipher'>,
  { one_time_token: sealed }: Readonly<Record<string, unknown>>,
): string | undefined {
  if (typeof sealed !== 'string' || sealed === '') return undefined;
  try {
    return cipher.decrypt(Buffer.from(sealed, 'base64url'), purpose);
  } catch {
    // Sealed by another secret, which has been replaced since.
    return undefined;
  }
}
