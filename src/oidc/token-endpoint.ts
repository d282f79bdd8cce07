import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import type { Services } from '../auth/context.ts';
import { readCredentials } from './client-authentication.ts';
import { clientCredentialsGrantType, issueClientCredentials } from './client-credentials.ts';
import { parseForm } from './form.ts';
import {
  InvalidClient,
  InvalidRequest,
  OAuthError,
  RequestTooLarge,
  ServerError,
  UnsupportedGrantType,
} from './oauth-errors.ts';
import { exchangeToken, tokenExchangeGrantType } from './token-exchange.ts';

/** The largest body that the endpoint reads. */
const maxBodyBytes = 64 * 1024;

const grants = new Map([
  [tokenExchangeGrantType, exchangeToken],
  [clientCredentialsGrantType, issueClientCredentials],
]);

const delegatedGrantTypes = new Set(['authorization_code', 'refresh_token']);

/** Answers a request whose body, already read, is handed over as text. */
export type Delegate = (
  request: FastifyRequest,
  reply: FastifyReply,
  rawBody: string,
) => Promise<void>;

/**
 * Mounts `POST /oidc/token`.
 *
 * Where a request has several faults, the first of these is told:
 *
 * 1. the body: its size, its media type, its encoding, a repeated parameter; then `grant_type`
 * 2. a required parameter that is missing, a repeated `resource`
 * 3. two methods of client authentication at once
 * 4. client authentication; then whether the client may use the grant
 * 5. the token types, the subject token
 * 6. the resource, the organization
 * 7. the scopes
 *
 * From step 4 on the database has been asked, once, with all that the later steps need.
 *
 * @param options.delegate Answers the grants of user sign-in.
 */
export function registerTokenEndpoint(
  http: FastifyInstance,
  services: Services,
  { delegate }: { delegate: Delegate },
): void {
  const requests = new Counter({
    name: 'signet_token_requests_total',
    help: 'Token requests by grant and outcome: "granted", or the error that was answered.',
    labelNames: ['grant', 'outcome'],
    registers: [services.metrics],
  });

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    let grantType = 'unknown';
    try {
      const { body } = request;
      if (!(body instanceof Buffer)) throw new InvalidRequest('the body must be form-encoded');
      const form = parseForm(body);
      const asked = form.get('grant_type');
      const grant = grants.get(asked);
      if (grant) {
        grantType = asked;
        const credentials = readCredentials(request.headers.authorization, form);
        const response = await grant(services, form, credentials);
        requests.inc({ grant: grantType, outcome: 'granted' });
        return keepPrivate(reply).send(response);
      }
      if (!delegatedGrantTypes.has(asked)) throw new UnsupportedGrantType();
      grantType = asked;
      await delegate(request, reply, body.toString('utf8'));
      return reply;
    } catch (error) {
      return refuse(error, request, reply, grantType);
    }
  }

  /** Turns what was thrown into the answer: nothing else here formats an error. */
  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, grantType: string) {
    const refusal = toOAuthError(error);
    requests.inc({ grant: grantType, outcome: refusal.code });
    if (refusal instanceof ServerError) {
      request.log.error({ err: error, grantType }, 'a token request failed');
    } else {
      request.log.debug(
        { grantType, error: refusal.code, description: refusal.message },
        'a token request was refused',
      );
    }
    if (refusal instanceof InvalidClient) {
      reply.header('www-authenticate', 'Basic realm="Signet", charset="UTF-8"');
    }
    return keepPrivate(reply)
      .code(refusal.status)
      .send({ error: refusal.code, error_description: refusal.message });
  }

  void http.register(async (scope) => {
    // Every media type is read and judged by the handler, whose refusal is JSON as the RFC has it.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: maxBodyBytes },
      (request, body, done) => done(null, isForm(request.headers['content-type']) ? body : null),
    );
    scope.setErrorHandler((error, request, reply) => refuse(error, request, reply, 'unknown'));
    scope.post('/oidc/token', { bodyLimit: maxBodyBytes }, answer);
  });
}

const isForm = (contentType: string | undefined) =>
  /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '');

const keepPrivate = (reply: FastifyReply) =>
  reply.header('cache-control', 'no-store').header('pragma', 'no-cache');

function toOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  // Fastify's own refusals of a body that it would not read.
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  if (code.startsWith('FST_') && statusCode < 500) {
    return statusCode === 413
      ? new RequestTooLarge()
      : new InvalidRequest('the body could not be read');
  }
  return new ServerError(error);
}
