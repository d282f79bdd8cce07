import type { FastifyInstance } from 'fastify';
import { mountAssets } from '../http/assets.ts';
import type { Services } from '../services.ts';

// Swagger UI instead of Scalar: 1.7 MB of script against 4.4, and it works under a policy without 'unsafe-inline'. It
// is taken from Fastify's package, because swagger-ui-dist reports each installation to a third party.
const swaggerUi = (file: string) =>
  new URL(`static/${file}`, import.meta.resolve('@fastify/swagger-ui/package.json'));

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const script = `SwaggerUIBundle({
  url: document.currentScript.dataset.document,
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

/** Mounts `/api/docs`: a page with the OpenAPI document, to read and to try. It loads nothing from other servers. */
export async function mountApiDocs(
  http: FastifyInstance,
  { baseUrl }: Pick<Services, 'baseUrl'>,
): Promise<void> {
  const paths = await mountAssets(http, [
    { name: 'swagger-ui.css', source: swaggerUi('swagger-ui.css') },
    { name: 'swagger-ui.js', source: swaggerUi('swagger-ui-bundle.js') },
    { name: 'api-docs.js', source: script },
  ]);
  // A proxy may serve the service under another path.
  const prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
  const at = (name: string) => `${prefix}${paths[name]}`;
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signet management API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${at('swagger-ui.css')}">
</head>
<body>
<div id="api"></div>
<noscript>This page needs JavaScript. <a href="${prefix}/api/openapi.json">openapi.json</a> has the same.</noscript>
<script src="${at('swagger-ui.js')}"></script>
<script src="${at('api-docs.js')}" data-document="${prefix}/api/openapi.json"></script>
</body>
</html>
`;
  http.get('/api/docs', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', contentSecurityPolicy)
      .header('x-frame-options', 'DENY')
      .send(page),
  );
}
