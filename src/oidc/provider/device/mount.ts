import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../../services.ts';
import { answerFailures } from '../../../web/failures.ts';
import { redirect } from '../../../web/site.ts';
import { withIndicators } from '../../named.ts';
import {
  assertMayUse,
  authenticateClient,
  bodyForLibrary,
  withKnownClient,
} from '../../token/authenticated-client.ts';
import type { Delegate } from '../../token/endpoint.ts';
import { parseForm } from '../../token/form.ts';
import {
  acceptForms,
  allowOrigin,
  refuseFailing,
  refuseOtherMethods,
  sendRefusal,
  toOAuthError,
} from '../../token/form-endpoint.ts';
import { InvalidRequest } from '../../token/oauth-errors.ts';
import { localesParameter } from '../pages.ts';
import { answerByProvider } from '../provider.ts';
import { faultOfQuery } from '../request-bounds.ts';
import { deviceGrantType } from './grant.ts';

/**
 * Mounts the device grant (RFC 8628): `POST /oidc/device/auth` for devices, and `/device` for people.
 *
 * @param options.delegate Answers a device whose application has authenticated.
 */
export async function mountDeviceGrant(
  http: FastifyInstance,
  services: Services,
  { delegate }: { delegate: Delegate },
): Promise<void> {
  await http.register(async (scope) => {
    acceptForms(scope);
    refuseFailing(scope, services);
    scope.setErrorHandler((error, request, reply) =>
      sendRefusal(services, toOAuthError(error), request, reply),
    );
    refuseOtherMethods(scope, services, '/oidc/device/auth');
    scope.post('/oidc/device/auth', { config: { turn: 'token' } }, async (request, reply) => {
      const { body } = request;
      if (!(body instanceof Buffer)) throw new InvalidRequest('the body must be form-encoded');
      parseForm(body);
      const known = await withKnownClient(services, request, body);
      const named = await withIndicators(services, known);
      const client = await authenticateClient(services, request, parseForm(Buffer.from(named)));
      allowOrigin(request, reply, client);
      assertMayUse(client, deviceGrantType);
      const sent = bodyForLibrary(named, client.client_id);
      const fault = faultOfQuery(`?${sent}`);
      if (fault !== undefined) throw new InvalidRequest(fault);
      await delegate(request, reply, sent);
      return reply;
    });
  });
  await http.register(async (scope) => {
    answerFailures(scope, services);
    // oidc-provider reads bodies itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.get('/device', async (request, reply) =>
      redirect(reply, `${services.issuer}/device${keptQuery(request)}`),
    );
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      await answerByProvider(services, request, reply);
      return reply;
    };
    scope.route({ method: ['GET', 'POST'], url: '/oidc/device', handler });
    scope.get('/oidc/device/:uid', handler);
  });
}

/** What the page asks for of its address: the code, and the language. */
function keptQuery({ query }: FastifyRequest): string {
  const given = query as Record<string, unknown>;
  const kept = ['user_code', localesParameter].flatMap((name) =>
    typeof given[name] === 'string' ? [[name, given[name]] as [string, string]] : [],
  );
  return kept.length === 0 ? '' : `?${new URLSearchParams(kept)}`;
}
