import type { FastifyInstance } from 'fastify';
import { html } from '../markup.ts';
import type { Services } from '../services.ts';
import { page, pageHeaders } from '../web/page.ts';
import type { ConsoleFiles } from './console/files.ts';

/**
 * Mounts `/`: it redirects browsers to the console, and answers programs with the service's addresses. If the console
 * is not built, browsers get a page with links.
 */
export function mountWelcome(
  http: FastifyInstance,
  { baseUrl, issuer, config }: Pick<Services, 'baseUrl' | 'issuer' | 'config'>,
  files: Pick<ConsoleFiles, 'isBuilt'>,
): void {
  const links = {
    console: `${baseUrl}/console`,
    graphql: `${baseUrl}/graphql`,
    rest: `${baseUrl}/api`,
    ...(config.introspection
      ? { restDocs: `${baseUrl}/api/docs`, openapi: `${baseUrl}/api/openapi.json` }
      : {}),
    ...(config.mcp ? { mcp: `${baseUrl}/mcp` } : {}),
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
    if (!request.headers.accept?.includes('text/html')) {
      return reply.type('application/json').header('cache-control', 'no-store').send(about);
    }
    return files.isBuilt()
      ? reply.header('cache-control', 'no-store').redirect(links.console, 302)
      : reply.headers(pageHeaders()).send(welcome);
  });
}

const description = 'A GraphQL-first identity service.';
