import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import type { Services } from '../../services.ts';
import { readCredentials } from './client-authentication.ts';
import { parseForm } from './form.ts';
import {
  acceptForms,
  keepPrivate,
  refuseFailing,
  sendRefusal,
  toOAuthError,
} from './form-endpoint.ts';
import { delegatedGrantTypes, grants } from './grants.ts';
import { InvalidRequest, UnsupportedGrantType } from './oauth-errors.ts';

/** Answers a request whose body was already read. */
export type Delegate = (
  request: FastifyRequest,
  reply: FastifyReply,
  rawBody: string,
) => Promise<void>;

/**
 * Mounts `POST /oidc/token`.
 *
 * If a request has several faults, the first of these is reported:
 *
 * 1. the body: its size, its media type, its encoding, a repeated parameter; then `grant_type`
 * 2. a required parameter that is missing, a repeated `resource`
 * 3. two methods of client authentication at once
 * 4. client authentication; then whether the client may use the grant
 * 5. the token types, the subject token
 * 6. the resource, the organization
 * 7. the scopes
 *
 * From step 4 on, one database query has fetched all that the later steps need.
 *
 * @param options.delegate Answers the grants of user sign-in.
 */
export function mountTokenEndpoint(
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

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply, grantType: string) {
    const refusal = toOAuthError(error);
    requests.inc({ grant: grantType, outcome: refusal.code });
    return sendRefusal(services, refusal, request, reply, { grantType });
  }

  void http.register(async (scope) => {
    acceptForms(scope);
    refuseFailing(scope, services);
    scope.setErrorHandler((error, request, reply) => refuse(error, request, reply, 'unknown'));
    // No browser shows these answers, and the headers for pages would be a tenth of their cost.
    scope.post('/oidc/token', { helmet: false }, answer);
  });
}
