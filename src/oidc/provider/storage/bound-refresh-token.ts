import { type AdapterPayload, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { OidcRecord } from '../../../generated/prisma/client.ts';
import { provenKeyOf } from '../../token/keys/token-proof.ts';
import { requestOf } from '../requests.ts';
import { isPublicClient } from './clients.ts';

// The library binds the refresh token of a public client to its first key (RFC 9449 §5). One of a confidential client
// may be used with any key, but must never lead from bound tokens to bearer tokens.
const mark = 'isBound';

/** What the stored refresh token remembers of the proof that the request brought. */
export function bindingOf(
  ctx: KoaContextWithOIDC | undefined,
  { jkt }: Pick<AdapterPayload, 'jkt'>,
): object {
  const key = ctx && provenKeyOf(requestOf(ctx));
  if (!ctx?.oidc.client || key === undefined) return {};
  return { [mark]: true, ...(isPublicClient(ctx.oidc.client) ? { jkt: jkt ?? key } : {}) };
}

/**
 * Checks that a refresh token that was used with a key once is not used without one.
 *
 * @throws {InvalidGrant}
 */
export function assertBinding(ctx: KoaContextWithOIDC | undefined, row: OidcRecord | null): void {
  if (ctx?.oidc.route !== 'token' || provenKeyOf(requestOf(ctx)) !== undefined) return;
  if ((row?.payload as AdapterPayload | undefined)?.[mark] === true)
    throw new errors.InvalidGrant(
      'the refresh token is bound, and no proof of possession was sent',
    );
}
