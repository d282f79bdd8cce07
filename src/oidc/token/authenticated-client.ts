import type { FastifyRequest } from 'fastify';
import type { ClientMetadata } from 'oidc-provider';
import type { Services } from '../../services.ts';
import { findClient, isPublicClient } from '../provider/storage/clients.ts';
import { assertSecret, readCredentials } from './client-authentication.ts';
import type { Form } from './form.ts';
import { InvalidClient } from './oauth-errors.ts';

/**
 * Authenticates the application that sent a form, by one of its secrets.
 *
 * @throws {InvalidClient} {@link InvalidRequest} when it uses two methods at once.
 */
export async function authenticateConfidentialClient(
  services: Services,
  { headers }: FastifyRequest,
  form: Form,
): Promise<ClientMetadata> {
  const credentials = readCredentials(headers.authorization, form);
  const { metadata, digests } = await findClient(services, credentials.clientId);
  assertSecret(credentials, metadata && !isPublicClient(metadata) ? digests : []);
  if (!metadata) throw new InvalidClient();
  return metadata;
}

/**
 * The same for any application; one that cannot keep a secret sends only its `client_id` (RFC 6749 §3.2.1).
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
  const { metadata } = await findClient(services, clientId);
  if (!metadata || !isPublicClient(metadata)) throw new InvalidClient();
  return metadata;
}
