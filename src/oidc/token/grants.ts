import type { FastifyRequest } from 'fastify';
import type { Services } from '../../services.ts';
import { deviceGrantType } from '../provider/device/grant.ts';
import { grantByAssertion } from './assertions/grant.ts';
import type { ClientCredentials } from './client-authentication.ts';
import { issueClientCredentials } from './client-credentials.ts';
import { exchangeToken } from './exchange.ts';
import type { TokenRequestFacts } from './explanation/refused.ts';
import type { Form } from './form.ts';
import type { TokenResponse } from './response.ts';

/**
 * Answers a token request. It authenticates the client itself, with the same statement that reads all else it needs.
 *
 * @param request Brings the proof of possession, if there is one.
 * @param facts Gets what is found out about the request, in case that it is refused.
 * @throws {OAuthError} in the order of `endpoint.ts`.
 */
export type Grant = (
  services: Services,
  form: Form,
  credentials: ClientCredentials,
  facts: TokenRequestFacts,
  request: FastifyRequest,
) => Promise<TokenResponse>;

/** The `grant_type` of an exchange (RFC 8693 §2.1). */
export const exchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** The grants that are answered here, by `grant_type`. A new one is a file beside this one, and an entry. */
export const grants: ReadonlyMap<string, Grant> = new Map<string, Grant>([
  // RFC 6749 §4.4
  ['client_credentials', issueClientCredentials],
  // RFC 8693 §2.1
  [exchangeGrantType, exchangeToken],
  // RFC 7523 §2.1
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', grantByAssertion],
]);

/** The grants of people who sign in, which oidc-provider answers. */
export const delegatedGrantTypes: ReadonlySet<string> = new Set([
  'authorization_code',
  'refresh_token',
  // RFC 8628
  deviceGrantType,
]);
