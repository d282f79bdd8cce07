import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { BuiltFile } from '../assets.ts';

const graphqlWs = createRequire(import.meta.url).resolve('graphql-ws');
const webSocketClient = join(dirname(graphqlWs), '../umd/graphql-ws.min.js');

// GraphiQL as Yoga's package has it; scripts/write-generated.js puts it there.
const names = [
  'graphiql.js',
  'style.css',
  'editorWorkerService.js',
  'json.js',
  'graphql.js',
  'favicon.ico',
];
const graphiql = new URL('../../generated/graphiql/', import.meta.url);

/** The files of GraphiQL: scripts, workers, style and icon. */
export const files: readonly BuiltFile[] = [
  ...(await Promise.all(
    names.map(async (name) => ({ name, content: await readFile(new URL(name, graphiql)) })),
  )),
  { name: 'graphql-ws.js', content: await readFile(webSocketClient) },
  { name: 'boot.js', content: await readFile(new URL('./boot.js', import.meta.url)) },
];
