import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { noteFailure } from '../protection/addresses.ts';
import type { Services } from '../services.ts';
import { lookFor, spokenBy } from '../web/look.ts';
import { sendPage } from '../web/page.ts';
import { readForms } from '../web/site.ts';
import { withApplicationId, withIndicators } from './named.ts';
import { hasKnownCode } from './provider/device/answers.ts';
import { mountDeviceGrant } from './provider/device/mount.ts';
import { mountDiscovery } from './provider/discovery.ts';
import { failedPage } from './provider/pages.ts';
import { answerByProvider } from './provider/provider.ts';
import { faultOfQuery } from './provider/request-bounds.ts';
import { isPublicClient, profileOf } from './provider/storage/clients.ts';
import { mountRegistration } from './registration/mount.ts';
import { ClientIdRefused } from './registration/resolve-document.ts';
import { assertMayUse, authenticateClient, bodyForLibrary } from './token/authenticated-client.ts';
import { type Delegate, mountTokenEndpoint } from './token/endpoint.ts';
import { parseForm } from './token/form.ts';
import { allowOrigin } from './token/form-endpoint.ts';
import { proveKey } from './token/keys/token-proof.ts';
import { refuseProof } from './token/keys/user-info-proof.ts';
import { mountTokenManagement } from './token/management.ts';
import { mountPushedRequests } from './token/pushed-requests.ts';
import { assertAudience } from './token/target.ts';

const providerRoutes: readonly (Pick<RouteOptions, 'method' | 'url'> & { turn?: 'token' })[] = [
  { method: 'GET', url: '/oidc/auth' },
  { method: 'GET', url: '/oidc/auth/:uid' },
  { method: ['GET', 'POST', 'OPTIONS'], url: '/oidc/me', turn: 'token' },
  { method: 'GET', url: '/oidc/session/end' },
  { method: 'POST', url: '/oidc/session/end/confirm' },
  { method: 'GET', url: '/oidc/session/end/success' },
  { method: 'OPTIONS', url: '/oidc/token' },
  { method: 'OPTIONS', url: '/oidc/request' },
  { method: 'OPTIONS', url: '/oidc/device/auth' },
  { method: 'OPTIONS', url: '/oidc/token/introspection' },
  { method: 'OPTIONS', url: '/oidc/token/revocation' },
];

/** Requests from other sites, which may come by POST too. */
const postedRequests = ['/auth', '/session/end'];

/** Mounts everything under `/oidc`. */
export async function mountOidc(http: FastifyInstance, services: Services): Promise<void> {
  mountDiscovery(http, services);
  const delegate: Delegate = async (request, reply, rawBody) => {
    await answerByProvider(services, request, reply, rawBody);
    if (reply.raw.statusCode === 401) await noteFailure(services, request.ip);
  };
  mountTokenEndpoint(http, services, {
    async delegate(request, reply, rawBody, facts) {
      // The library answers missing and wrong credentials differently; here every fault has the same answer.
      const form = parseForm(Buffer.from(rawBody));
      const client = await authenticateClient(services, request, form);
      allowOrigin(request, reply, client);
      facts.applicationId = client.client_id;
      assertMayUse(client, form.get('grant_type'));
      const resource = form.find('resource');
      if (resource !== undefined) assertAudience(form, { indicator: resource });
      const isRequired = client['dpop_bound_access_tokens'] === true;
      await proveKey(services, request, '/token', { isRequired, profile: profileOf(client) });
      const { id_token_signed_response_alg: algorithm } = client;
      // Another node may just have created the first key of this algorithm.
      if (algorithm && !services.keys.jwks().keys.some(({ alg }) => alg === algorithm)) {
        await services.keys.reload();
      }
      await delegate(request, reply, bodyForLibrary(rawBody, client.client_id));
      // A client without a secret proves nothing, so its wrong guesses count against its address.
      if (reply.raw.statusCode === 400 && isPublicClient(client) && !hasKnownCode(request)) {
        await noteFailure(services, request.ip);
      }
    },
  });
  mountTokenManagement(http, services, { delegate });
  await mountRegistration(http, services);
  await mountDeviceGrant(http, services, { delegate });
  await http.register(async (scope) => {
    // oidc-provider reads bodies itself, up to 56 KiB.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const { method, url, turn = 'request' } of providerRoutes) {
      scope.route({
        method,
        url,
        config: { turn },
        async handler(request, reply) {
          const fault = faultOfQuery(request.url);
          if (fault !== undefined) return refuseQuery(services, request, reply, fault);
          if (url === '/oidc/me') {
            const refusal = await refuseProof(services, request, reply);
            if (refusal) return refusal;
          }
          const [path = '', query] = request.url.split(/\?(.*)/s);
          if (url === '/oidc/auth' && query) {
            try {
              const named = await withApplicationId(services, request, query);
              request.raw.url = `${path}?${await withIndicators(services, named)}`;
            } catch (error) {
              if (!(error instanceof ClientIdRefused)) throw error;
              return refuseQuery(services, request, reply, error.message, 'invalid_client');
            }
          }
          await answerByProvider(services, request, reply);
          return reply;
        },
      });
    }
  });
  await mountPostedRequests(http, services);
  mountPushedRequests(http, services, { delegate });
}

/**
 * Sends a browser that posts a request to the same request by GET (OpenID Connect Core §3.1.2.1, RP-Initiated Logout
 * §2). The form is on another site, so it brings no session cookie (`SameSite=Lax`), and an answer at once would
 * replace the session of who is signed in. The GET brings it.
 */
async function mountPostedRequests(http: FastifyInstance, services: Services): Promise<void> {
  await http.register(async (scope) => {
    readForms(scope);
    for (const path of postedRequests) {
      scope.post<{ Body: URLSearchParams | undefined }>(`/oidc${path}`, (request, reply) => {
        const address = `${services.issuer}${path}?${request.body ?? ''}`;
        const fault = faultOfQuery(address);
        if (fault !== undefined) return refuseQuery(services, request, reply, fault);
        return reply.code(303).headers({ location: address, 'cache-control': 'no-store' }).send();
      });
    }
  });
}

async function refuseQuery(
  services: Services,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  fault: string,
  error = 'invalid_request',
): Promise<FastifyReply> {
  const look = await lookFor(services, spokenBy({ headers }));
  const shown = failedPage(services, look.language, {
    error,
    error_description: fault,
  });
  return sendPage(reply.code(400), look, shown);
}
