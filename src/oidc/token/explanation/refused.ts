import type { FastifyRequest } from 'fastify';
import type { errors, KoaContextWithOIDC } from 'oidc-provider';
import { reportRefusal } from '../../../protection/refusals/start.ts';
import type { Services } from '../../../services.ts';
import { callOf } from '../../../web/call.ts';
import { requestOf } from '../../provider/requests.ts';
import type { ExchangeRule } from '../exchange-rules.ts';

/** What is known so far of a token request: what `Token.Refused` says if it is refused now. */
export interface TokenRequestFacts {
  /** As it was sent. */
  grantType: string | null;
  /** The application that the request names, if there is one. It may not have authenticated. */
  applicationId: string | null;
  /** The rule of the exchange that is checked now; null before the first, and for other grants. */
  rule: ExchangeRule | null;
  resource: string | null;
  /** The user whom a token or a code has proved. */
  userId: string | null;
}

/** Makes the facts of a request of which nothing is known. */
export const noFacts = (): TokenRequestFacts => ({
  grantType: null,
  applicationId: null,
  rule: null,
  resource: null,
  userId: null,
});

/** Reports that a token request was refused, for `Token.Refused`. */
export const reportTokenRefusal = (
  services: Services,
  request: FastifyRequest,
  facts: TokenRequestFacts,
  error: string,
): void =>
  reportRefusal(services, {
    type: 'Token.Refused',
    data: { ...facts, error },
    call: callOf(request),
  });

/** Reports that oidc-provider refused a token request. */
export function reportGrantError(
  services: Services,
  ctx: KoaContextWithOIDC,
  { error }: errors.OIDCProviderError,
): void {
  const { params, client, account } = ctx.oidc;
  const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
  const facts = {
    grantType: textOrNull(params?.['grant_type']),
    applicationId: client?.clientId ?? null,
    rule: null,
    resource: textOrNull(params?.['resource']),
    userId: account?.accountId ?? null,
  };
  reportTokenRefusal(services, requestOf(ctx), facts, error);
}
