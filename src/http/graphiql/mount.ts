import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Html, html } from '../../html/markup.ts';
import { type Locate, mountAssets } from '../assets.ts';

const defaultQuery = `# Put {"Authorization": "Bearer <access token>"} under "Headers" below.
query Users {
  users(first: 10) {
    nodes: edges { node { id name username primaryEmail } }
  }
}
`;

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // The editor, Monaco, creates style elements and attributes at run time.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  'font-src data:',
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  vary: 'accept',
};

/** GraphiQL as a browser gets it. */
export interface GraphiQL {
  isAsked(request: FastifyRequest): boolean;
  answer(reply: FastifyReply): Promise<FastifyReply>;
}

/** Mounts the files of GraphiQL under `/graphql/assets`; whoever answers `/graphql` sends the page. */
export function mountGraphiQL(http: FastifyInstance): GraphiQL {
  const locateAssets = mountAssets(http, '/graphql/assets', new URL('./files.ts', import.meta.url));
  return {
    isAsked: ({ method, headers }) =>
      (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html'),
    answer: async (reply) => reply.headers(pageHeaders).send(pageOf(await locateAssets())),
  };
}

function pageOf(locate: Locate): string {
  // Relative to the page: the service may be mounted below another path.
  const url: Locate = (name) => locate(name).slice(1);
  const options = {
    title: 'Signet',
    defaultQuery,
    workers: {
      editorWorkerService: url('editorWorkerService.js'),
      json: url('json.js'),
      graphql: url('graphql.js'),
    },
  };
  // In a script, only text that could end the script needs escaping.
  const data = new Html(JSON.stringify(options).replaceAll('<', '\\u003c'));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Signet</title>
<link rel="icon" href="${url('favicon.ico')}">
<link rel="stylesheet" href="${url('style.css')}">
<script type="application/json" id="options">${data}</script>
<script defer src="${url('graphql-ws.js')}"></script>
<script defer src="${url('graphiql.js')}"></script>
<script defer src="${url('boot.js')}"></script>
</head>
<body id="body" class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<div id="root"></div>
</body>
</html>
`.markup;
}
