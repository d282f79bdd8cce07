import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** A file that pages load, from a package or our own. */
export interface AssetSource {
  /** A name such as `swagger-ui.js`; the path has the hash before the ending. */
  readonly name: string;
  readonly source: URL | string;
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

// The highest quality takes seconds for a megabyte and saves only some percent.
const brotliQuality = 9;
/** Compresses a file, by the name of the encoding. */
export const compressors: Readonly<Record<string, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) =>
    promisify(brotliCompress)(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality },
    }),
  gzip: (content) => promisify(gzip)(content),
};

/**
 * Serves files whose path holds their hash, so browsers keep them forever. Each file is compressed once, at its first
 * request.
 *
 * @returns The path of each file, by name.
 */
export async function mountAssets(
  http: FastifyInstance,
  assets: readonly AssetSource[],
): Promise<Readonly<Record<string, string>>> {
  const paths: Record<string, string> = {};
  for (const { name, source } of assets) {
    const content = typeof source === 'string' ? Buffer.from(source) : await readFile(source);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
    const [, stem, ending = ''] = /^(.+)\.(\w+)$/.exec(name) ?? [];
    const type = types[ending];
    if (!type) throw new Error(`${name}: no media type is known for it.`);
    const path = `/assets/${stem}.${hash}.${ending}`;
    paths[name] = path;
    mountAsset(http, path, type, content);
  }
  return paths;
}

function mountAsset(http: FastifyInstance, path: string, type: string, content: Buffer): void {
  const compressed = new Map<string, Promise<Buffer>>();
  http.get(path, async (request, reply): Promise<FastifyReply> => {
    reply
      .type(type)
      .header('cache-control', 'public, max-age=31536000, immutable')
      .header('vary', 'Accept-Encoding');
    const encoding = encodingFor(request.headers['accept-encoding']);
    const compress = encoding && compressors[encoding];
    if (!compress) return reply.send(content);
    const body = compressed.get(encoding) ?? compress(content);
    compressed.set(encoding, body);
    return reply.header('content-encoding', encoding).send(await body);
  });
}

/** The best encoding that a client accepts (RFC 9110 §12.5.3); undefined if it accepts none of ours. */
export function encodingFor(accepted: string | undefined): string | undefined {
  const taken = new Set(
    (accepted ?? '')
      .split(',')
      .map((part) => part.trim().toLowerCase())
      .filter((part) => !/;\s*q=0(\.0*)?$/.test(part))
      .map((part) => part.split(';')[0]?.trim()),
  );
  return Object.keys(compressors).find((encoding) => taken.has(encoding));
}
