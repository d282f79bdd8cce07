import type { FastifyInstance } from 'fastify';
import type { Services } from '../auth/context.ts';
import { html, page, pageHeaders } from '../html/page.ts';
import { authenticateClient } from './authenticated-client.ts';
import { registerDiscovery } from './discovery.ts';
import { parseForm } from './form.ts';
import { answerByProvider } from './provider.ts';
import { type Delegate, registerTokenEndpoint } from './token-endpoint.ts';
import { registerTokenManagement } from './token-management.ts';

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

/** Mounts everything under `/oidc`. */
export async function registerOidc(http: FastifyInstance, services: Services): Promise<void> {
  registerDiscovery(http, services);
  const delegate: Delegate = (request, reply, rawBody) =>
    answerByProvider(services, request, reply, rawBody);
  registerTokenEndpoint(http, services, {
    async delegate(request, reply, rawBody) {
      // The library tells no credentials from wrong ones; here all that is wrong with them has one answer.
      await authenticateClient(services, request, parseForm(Buffer.from(rawBody)));
      await delegate(request, reply, rawBody);
    },
  });
  registerTokenManagement(http, services, { delegate });
  await http.register(async (scope) => {
    // oidc-provider reads its bodies itself, and bounds them (56 KiB).
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    for (const { method, url } of providerRoutes) {
      scope.route({
        method,
        url,
        async handler(request, reply) {
          // Parameters of the URL are stored in JSON, and PostgreSQL's cannot hold it.
          if (/%00/.test(request.url)) {
            const content = html`<p>The address that led here is not one to follow.</p>`;
            return reply.code(400).headers(pageHeaders).send(page('This did not work', content));
          }
          await answerByProvider(services, request, reply);
          return reply;
        },
      });
    }
  });
}
