import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** A file that pages load, as a package or a bundler built it. */
export interface BuiltFile {
  /** A name such as `swagger-ui.js`. */
  readonly name: string;
  readonly content: string | Uint8Array;
  /** Whether the name holds a hash of the content. Otherwise it gets one, before the ending, where it is served. */
  readonly isHashed?: boolean;
}

/** A built file as it is served. */
export interface Asset {
  readonly name: string;
  /** Holds a hash of the content, so a browser may keep the file forever. */
  readonly servedAs: string;
  readonly brotli: Uint8Array;
  readonly gzip: Uint8Array;
}

/** Reads a folder that a bundler wrote, with hashes in the names. */
export async function readBuiltFolder(folder: URL): Promise<BuiltFile[]> {
  const root = fileURLToPath(folder);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    paths.map(async (path) => ({
      name: relative(root, path).replaceAll('\\', '/'),
      content: await readFile(path),
      isHashed: true,
    })),
  );
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

const typeOf = (name: string) => types[name.replace(/.*\./, '')];

/** Returns the path of a file by its name. */
export type Locate = (name: string) => string;

/**
 * Serves built files under a path. They are read and compressed at the first request for one of them or for their
 * paths, in a thread that ends afterwards: they can be megabytes of text, of which only the compressed form is kept.
 *
 * @param prefix The path of the folder, such as `/assets`.
 * @param files A module that exports {@link BuiltFile}s as `files`. Only the thread loads it.
 * @returns Finds the path of each file.
 */
export function mountAssets(
  http: FastifyInstance,
  prefix: string,
  files: URL,
): () => Promise<Locate> {
  http.get<{ Params: { '*': string } }>(`${prefix}/*`, async (request, reply) => {
    const assets = await prepare(files);
    const asset = assets.find(({ servedAs }) => servedAs === request.params['*']);
    if (!asset) return reply.callNotFound();
    return sendAsset(reply, asset, request.headers['accept-encoding'] ?? '');
  });
  return async () => {
    const assets = await prepare(files);
    return (wanted) => {
      const asset = assets.find(({ name }) => name === wanted);
      if (!asset) throw new Error(`${wanted} is not among the files.`);
      return `${prefix}/${asset.servedAs}`;
    };
  };
}

// Files do not change while a process runs, and every service in it has the same.
const prepared = new Map<string, Promise<readonly Asset[]>>();

function prepare({ href }: URL): Promise<readonly Asset[]> {
  const known = prepared.get(href);
  if (known) return known;
  const assets = compressInThread(href);
  prepared.set(href, assets);
  // The next request tries again.
  assets.catch(() => prepared.delete(href));
  return assets;
}

async function compressInThread(files: string): Promise<readonly Asset[]> {
  const assets = await new Promise<readonly Asset[]>((resolve, reject) => {
    const worker = new Worker(new URL('./compress-files.ts', import.meta.url), {
      workerData: files,
    });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error(`${files} could not be read.`)));
  });
  const unknown = assets.find(({ name }) => !typeOf(name));
  if (unknown) throw new Error(`${unknown.name}: no media type is known for it.`);
  return assets;
}

function sendAsset(reply: FastifyReply, asset: Asset, accepted: string): FastifyReply {
  reply.headers({
    'content-type': typeOf(asset.name),
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  });
  if (takes(accepted, 'br')) return reply.header('content-encoding', 'br').send(asset.brotli);
  if (takes(accepted, 'gzip')) return reply.header('content-encoding', 'gzip').send(asset.gzip);
  return reply.send(Readable.from([asset.gzip]).pipe(createGunzip()));
}

// RFC 9110 §12.5.3
export const takes = (accepted: string, coding: string) =>
  accepted.split(',').some((part) => {
    const [name, weight] = part.trim().split(/\s*;\s*q=/);
    return name?.toLowerCase() === coding && Number(weight ?? 1) > 0;
  });
