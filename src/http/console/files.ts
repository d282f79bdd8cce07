import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takes } from '../assets.ts';

/** Where Vite builds the console. */
export const builtConsole = fileURLToPath(new URL('../../../console/dist/', import.meta.url));

/** A file of the console in an encoding that a client accepts. */
interface ConsoleFile {
  readonly type: string;
  readonly encoding: string | undefined;
  readonly content: Buffer;
}

/** The files of the console as they were built. */
export interface ConsoleFiles {
  isBuilt(): boolean;
  /** The page of the Overview, or of every other address; undefined if the console is not built. */
  readPage(isOverview: boolean): Promise<Buffer | undefined>;
  /** A file under `assets/`, whose name holds its hash; undefined if there is none. */
  readAsset(name: string, acceptEncoding: string | undefined): Promise<ConsoleFile | undefined>;
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};

const compressed = new Set(['.js', '.css', '.svg', '.json', '.webmanifest']);
const endings: Readonly<Record<string, string>> = { br: '.br', gzip: '.gz' };

const readIfThere = (path: string): Promise<Buffer | undefined> =>
  readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return undefined;
    throw error;
  });

/**
 * Reads the built console from a folder. It may be built while the service runs. A file is read once in each encoding
 * that the build has written.
 */
export function openConsoleFiles(folder: string): ConsoleFiles {
  const index = join(folder, 'index.html');
  const known = new Map<string, Promise<ConsoleFile | undefined>>();

  async function read(name: string, encoding: string | undefined) {
    const path = join(folder, 'assets', name);
    const type = types[extname(name)] ?? 'application/octet-stream';
    const built = encoding && (await readIfThere(`${path}${endings[encoding]}`));
    if (built) return { type, encoding, content: built };
    const content = await readIfThere(path);
    return content && { type, encoding: undefined, content };
  }

  return {
    isBuilt: () => existsSync(index),
    readPage: (isOverview) => readIfThere(isOverview ? index : join(folder, 'inner.html')),
    async readAsset(name, acceptEncoding) {
      // Vite writes only such names; others are outside the folder.
      if (!/^[\w-][\w.-]*$/.test(name)) return undefined;
      const encoding = compressed.has(extname(name))
        ? Object.keys(endings).find((coding) => takes(acceptEncoding ?? '', coding))
        : undefined;
      const key = `${encoding ?? 'identity'} ${name}`;
      const reading = known.get(key) ?? read(name, encoding);
      known.set(key, reading);
      const file = await reading.catch((error: unknown) => {
        known.delete(key);
        throw error;
      });
      // Unknown names are not cached: there could be any number of them.
      if (!file) known.delete(key);
      return file;
    },
  };
}
