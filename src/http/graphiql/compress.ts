import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parentPort } from 'node:worker_threads';
import { brotliCompress, constants, gzip } from 'node:zlib';
import * as graphiql from '@graphql-yoga/render-graphiql/graphiql';
import type { Asset, AssetKey } from './assets.ts';

// A separate thread that ends afterwards: GraphiQL is 9 MB of text, which is not needed again.

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

async function prepare(key: AssetKey, extension: 'js' | 'css' | 'ico', content: string | Buffer) {
  const bytes = Buffer.from(content);
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return {
    key,
    name: `${key}.${digest}.${extension}`,
    gzip: await toGzip(bytes),
    brotli: await toBrotli(bytes, brotliOptions),
  } satisfies Asset;
}

const graphqlWs = createRequire(import.meta.url).resolve('graphql-ws');
const webSocketClient = join(dirname(graphqlWs), '../umd/graphql-ws.min.js');
const [, favicon = ''] = graphiql.favicon.split(',');

parentPort?.postMessage(
  await Promise.all([
    prepare('graphiql', 'js', graphiql.js),
    prepare('style', 'css', graphiql.css),
    prepare('editorWorkerService', 'js', graphiql.editorWorkerService),
    prepare('json', 'js', graphiql.jsonWorker),
    prepare('graphql', 'js', graphiql.graphqlWorker),
    prepare('favicon', 'ico', Buffer.from(favicon, 'base64')),
    prepare('graphql-ws', 'js', await readFile(webSocketClient)),
    prepare('boot', 'js', await readFile(new URL('./boot.js', import.meta.url))),
  ]),
);
