import type { Services } from '../services.ts';
import { withProvider } from './client.ts';

const needed = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

/**
 * Finds what is wrong with the configuration that an issuer publishes.
 *
 * @returns Undefined if nothing is, or if the issuer does not answer.
 */
export async function findDiscoveryFault(
  services: Pick<Services, 'config' | 'clock' | 'resolveHost'>,
  issuer: string,
): Promise<string | undefined> {
  // Discovery needs no credentials.
  const client = { issuer, clientId: 'signet', clientSecret: null };
  try {
    return await withProvider(services, client, async (configuration) => {
      const metadata = configuration.serverMetadata();
      const missing = needed.filter((field) => metadata[field] === undefined);
      return missing.length === 0
        ? undefined
        : `its configuration has no ${missing.join(', no ')} (OpenID Connect Discovery §3)`;
    });
  } catch (error) {
    return reasonOf(error);
  }
}

/** The fault of an answer, which the library gives one of these codes; undefined without an answer. */
function reasonOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  switch (code) {
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return 'is not the issuer that its own configuration names';
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
    case 'OAUTH_PARSE_ERROR':
    case 'OAUTH_INVALID_RESPONSE':
    case 'OAUTH_INVALID_SERVER_METADATA':
      return 'publishes no OpenID configuration at /.well-known/openid-configuration';
    default:
      return undefined;
  }
}
