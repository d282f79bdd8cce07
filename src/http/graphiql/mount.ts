import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Html, html } from '../../html/markup.ts';
import { type Asset, type AssetKey, prepareAssets } from './assets.ts';

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

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ico: 'image/x-icon',
};

/** GraphiQL as a browser gets it. */
export interface GraphiQL {
  isAsked(request: FastifyRequest): boolean;
  answer(reply: FastifyReply): Promise<FastifyReply>;
}

/** Mounts the files of GraphiQL under `/graphql/assets`; whoever answers `/graphql` sends the page. */
export function mountGraphiQL(http: FastifyInstance): GraphiQL {
  http.get<{ Params: { name: string } }>('/graphql/assets/:name', async (request, reply) => {
    const assets = await prepareAssets();
    const asset = assets.find(({ name }) => name === request.params.name);
    if (!asset) return reply.callNotFound();
    return sendAsset(reply, asset, request.headers['accept-encoding'] ?? '');
  });
  return {
    isAsked: ({ method, headers }) =>
      (method === 'GET' || method === 'HEAD') && (headers.accept ?? '').includes('text/html'),
    answer: async (reply) => reply.headers(pageHeaders).send(pageOf(await prepareAssets())),
  };
}

function sendAsset(reply: FastifyReply, asset: Asset, accepted: string): FastifyReply {
  reply.headers({
    'content-type': contentTypes[asset.name.replace(/.*\./, '')],
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
  if (takes(accepted, 'br')) return reply.header('content-encoding', 'br').send(asset.brotli);
  if (takes(accepted, 'gzip')) return reply.header('content-encoding', 'gzip').send(asset.gzip);
  return reply.send(Readable.from([asset.gzip]).pipe(createGunzip()));
}

// RFC 9110 §12.5.3
const takes = (accepted: string, coding: string) =>
  accepted.split(',').some((part) => {
    const [name, weight] = part.trim().split(/\s*;\s*q=/);
    return name?.toLowerCase() === coding && Number(weight ?? 1) > 0;
  });

function pageOf(assets: readonly Asset[]): string {
  const url = (key: AssetKey) =>
    // Relative to the page: the service may be mounted below another path.
    `graphql/assets/${assets.find((asset) => asset.key === key)?.name}`;
  const options = {
    title: 'Signet',
    defaultQuery,
    workers: {
      editorWorkerService: url('editorWorkerService'),
      json: url('json'),
      graphql: url('graphql'),
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
<link rel="icon" href="${url('favicon')}">
<link rel="stylesheet" href="${url('style')}">
<script type="application/json" id="options">${data}</script>
<script defer src="${url('graphql-ws')}"></script>
<script defer src="${url('graphiql')}"></script>
<script defer src="${url('boot')}"></script>
</head>
<body id="body" class="no-focus-outline">
<noscript>GraphiQL needs JavaScript.</noscript>
<div id="root"></div>
</body>
</html>
`.markup;
}
