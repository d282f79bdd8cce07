import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { credentialsOf } from '../../auth/authorization.ts';
import { toNumericDate } from '../../clock.ts';
import { transaction } from '../../db/transaction.ts';
import type { Application } from '../../generated/prisma/client.ts';
import { takeShare } from '../../protection/addresses.ts';
import { readServiceSettings } from '../../service-settings/settings.ts';
import { type Services, systemActor } from '../../services.ts';
import { callOf } from '../../web/call.ts';
import { keepPrivate } from '../token/form-endpoint.ts';
import { MetadataFault, readClientMetadata } from './client-metadata.ts';
import { createDescribed } from './register.ts';
import { useRegistrationToken } from './registration-token.ts';

const path = '/oidc/register';
const maxBytes = 16 * 1024;

/** Why nothing is registered: the status and the error of the answer. */
class RegistrationRefused extends Error {
  override readonly name = 'RegistrationRefused';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Mounts `POST /oidc/register`: programs register public applications (RFC 7591), if the setting
 * `clientRegistration.dynamic` lets them.
 */
export async function mountRegistration(http: FastifyInstance, services: Services): Promise<void> {
  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'string', bodyLimit: maxBytes },
      (_request, body, done) => done(null, body),
    );
    // Nothing here is read from cookies, so pages of any origin may register themselves.
    scope.addHook('onRequest', async (_request, reply) => {
      reply.header('access-control-allow-origin', '*');
    });
    scope.setErrorHandler((error: Error & { readonly statusCode?: number }, request, reply) =>
      refuse(error, request, reply),
    );
    scope.options(path, async (_request, reply) =>
      reply
        .code(204)
        .headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization, content-type',
          'access-control-max-age': '3600',
        })
        .send(),
    );
    scope.post(path, async (request, reply) => {
      const application = await register(services, request);
      return keepPrivate(reply).code(201).send(answerOf(application));
    });
  });
}

async function register(services: Services, request: FastifyRequest): Promise<Application> {
  const { dynamic } = (await readServiceSettings(services.database.prisma)).clientRegistration;
  if (dynamic === 'OFF')
    throw new RegistrationRefused(403, 'access_denied', 'applications do not register here');
  const wait = await takeShare(services, 'registration', request.ip);
  if (wait !== undefined)
    throw new RegistrationRefused(429, 'temporarily_unavailable', 'too many registrations');
  const token =
    dynamic === 'OPEN' ? undefined : credentialsOf(request.headers.authorization ?? '', 'Bearer');
  const context = { ...services, ...callOf(request), actor: systemActor };
  return transaction(services.database, async (tx) => {
    // Whoever has no token learns nothing of what it sent. A refusal of that uses no token up.
    if (dynamic !== 'OPEN' && !(token && (await useRegistrationToken(tx, services, token))))
      throw new RegistrationRefused(401, 'invalid_token', 'the registration token is refused');
    return createDescribed(tx, context, readRequest(request.body), {
      origin: 'DYNAMIC_REGISTRATION',
    });
  });
}

function readRequest(body: unknown) {
  const given = parse(String(body ?? ''));
  if (given['application_type'] === undefined)
    throw new MetadataFault('invalid_client_metadata', 'application_type: is required');
  if (given['client_name'] === undefined)
    throw new MetadataFault('invalid_client_metadata', 'client_name: is required');
  return readClientMetadata(given, '');
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw new MetadataFault('invalid_client_metadata', 'the body is no JSON object');
}

/** The registered metadata (RFC 7591 §3.2.1). */
const answerOf = ({ id, name, type, createdAt, ...application }: Application) => ({
  client_id: id,
  client_id_issued_at: toNumericDate(createdAt),
  client_name: name,
  application_type: type === 'NATIVE' ? 'native' : 'web',
  redirect_uris: application.redirectUris,
  post_logout_redirect_uris: application.postLogoutRedirectUris,
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
});

function refuse(
  error: Error & { readonly statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const answer = (status: number, code: string) =>
    keepPrivate(reply).code(status).send({ error: code, error_description: error.message });
  if (error instanceof MetadataFault) return answer(400, error.code);
  if (error instanceof RegistrationRefused) {
    if (error.status === 401) reply.header('www-authenticate', 'Bearer error="invalid_token"');
    if (error.status === 429) reply.header('retry-after', '60');
    return answer(error.status, error.code);
  }
  const { statusCode = 500 } = error;
  if (statusCode < 500) return answer(statusCode, 'invalid_client_metadata');
  request.log.error({ err: error }, 'a registration failed');
  return keepPrivate(reply)
    .code(500)
    .send({ error: 'server_error', error_description: 'something failed inside' });
}
