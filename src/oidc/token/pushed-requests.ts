import type { FastifyInstance } from 'fastify';
import type { Services } from '../../services.ts';
import { withIndicators } from '../named.ts';
import { faultOfQuery } from '../provider/request-bounds.ts';
import { isFapi, profileOf } from '../provider/storage/clients.ts';
import { authenticateClient, bodyForLibrary, withKnownClient } from './authenticated-client.ts';
import type { Delegate } from './endpoint.ts';
import { parseForm } from './form.ts';
import {
  acceptForms,
  allowOrigin,
  refuseFailing,
  refuseOtherMethods,
  sendRefusal,
  toOAuthError,
} from './form-endpoint.ts';
import { proveKey } from './keys/token-proof.ts';
import { InvalidRequest } from './oauth-errors.ts';

/**
 * Mounts `POST /oidc/request`, where applications push their authorization requests (RFC 9126 §2).
 *
 * @param options.delegate Keeps the request, once its client has authenticated.
 */
export function mountPushedRequests(
  http: FastifyInstance,
  services: Services,
  { delegate }: { delegate: Delegate },
): void {
  void http.register(async (scope) => {
    acceptForms(scope);
    refuseFailing(scope, services);
    scope.setErrorHandler((error, request, reply) =>
      sendRefusal(services, toOAuthError(error), request, reply),
    );
    refuseOtherMethods(scope, services, '/oidc/request');
    scope.post('/oidc/request', { config: { turn: 'token' } }, async (request, reply) => {
      const { body } = request;
      if (!(body instanceof Buffer)) throw new InvalidRequest('the body must be form-encoded');
      parseForm(body);
      const known = await withKnownClient(services, request, body);
      const named = await withIndicators(services, known);
      const form = parseForm(Buffer.from(named));
      const client = await authenticateClient(services, request, form);
      allowOrigin(request, reply, client);
      // FAPI 2.0 §5.3.2.2; the library would take the only one that is registered.
      if (isFapi(client)) form.get('redirect_uri');
      const pushed = bodyForLibrary(named, client.client_id);
      const fault = faultOfQuery(`?${pushed}`);
      if (fault !== undefined) throw new InvalidRequest(fault);
      // Here a proof is never required: it binds the code, as `dpop_jkt` would (RFC 9449 §10.1).
      await proveKey(services, request, '/request', {
        isRequired: false,
        profile: profileOf(client),
      });
      await delegate(request, reply, pushed);
      return reply;
    });
  });
}
