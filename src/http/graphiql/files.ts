import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as graphiql from '@graphql-yoga/render-graphiql/graphiql';
import type { BuiltFile } from '../assets.ts';

const graphqlWs = createRequire(import.meta.url).resolve('graphql-ws');
const webSocketClient = join(dirname(graphqlWs), '../umd/graphql-ws.min.js');
const [, favicon = ''] = graphiql.favicon.split(',');

/** The files of GraphiQL: scripts, workers, style and icon. */
export const files: readonly BuiltFile[] = [
  { name: 'graphiql.js', content: graphiql.js },
  { name: 'style.css', content: graphiql.css },
  { name: 'editorWorkerService.js', content: graphiql.editorWorkerService },
  { name: 'json.js', content: graphiql.jsonWorker },
  { name: 'graphql.js', content: graphiql.graphqlWorker },
  { name: 'favicon.ico', content: Buffer.from(favicon, 'base64') },
  { name: 'graphql-ws.js', content: await readFile(webSocketClient) },
  { name: 'boot.js', content: await readFile(new URL('./boot.js', import.meta.url)) },
];
