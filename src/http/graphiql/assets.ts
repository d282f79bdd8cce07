import { Worker } from 'node:worker_threads';

/** The files of GraphiQL: scripts, workers, style and icon. */
export type AssetKey =
  | 'graphiql'
  | 'style'
  | 'editorWorkerService'
  | 'json'
  | 'graphql'
  | 'favicon'
  | 'graphql-ws'
  | 'boot';

/** A compressed file of GraphiQL. */
export interface Asset {
  readonly key: AssetKey;
  /** Holds a digest of the content, so a client may keep it forever. */
  readonly name: string;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

let prepared: Promise<readonly Asset[]> | undefined;

/** The files of GraphiQL, read and compressed at the first request. */
export function prepareAssets(): Promise<readonly Asset[]> {
  prepared ??= compress();
  prepared.catch(() => {
    prepared = undefined;
  });
  return prepared;
}

function compress(): Promise<readonly Asset[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./compress.ts', import.meta.url));
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('GraphiQL could not be read.')));
  });
}
