import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { MemoryFS } from '@electric-sql/pglite';

/** The part of Emscripten's file system that is used here. */
interface Files {
  mkdirTree(path: string, mode: number): void;
  writeFile(path: string, content: Uint8Array, options: { mode: number }): void;
}

type PreRun = (module: { FS: Files }) => void;

/** How Emscripten has its module instantiated, with what the module calls. */
type Instantiate = (
  imports: { readonly env: Record<string, unknown> },
  ...rest: unknown[]
) => unknown;

// Where PGlite has its data.
const dataFolder = '/pglite/data';

/** A data folder, read once. */
export interface DataFolder {
  readonly folders: readonly string[];
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Reads a data folder that no process uses. */
export async function readDataFolder(path: string): Promise<DataFolder> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const nameOf = (entry: (typeof entries)[number]) =>
    join(dataFolder, relative(path, join(entry.parentPath, entry.name)));
  const files = entries.filter((entry) => entry.isFile());
  return {
    folders: entries.filter((entry) => entry.isDirectory()).map(nameOf),
    files: new Map(
      await Promise.all(
        files.map(
          async (entry) =>
            // Emscripten copies by `slice`, which in a Buffer copies nothing.
            [
              nameOf(entry),
              new Uint8Array(await readFile(join(entry.parentPath, entry.name))),
            ] as const,
        ),
      ),
    ),
  };
}

/** A database in memory that starts as a copy of a data folder: a third of the work of reading a dump. */
export class EmbeddedCopy extends MemoryFS {
  readonly #from: DataFolder;

  constructor(from: DataFolder) {
    super();
    this.#from = from;
  }

  override async init(...given: Parameters<MemoryFS['init']>): ReturnType<MemoryFS['init']> {
    const { emscriptenOpts } = await super.init(...given);
    const copy: PreRun = ({ FS }) => {
      FS.mkdirTree(dataFolder, 0o700);
      for (const folder of this.#from.folders) FS.mkdirTree(folder, 0o700);
      for (const [name, content] of this.#from.files) FS.writeFile(name, content, { mode: 0o600 });
    };
    // Emscripten's module has its file systems, which PGlite's type of it leaves out.
    const preRun = [...(emscriptenOpts.preRun ?? []), copy as never];
    const instantiate = emscriptenOpts['instantiateWasm'] as Instantiate;
    const instantiateWasm: Instantiate = (imports, ...rest) => {
      // After ten idle seconds, PostgreSQL would write its statistics down. The first file of each worker would wait for
      // that timer to end.
      imports.env['_setitimer_js'] = () => 0;
      return instantiate(imports, ...rest);
    };
    return {
      emscriptenOpts: { ...emscriptenOpts, preRun, instantiateWasm },
    };
  }
}
