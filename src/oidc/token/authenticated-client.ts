import type { FastifyRequest } from 'fastify';
import type { ClientMetadata } from 'oidc-provider';
import type { Services } from '../../services.ts';
import { withApplicationId } from '../named.ts';
import { deviceGrantType } from '../provider/device/grant.ts';
import { findClient, isPublicClient } from '../provider/storage/clients.ts';
import { ClientIdRefused } from '../registration/resolve-document.ts';
import {
  assertCredentials,
  idWithoutProof,
  readCredentials,
  withIdInBody,
} from './client-authentication.ts';
import type { Form } from './form.ts';
import { InvalidClient, UnauthorizedClient } from './oauth-errors.ts';

const authenticated = new WeakMap<FastifyRequest, string>();

/** Whether a request was sent by this confidential application, which has authenticated. */
export const isAuthenticatedAs = (request: FastifyRequest, clientId: string): boolean =>
  authenticated.get(request) === clientId;

/**
 * The body of a form, with the id of its client, which may be the URL of a document, as an application's.
 *
 * @throws {InvalidClient} {@link InvalidRequest} when it names two clients.
 */
export async function withKnownClient(
  services: Services,
  request: FastifyRequest,
  body: Buffer,
): Promise<string> {
  try {
    const identified = withIdInBody(request.headers.authorization, body.toString('utf8'));
    return await withApplicationId(services, request, identified);
  } catch (error) {
    throw error instanceof ClientIdRefused ? new InvalidClient() : error;
  }
}

/**
 * Authenticates the application that sent a form, by one of its secrets or by its keys.
 *
 * @throws {InvalidClient} {@link InvalidRequest} when it uses two methods at once.
 */
export async function authenticateConfidentialClient(
  services: Services,
  request: FastifyRequest,
  form: Form,
): Promise<ClientMetadata> {
  const credentials = readCredentials(request.headers.authorization, form);
  const { metadata, ...known } = await findClient(services, credentials.clientId);
  await assertCredentials(services, credentials, known);
  if (!metadata) throw new InvalidClient();
  authenticated.set(request, metadata.client_id);
  return metadata;
}

/**
 * Authenticates any application. One that cannot keep a secret proves nothing, see {@link idWithoutProof}.
 *
 * @throws {InvalidClient} {@link InvalidRequest}
 */
export async function authenticateClient(
  services: Services,
  request: FastifyRequest,
  form: Form,
): Promise<ClientMetadata> {
  const clientId = idWithoutProof(request.headers.authorization, form);
  if (clientId === undefined) return authenticateConfidentialClient(services, request, form);
  const { metadata } = await findClient(services, clientId);
  if (!metadata || !isPublicClient(metadata)) throw new InvalidClient();
  return metadata;
}

/**
 * Makes sure that an application may use a grant of people who sign in.
 *
 * @throws {UnauthorizedClient}
 */
export function assertMayUse({ grant_types: grantTypes }: ClientMetadata, grantType: string): void {
  if (grantTypes?.includes(grantType)) return;
  const name = grantType === deviceGrantType ? 'the device grant' : `the grant ${grantType}`;
  throw new UnauthorizedClient(`this application may not use ${name}`);
}

/**
 * The body of an authenticated request for oidc-provider, which then believes {@link isAuthenticatedAs}: in place of an
 * assertion it has a secret, the one method that the library knows here.
 */
export function bodyForLibrary(rawBody: string, clientId: string): string {
  const form = new URLSearchParams(rawBody);
  const ofAssertion = ['client_assertion', 'client_assertion_type'];
  if (!ofAssertion.some((name) => form.has(name))) return rawBody;
  // One without a value is absent, which the library does not know.
  if (form.get('client_assertion')) {
    form.set('client_id', clientId);
    form.set('client_secret', 'authenticated');
  }
  for (const name of ofAssertion) form.delete(name);
  return form.toString();
}
