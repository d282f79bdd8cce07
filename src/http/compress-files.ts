import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Asset, BuiltFile } from './assets.ts';

// The thread of `mountAssets`.

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);
// The highest quality takes seconds for a megabyte and saves only some percent.
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

async function compress({ name, content, isHashed = false }: BuiltFile): Promise<Asset> {
  const bytes = Buffer.from(content);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return {
    name,
    servedAs: isHashed ? name : name.replace(/(?=\.\w+$)/, `.${hash}`),
    gzip: await toGzip(bytes),
    brotli: await toBrotli(bytes, brotliOptions),
  };
}

const { files } = (await import(workerData as string)) as { files: readonly BuiltFile[] };
parentPort?.postMessage(await Promise.all(files.map(compress)));
