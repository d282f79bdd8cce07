import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Html, html } from '../../markup.ts';
import { type Locate, mountAssets } from '../assets.ts';

const firstQuery = `query Users {
  users(first: 10) {
    nodes: edges { node { id name username primaryEmail } }
  }
}
`;

/** Where the page stands, and what is sent from it. */
interface Place {
  /** The way from the page to the folder that has `graphql/`. */
  readonly root: string;
  /** The API, as seen from the page. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly defaultQuery: string;
}

const alone: Place = {
  root: '',
  endpoint: 'graphql',
  headers: {},
  defaultQuery: `# Put {"Authorization": "Bearer <access token>"} under "Headers" below.\n${firstQuery}`,
};

const inConsole: Place = {
  root: '../',
  endpoint: 'graphql',
  headers: { 'x-signet-console': '1' },
  defaultQuery: firstQuery,
};

const policyFor = (ancestors: "'none'" | "'self'") =>
  [
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
    `frame-ancestors ${ancestors}`,
  ].join('; ');

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': policyFor("'none'"),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  vary: 'accept',
};

/** In the console it stands in a frame. */
const frameHeaders = {
  ...pageHeaders,
  'content-security-policy': policyFor("'self'"),
  // Not no-referrer: that would take the Origin header from its requests, which the console's API requires.
  'referrer-policy': 'same-origin',
  'x-frame-options': 'SAMEORIGIN',
};

/** GraphiQL as a browser gets it. */
export interface GraphiQL {
  isAsked(request: FastifyRequest): boolean;
  answer(reply: FastifyReply): Promise<FastifyReply>;
}

/**
 * Mounts the files of GraphiQL under `/graphql/assets`, and `/console/graphiql` for a frame of the console, whose
 * session it uses; whoever answers `/graphql` sends the page there.
 */
export function mountGraphiQL(http: FastifyInstance): GraphiQL {
  const locateAssets = mountAssets(http, '/graphql/assets', new URL('./files.ts', import.meta.url));
  http.get('/console/graphiql', async (_request, reply) =>
    reply.headers(frameHeaders).send(pageOf(await locateAssets(), inConsole)),
  );
  return {
    isAsked: ({ method, headers }) =>
      (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html'),
    answer: async (reply) => reply.headers(pageHeaders).send(pageOf(await locateAssets(), alone)),
  };
}

function pageOf(locate: Locate, { root, ...place }: Place): string {
  // Relative to the page: the service may be mounted below another path.
  const url: Locate = (name) => `${root}${locate(name).slice(1)}`;
  const options = {
    title: 'Signet',
    ...place,
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
