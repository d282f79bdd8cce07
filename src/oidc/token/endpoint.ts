import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { noteActive } from '../../metrics/active-people.ts';
import { counterOf } from '../../metrics/metrics.ts';
import type { Services } from '../../services.ts';
import { withIndicators, withOwnIndicators } from '../named.ts';
import { withKnownClient } from './authenticated-client.ts';
import { readCredentials } from './client-authentication.ts';
import { noFacts, reportTokenRefusal, type TokenRequestFacts } from './explanation/refused.ts';
import { parseForm } from './form.ts';
import {
  acceptForms,
  keepPrivate,
  refuseFailing,
  refuseOtherMethods,
  sendRefusal,
  toOAuthError,
} from './form-endpoint.ts';
import { delegatedGrantTypes, exchangeGrantType, grants } from './grants.ts';
import {
  InvalidRequest,
  type OAuthError,
  ServerError,
  TemporarilyUnavailable,
  TooBusy,
  TooManyFailures,
  UnsupportedGrantType,
} from './oauth-errors.ts';

/** Whether a refusal is about the request: it is not if the service could not answer, or read nothing of it. */
const isJudged = (refusal: OAuthError): boolean =>
  !(
    refusal instanceof ServerError ||
    refusal instanceof TemporarilyUnavailable ||
    refusal instanceof TooBusy ||
    refusal instanceof TooManyFailures
  );

/** Answers a request whose body was already read. */
export type Delegate = (
  request: FastifyRequest,
  reply: FastifyReply,
  rawBody: string,
) => Promise<void>;

/** The same for a token request. */
type TokenDelegate = (
  ...of: [...Parameters<Delegate>, facts: Pick<TokenRequestFacts, 'applicationId'>]
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
 * 5. the proof of possession; the token types, the subject token and its key
 * 6. the resource, the organization
 * 7. the scopes
 *
 * From step 4 on, one database query has fetched all that the later steps need.
 *
 * @param options.delegate Answers the grants of user sign-in. It notes the client, in case that it refuses the request.
 */
export function mountTokenEndpoint(
  http: FastifyInstance,
  services: Services,
  { delegate }: { delegate: TokenDelegate },
): void {
  const requests = counterOf(services.metrics, 'signet_token_requests_total');
  const refusedExchanges = counterOf(services.metrics, 'signet_exchange_refusals_total');

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    let grantType = 'unknown';
    const facts = noFacts();
    try {
      if (!(request.body instanceof Buffer))
        throw new InvalidRequest('the body must be form-encoded');
      const form = withOwnIndicators(services, parseForm(request.body));
      const asked = form.get('grant_type');
      facts.grantType = asked;
      facts.resource = form.find('resource') ?? null;
      if (asked === exchangeGrantType) facts.rule = 'REQUEST';
      const grant = grants.get(asked);
      if (grant) {
        grantType = asked;
        const credentials = readCredentials(request.headers.authorization, form);
        const response = await grant(services, form, credentials, facts, request);
        requests.inc({ grant: grantType, outcome: 'granted' });
        if (facts.userId !== null) noteActive(services.metrics, facts.userId);
        return keepPrivate(reply).send(response);
      }
      if (!delegatedGrantTypes.has(asked)) throw new UnsupportedGrantType();
      grantType = asked;
      const known = await withKnownClient(services, request, request.body);
      await delegate(request, reply, await withIndicators(services, known), facts);
      return reply;
    } catch (error) {
      return refuse(error, request, reply, grantType, facts);
    }
  }

  function refuse(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    grantType: string,
    facts: TokenRequestFacts,
  ) {
    const refusal = toOAuthError(error);
    requests.inc({ grant: grantType, outcome: refusal.code });
    const isOfRequest = isJudged(refusal);
    if (grantType === exchangeGrantType)
      refusedExchanges.inc({ rule: (isOfRequest && facts.rule) || 'SERVICE' });
    if (isOfRequest) reportTokenRefusal(services, request, facts, refusal.code);
    return sendRefusal(services, refusal, request, reply, { grantType });
  }

  void http.register(async (scope) => {
    acceptForms(scope);
    refuseFailing(scope, services);
    scope.setErrorHandler((error, request, reply) =>
      refuse(error, request, reply, 'unknown', noFacts()),
    );
    // The headers for pages would be a tenth of the cost.
    scope.post('/oidc/token', { config: { isForBrowsers: false, turn: 'token' } }, answer);
    refuseOtherMethods(scope, services, '/oidc/token');
  });
}
