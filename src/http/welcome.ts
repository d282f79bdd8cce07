import type { FastifyInstance } from 'fastify';
import { html } from '../html/markup.ts';
import { page, pageHeaders } from '../html/page.ts';
import type { Services } from '../services.ts';

/** Mounts `/`, which introduces the service and its links: a page for browsers, JSON for programs. */
export function mountWelcome(
  http: FastifyInstance,
  { baseUrl, issuer, config }: Pick<Services, 'baseUrl' | 'issuer' | 'config'>,
): void {
  const links = {
    graphql: `${baseUrl}/graphql`,
    rest: `${baseUrl}/api`,
    ...(config.introspection
      ? { restDocs: `${baseUrl}/api/docs`, openapi: `${baseUrl}/api/openapi.json` }
      : {}),
    token: `${issuer}/token`,
    discovery: `${issuer}/.well-known/openid-configuration`,
    jwks: `${issuer}/jwks`,
    health: `${baseUrl}/readyz`,
  };
  const about = `${JSON.stringify({ name: 'Signet', description, issuer, ...links }, null, 2)}\n`;
  const shown = [
    ...(config.graphiql ? [{ href: links.graphql, text: 'GraphiQL, to try the GraphQL API' }] : []),
    ...(links.restDocs ? [{ href: links.restDocs, text: 'The REST API' }] : []),
    { href: links.discovery, text: 'OpenID Connect discovery' },
    { href: links.health, text: 'Is it ready?' },
  ];
  const welcome = page({
    heading: 'Signet',
    title: 'Welcome',
    lead: description,
    body: html`<ul class="ways">
${shown.map(({ href, text }) => html`<li><a class="button quiet" href="${href}">${text}</a></li>\n`)}</ul>`,
  });

  http.get('/', async (request, reply) => {
    reply.header('vary', 'Accept');
    return request.headers.accept?.includes('text/html')
      ? reply.headers(pageHeaders()).send(welcome)
      : reply.type('application/json').header('cache-control', 'no-store').send(about);
  });
}

const description = 'A GraphQL-first identity service.';
