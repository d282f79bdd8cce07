import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import type {
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import { keepToOwner } from './data-dir.ts';

// PostgreSQL fills its buffers with zeros at start, so they count from then on. The file system's cache has what does
// not fit.
const settings = ['shared_buffers=64MB'];

/**
 * Starts PostgreSQL inside this process.
 *
 * @param dataDir The folder of its data, readable only by its owner; absent: it lives in memory.
 * @param fs What holds its data in place of a folder.
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
 * A folder whose files and folders only the owner can use, later ones included. PostgreSQL would do this itself, but
 * PGlite does not ask it: PGlite creates files that everyone can write, whatever the umask of the process.
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

/** Prisma's view of an embedded database. */
export class EmbeddedAdapter extends PrismaPGlite implements SqlMigrationAwareDriverAdapterFactory {
  readonly #database: PGlite;

  constructor(database: PGlite) {
    super(database);
    this.#database = database;
  }

  override async connect(): Promise<SqlDriverAdapter> {
    const adapter = await super.connect();
    return awaitScripts(adapter, this.#database);
  }

  override async connectToShadowDb(): Promise<SqlDriverAdapter> {
    const shadow = await openEmbedded({});
    const adapter = await new PrismaPGlite(shadow).connect();
    adapter.dispose = () => shadow.close();
    return awaitScripts(adapter, shadow);
  }
}

// pglite-prisma-adapter 0.7.2 starts a script without waiting for it, and does not report its failure.
function awaitScripts(adapter: SqlDriverAdapter, database: PGlite): SqlDriverAdapter {
  adapter.executeScript = async (script) => {
    await database.exec(script);
  };
  return adapter;
}
