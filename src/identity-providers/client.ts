import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockSkew,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  None,
} from 'openid-client';
import { systemClock, toNumericDate } from '../clock.ts';
import type { IdentityProvider } from '../generated/prisma/client.ts';
import type { Cipher } from '../keys/cipher.ts';
import { purposeOf } from '../keys/sealed-columns.ts';
import { createAgent } from '../outbound/agent.ts';
import { guardedFetch } from '../outbound/fetch.ts';
import type { Services } from '../services.ts';

// A person waits for the answer.
const maxTimeoutMs = 10_000;

/** What a client of an OpenID provider needs. */
export interface ProviderClient {
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
}

/** Encrypts a client secret for the row with that id. */
export const sealClientSecret = (cipher: Cipher, providerId: string, secret: string) =>
  cipher.encrypt(secret, purposeOf('identity-provider', providerId));

/** The client of a stored identity provider, with its secret in clear. */
export const clientOf = (
  cipher: Cipher,
  { id, issuer, clientId, clientSecret }: IdentityProvider,
): ProviderClient => ({
  issuer,
  clientId,
  clientSecret:
    clientSecret === null ? null : cipher.decrypt(clientSecret, purposeOf('identity-provider', id)),
});

/**
 * Finds the configuration of an OpenID provider by discovery (OpenID Connect Discovery §4), and works with it. Requests
 * go to public addresses only, unless private ones are allowed. The keys are read for each ID token, so that keys that
 * the provider has withdrawn are refused at once.
 *
 * @throws when the provider cannot be reached, or its answer is not that of this issuer; and whatever `work` throws.
 */
export async function withProvider<T>(
  { config, clock, resolveHost }: Pick<Services, 'config' | 'clock' | 'resolveHost'>,
  { issuer, clientId, clientSecret }: ProviderClient,
  work: (configuration: Configuration) => Promise<T>,
): Promise<T> {
  const allowPrivate = config.allowPrivateWebhooks;
  const timeoutMs = Math.min(config.webhookTimeoutMs, maxTimeoutMs);
  const agent = createAgent({ allowPrivate, resolveHost, timeoutMs });
  try {
    const configuration = await discovery(
      new URL(issuer),
      clientId,
      {
        // The provider's tokens are compared with this service's clock.
        [clockSkew]: toNumericDate(clock.now()) - toNumericDate(systemClock.now()),
      },
      (as, client, body, headers) =>
        authenticationOf(as.token_endpoint_auth_methods_supported, clientSecret)(
          as,
          client,
          body,
          headers,
        ),
      {
        [customFetch]: (url, { method, headers, body, signal }) =>
          guardedFetch(agent, { timeoutMs })(url, { method, headers, body, signal }),
        timeout: timeoutMs / 1000,
        execute: [
          // Checks the signature although the token came over TLS: only the discovery names that endpoint.
          enableNonRepudiationChecks,
          ...(allowPrivate ? [allowInsecureRequests] : []),
        ],
      },
    );
    return await work(configuration);
  } finally {
    await agent.destroy();
  }
}

/** Authenticates in the way that the provider supports; by Basic if it does not say (RFC 8414 §2). */
function authenticationOf(supported: readonly string[] | undefined, secret: string | null) {
  if (secret === null) return None();
  const isBasic = supported === undefined || supported.includes('client_secret_basic');
  return isBasic ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}
