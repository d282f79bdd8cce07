import type { FastifyInstance } from 'fastify';
import { type Locate, mountAssets } from '../http/assets.ts';
import type { Services } from '../services.ts';

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

/** Mounts `/api/docs`: a page with the OpenAPI document, to read and to try. It loads nothing from other servers. */
export function mountApiDocs(http: FastifyInstance, { baseUrl }: Pick<Services, 'baseUrl'>): void {
  const locateAssets = mountAssets(http, '/assets', new URL('./docs-files.ts', import.meta.url));
  // A proxy may serve the service under another path.
  const prefix = new URL(baseUrl).pathname.replace(/\/$/, '');
  http.get('/api/docs', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', contentSecurityPolicy)
      .header('x-frame-options', 'DENY')
      .send(pageOf(await locateAssets(), prefix)),
  );
}

function pageOf(locate: Locate, prefix: string): string {
  const at: Locate = (name) => `${prefix}${locate(name)}`;
  return `<!doctype html>
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
}
