import { readFile } from 'node:fs/promises';
import type { BuiltFile } from '../http/assets.ts';

// Swagger UI instead of Scalar: 1.7 MB of script against 4.4, and it works under a policy without 'unsafe-inline'. It
// is taken from Fastify's package, because swagger-ui-dist reports each installation to a third party;
// scripts/write-generated.js puts it there.
const swaggerUi = (file: string) =>
  readFile(new URL(`../generated/swagger-ui/${file}`, import.meta.url));

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

/** The files of the page `/api/docs`. */
export const files: readonly BuiltFile[] = [
  { name: 'swagger-ui.css', content: await swaggerUi('swagger-ui.css') },
  { name: 'swagger-ui.js', content: await swaggerUi('swagger-ui.js') },
  { name: 'api-docs.js', content: script },
];
