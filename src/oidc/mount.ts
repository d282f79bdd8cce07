import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { maxBodyBytes } from '../body-limits.ts';
import { lookFor } from '../html/look.ts';
import { pageHeaders } from '../html/page.ts';
import { noteFailure } from '../protection/addresses.ts';
import type { Services } from '../services.ts';
import { mountDiscovery } from './provider/discovery.ts';
import { failedPage } from './provider/pages.ts';
import { answerByProvider } from './provider/provider.ts';
import { faultOfQuery } from './provider/request-bounds.ts';
import { isPublicClient } from './provider/storage/clients.ts';
import { authenticateClient } from './token/authenticated-client.ts';
import { type Delegate, mountTokenEndpoint } from './token/endpoint.ts';
import { parseForm } from './token/form.ts';
import { mountTokenManagement } from './token/management.ts';

const providerRoutes = [
  { method: 'GET', url: '/oidc/auth' },
  { method: 'GET', url: '/oidc/auth/:uid' },
  { method: ['GET', 'POST', 'OPTIONS'], url: '/oidc/me' },
  { method: 'GET', url: '/oidc/session/end' },
  { method: 'POST', url: '/oidc/session/end/confirm' },
  { method: 'GET', url: '/oidc/session/end/success' },
  { method: 'OPTIONS', url: '/oidc/token' },
  { method: 'OPTIONS', url: '/oidc/token/introspection' },
  { method: 'OPTIONS', url: '/oidc/token/revocation' },
];

/** The requests that other sites make; each may come by POST too. */
const postedRequests = ['/auth', '/session/end'];

/** Mounts everything under `/oidc`. */
export async function mountOidc(http: FastifyInstance, services: Services): Promise<void> {
  mountDiscovery(http, services);
  const delegate: Delegate = async (request, reply, rawBody) => {
    await answerByProvider(services, request, reply, rawBody);
    if (reply.raw.statusCode === 401) await noteFailure(services, request.ip);
  };
  mountTokenEndpoint(http, services, {
    async delegate(request, reply, rawBody) {
      // The library answers missing and wrong credentials differently; here every fault has the same answer.
      const form = parseForm(Buffer.from(rawBody));
      const client = await authenticateClient(services, request, form);
      const { id_token_signed_response_alg: algorithm } = client;
      // Another node may just have created the first key of this algorithm.
      if (algorithm && !services.keys.jwks().keys.some(({ alg }) => alg === algorithm)) {
        await services.keys.reload();
      }
      await delegate(request, reply, rawBody);
      // A client without a secret proves nothing, so its wrong guesses count against its address.
      if (reply.raw.statusCode === 400 && isPublicClient(client)) {
        await noteFailure(services, request.ip);
      }
    },
  });
  mountTokenManagement(http, services, { delegate });
  await http.register(async (scope) => {
    // oidc-provider reads bodies itself, up to 56 KiB.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const { method, url } of providerRoutes) {
      scope.route({
        method,
        url,
        async handler(request, reply) {
          const fault = faultOfQuery(request.url);
          if (fault !== undefined) return refuseQuery(services, request, reply, fault);
          await answerByProvider(services, request, reply);
          return reply;
        },
      });
    }
  });
  await mountPostedRequests(http, services);
}

/**
 * Sends a browser that posts a request to the same request by GET (OpenID Connect Core §3.1.2.1, RP-Initiated Logout
 * §2). The form is on another site, so it brings no session cookie (`SameSite=Lax`), and an answer at once would
 * replace the session of who is signed in. The GET brings it.
 */
async function mountPostedRequests(http: FastifyInstance, services: Services): Promise<void> {
  await http.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: maxBodyBytes.page },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
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
): Promise<FastifyReply> {
  const look = await lookFor(services, { acceptLanguage: headers['accept-language'] });
  const shown = failedPage(services, look, { error: 'invalid_request', error_description: fault });
  return reply.code(400).headers(pageHeaders(look)).send(shown);
}
