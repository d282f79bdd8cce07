import type { Configuration } from 'openid-client';
import { lockRow } from '../db/lock.ts';
import { transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { bySignet, recordChange } from '../events/record.ts';
import type { RedirectUriState } from '../generated/prisma/client.ts';
import type { Services } from '../services.ts';
import { withProvider } from './client.ts';
import { providers, readProvider } from './payload.ts';

/**
 * The redirect URI of this identity provider only. An answer of another provider that arrives here is refused (RFC 9700
 * §4.4.2.2).
 */
export const redirectUriOf = ({ baseUrl }: Pick<Services, 'baseUrl'>, id: string): string =>
  `${baseUrl}/sign-in/callback/${id}`;

/**
 * The redirect URI that all providers shared in earlier versions. Only providers from then still use it, and only if
 * they send `iss` with each answer: see {@link tellsIssuer}.
 */
export const sharedRedirectUriOf = ({ baseUrl }: Pick<Services, 'baseUrl'>): string =>
  `${baseUrl}/sign-in/callback`;

/** Whether a provider promises `iss` in its answers, which is then required (RFC 9207 §3). */
export const tellsIssuer = (configuration: Configuration): boolean =>
  configuration.serverMetadata().authorization_response_iss_parameter_supported === true;

/**
 * Updates the state of a provider from the time of the shared redirect URI: its own URI is in use, or must be
 * registered first. A provider that uses its own URI keeps it.
 */
export async function noteRedirectUri(
  services: Services,
  id: string,
  state: Exclude<RedirectUriState, 'SHARED'>,
): Promise<void> {
  const { database, clock, log } = services;
  const isNoted = await transaction(database, async (tx) => {
    await lockRow(tx, 'IdentityProvider', id);
    const before = await readProvider(tx, id);
    const isDue = before.redirectUriState === 'SHARED' || state === 'OWN';
    const patch = { redirectUriState: isDue ? state : before.redirectUriState };
    const told = await recordChange(tx, { ...bySignet, clock }, providers, before, patch);
    return told.with(told.result !== before);
  }).catch((error: unknown) => {
    // The provider was deleted meanwhile.
    if (error instanceof NotFoundError) return false;
    throw error;
  });
  if (!isNoted) return;
  const found = { identityProviderId: id, redirectUri: redirectUriOf(services, id) };
  if (state === 'OWN') log.info(found, 'an identity provider has its own redirect URI now');
  else log.warn(found, 'nobody can sign in by an identity provider until this is registered there');
}

/**
 * Checks in the background which providers may keep the shared redirect URI, so that administrators learn it before
 * their users do.
 *
 * @returns Stops the check, and resolves once no provider is being asked.
 */
export function checkRedirectUris(services: Services): () => Promise<void> {
  let isStopped = false;
  const check = async () => {
    const old = await services.database.prisma.identityProvider.findMany({
      where: { redirectUriState: 'SHARED' },
      select: { id: true, issuer: true, clientId: true },
    });
    for (const { id, ...provider } of old) {
      if (isStopped) return;
      // Discovery needs no secret. A provider that does not answer now is asked again when somebody goes there.
      const client = { ...provider, clientSecret: null };
      const mayStay = await withProvider(services, client, async (found) =>
        tellsIssuer(found),
      ).catch(() => true);
      if (!mayStay) await noteRedirectUri(services, id, 'TO_REGISTER');
    }
  };
  const checked = check().catch((err: unknown) =>
    services.log.error({ err }, 'the redirect URIs could not be checked'),
  );
  return async () => {
    isStopped = true;
    await checked;
  };
}
