import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { keepToOwner } from './data-dir.ts';

// PostgreSQL fills its buffers with zeros at start, so they count from then on. The file system's cache has what does
// not fit.
const settings = [
  'shared_buffers=64MB',
  // Statements are prepared to be parsed once, and planned each time for the tables as they are then.
  'plan_cache_mode=force_custom_plan',
];

/**
 * Starts PostgreSQL inside this thread.
 *
 * @param dataDir The folder of its data, readable only by its owner; absent: it lives in memory.
 * @param fs The file system to use instead of a folder.
 */
export async function openEmbedded({
  dataDir,
  fs,
}: {
  dataDir?: string;
  fs?: PGliteOptions['fs'];
}): Promise<PGlite> {
  if (dataDir !== undefined) await keepToOwner(dataDir);
  return PGlite.create({
    ...(dataDir === undefined ? {} : { fs: new OwnersFiles(dataDir) }),
    ...(fs === undefined ? {} : { fs }),
    extensions: { pg_trgm },
    startParams: [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])],
    // A commit is on disk before it is acknowledged.
    relaxedDurability: false,
  });
}

interface Attributes {
  readonly mode?: number | null;
}

/** The part of Emscripten's file system that is used here (`libnodefs.js`). */
interface NodeFiles {
  node_ops: {
    mknod(parent: unknown, name: string, mode: number, device: number): unknown;
    setattr(node: unknown, attributes: Attributes): void;
  };
  stream_ops: { setattr(stream: unknown, attributes: Attributes): void };
}

type PreRun = (module: { NODEFS: NodeFiles }) => void;

/** The access rights of everyone but the owner. */
const ofOthers = 0o077;

/**
 * A folder in which only the owner can use files and folders, later ones included. PostgreSQL itself would see to
 * that, but PGlite creates files that everyone can write, whatever the process's umask.
 */
class OwnersFiles extends NodeFS {
  override async init(...given: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...given);
    // Emscripten's module has its file systems, which PGlite's type of it leaves out.
    const preRun = [...(emscriptenOpts.preRun ?? []), restrict as never];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }
}

const restrict: PreRun = ({ NODEFS: { node_ops: nodes, stream_ops: streams } }) => {
  const { mknod, setattr } = nodes;
  const { setattr: setStream } = streams;
  const owners = <Given extends Attributes>(attributes: Given): Given =>
    attributes.mode == null ? attributes : { ...attributes, mode: attributes.mode & ~ofOthers };
  nodes.mknod = (parent, name, mode, device) => mknod(parent, name, mode & ~ofOthers, device);
  nodes.setattr = (node, attributes) => setattr(node, owners(attributes));
  streams.setattr = (stream, attributes) => setStream(stream, owners(attributes));
};
