import type { FastifyRequest } from 'fastify';
import type { ClientMetadata } from 'oidc-provider';
import type { Services } from '../auth/context.ts';
import { assertSecret, readCredentials } from './client-authentication.ts';
import { findClientMetadata, readLiveDigests } from './clients.ts';
import type { Form } from './form.ts';
import { InvalidClient } from './oauth-errors.ts';

/**
 * Finds out which application sends a form, and has it prove that with one of its secrets.
 *
 * @throws {InvalidClient} {@link InvalidRequest} when it uses two methods at once.
 */
export async function authenticateConfidentialClient(
  services: Services,
  { headers }: FastifyRequest,
  form: Form,
): Promise<ClientMetadata> {
  const credentials = readCredentials(headers.authorization, form);
  const client = await findClientMetadata(services, credentials.clientId);
  const hasSecret = client !== undefined && client.token_endpoint_auth_method !== 'none';
  assertSecret(credentials, hasSecret ? await readLiveDigests(services, client.client_id) : []);
  if (!client) throw new InvalidClient();
  return client;
}

/**
 * The same for any application: one that cannot keep a secret only says its `client_id` (RFC 6749 §3.2.1).
 *
 * @throws {InvalidClient} {@link InvalidRequest}
 */
export async function authenticateClient(
  services: Services,
  request: FastifyRequest,
  form: Form,
): Promise<ClientMetadata> {
  const clientId = form.find('client_id');
  const hasProof =
    request.headers.authorization !== undefined || form.find('client_secret') !== undefined;
  if (hasProof || clientId === undefined)
    return authenticateConfidentialClient(services, request, form);
  const client = await findClientMetadata(services, clientId);
  if (client?.token_endpoint_auth_method !== 'none') throw new InvalidClient();
  return client;
}
