import type { PGlite } from '@electric-sql/pglite';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { PrismaClient } from '../generated/prisma/client.ts';
import { tracedStatement } from '../tracing/statements.ts';
import { clientHere, sqlHere } from './around.ts';
import { createEndpoint } from './connections/endpoint.ts';
import type { DatabaseState } from './connections/state.ts';
import type { TransactionConnection } from './connections/transaction-connection.ts';
import { watchConnections } from './connections/watch.ts';
import { longestTransactionMs } from './driver-transaction.ts';
import { EmbeddedAdapter } from './embedded/adapter.ts';
import { type EmbeddedEngine, engineHere } from './embedded/engine.ts';
import { startThread, type ThreadOptions } from './embedded/thread.ts';
import { type Hints, localHints, notifyingHints } from './hints.ts';
import { assertNoClashes } from './migrations/clashes.ts';
import { applyMigrations, isMigrated } from './migrations/migrate.ts';
import {
  type Addresses,
  assertMayMigrate,
  type OpenClient,
  openPool,
  type PoolState,
  poolAdapter,
  poolSql,
  poolWaitMs,
  stateOfPool,
  takeTurns,
  withAdvisoryLock,
} from './postgresql.ts';
import { type FollowedReplicas, followReplicas, type ReplicaOptions } from './replicas/replicas.ts';
import { prismaSql, runByDriver, type Sql } from './sql.ts';

/** The database: PostgreSQL, or embedded. Both have the same schema and run the same statements. */
export interface Database {
  readonly kind: 'postgresql' | 'embedded';
  /** For everything but the token path. */
  readonly prisma: PrismaClient;
  /** Lends a driver connection for one transaction. Absent on the embedded database. */
  readonly lend?: () => Promise<TransactionConnection>;
  /** Runs statements on the connections of `prisma` without Prisma's cost: those that run often or read many rows. */
  readonly sql: Sql;
  /** For the token path. It has its own connections, so load on the management API cannot starve it. */
  readonly tokens: Sql;
  /** Whether work waits for a connection. */
  isBacklogged(): boolean;
  /** The connections of each pool; none on the embedded database. */
  pools(): Readonly<Record<string, PoolState>>;
  /** Reads the database's state. Rejects within two seconds if the database does not answer. */
  state(): Promise<DatabaseState>;
  /** Tells all processes what was committed. */
  readonly hints: Hints;
  /** The replicas that queries may read; absent if there are none. */
  readonly replicas?: Replicas;
  /** Brings the tables up to date, under a lock. Returns the names of the applied migrations. */
  migrate(): Promise<string[]>;
  /**
   * Runs long work in one process at a time for each name; the others wait for their turn. The signal ends the work at
   * a stop, and when the connection that holds the turn breaks.
   */
  exclusively(
    name: string,
    stopped: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
  /** Ends the running statements and closes the connections. */
  close(): Promise<void>;
}

/** The replicas of the database. Their reader is the database, read at one of them with `prisma` and `sql`. */
type Replicas = Pick<FollowedReplicas<Database>, 'reader' | 'position' | 'states'>;

const client = (
  adapter: SqlMigrationAwareDriverAdapterFactory,
  maxWait: number,
  timeout = longestTransactionMs,
) =>
  new PrismaClient({
    adapter,
    transactionOptions: { maxWait, timeout },
    errorFormat: 'minimal',
  });

/** Settings for the statements of the token path. */
const tokenSettings = {
  // Planning the exchange's statement costs more than running it.
  plan_cache_mode: 'force_generic_plan',
  // Every part of it is an index lookup. Without these settings, a plan made while the tables were small would scan
  // them after they have grown.
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A bitmap would hold every role that gives a scope, to find the one that the user has.
  enable_bitmapscan: 'off',
};
/** The longest that such a statement may take. */
const longestLookupMs = 5_000;

/**
 * Opens PostgreSQL; connects at first use. With a way past a pooler, what needs a session of its own goes there, and
 * everything else makes do without one.
 */
export function openPostgresql(
  options: Addresses & {
    poolSize: number;
    tokenPoolSize: number;
    onError: (error: Error) => void;
    replicas?: Pick<ReplicaOptions, 'urls' | 'maxLagMs' | 'onChange'> | undefined;
  },
): Database {
  const { url, directUrl, passwordFile, poolSize, onError } = options;
  const isShared = directUrl !== undefined;
  const endpoint = createEndpoint({ url, passwordFile });
  const direct = isShared ? createEndpoint({ url: directUrl, passwordFile }) : endpoint;
  const connections = watchConnections(endpoint, direct, onError);
  const sessions = isShared ? watchConnections(direct, direct, onError) : connections;
  const management = openPool({
    endpoint: connections,
    size: poolSize,
    onError,
    isShared,
  });
  const tokens = openPool({
    endpoint: connections,
    size: options.tokenPoolSize,
    onError,
    isShared,
    settings: tokenSettings,
    longestMs: longestLookupMs,
  });
  const open: OpenClient = (application_name) => new sessions.Client({ application_name });
  const adapter = poolAdapter(management);
  const prisma = client(adapter, poolWaitMs);
  runByDriver(prisma, poolSql(management));
  const hints = notifyingHints(open, onError);
  const database: Database = {
    kind: 'postgresql',
    get prisma() {
      return clientHere(prisma);
    },
    lend: () => management.lend(),
    sql: sqlHere(poolSql(management)),
    tokens: poolSql(tokens),
    isBacklogged: () =>
      [management, tokens, ...replicaPools()].some(({ waitingCount }) => waitingCount > 0),
    pools: () => ({
      management: stateOfPool(management),
      tokens: stateOfPool(tokens),
      ...Object.fromEntries(
        replicaPools().map((pool, i) => [`replica_${i + 1}`, stateOfPool(pool)]),
      ),
    }),
    state: () => connections.state(),
    hints,
    exclusively: (name, stopped, work) => takeTurns({ open, name, onError }, stopped, work),
    async migrate() {
      if (await isMigrated(prisma)) return [];
      return withAdvisoryLock(direct, 'signet:migrations', async () => {
        await assertMayMigrate(direct);
        // The engine takes its own lock for the session and never releases it. On a pooled connection, the next node to
        // start would wait forever.
        const pool = openPool({
          endpoint: direct,
          size: 1,
          onError,
          // An index over many rows takes its time.
          settings: { statement_timeout: '0' },
        });
        try {
          await assertNoClashes(prisma, poolSql(pool));
          return await applyMigrations(poolAdapter(pool));
        } finally {
          await pool.end();
        }
      });
    },
    async close() {
      await hints.close();
      // What a replica leaves unanswered is read at the primary.
      await replicas?.close();
      await prisma.$disconnect();
      await Promise.all([management.end(), tokens.end()]);
      await Promise.all([connections.close(), sessions.close()]);
    },
  };
  const replicas =
    options.replicas &&
    followReplicas<Database>(
      { ...options.replicas, passwordFile, poolSize, isShared },
      sessions,
      management,
      (pool) => {
        const own = client(poolAdapter(pool), poolWaitMs);
        const sql = poolSql(pool);
        runByDriver(own, sql);
        const reader = { ...database, prisma: own, sql };
        return { reader, close: () => own.$disconnect() };
      },
    );
  const replicaPools = () => replicas?.pools ?? [];
  return replicas ? Object.assign(database, { replicas }) : database;
}

/**
 * Opens the embedded database in a thread of its own. The caller must have claimed the data folder.
 *
 * @throws {StartError} when it cannot be opened.
 */
export const openEmbeddedDatabase = async (
  options: Omit<ThreadOptions, 'settings'>,
): Promise<Database> =>
  embeddedDatabase(await startThread({ ...options, settings: tokenSettings }));

/**
 * Uses an embedded database that is open in this thread: for tests, and for scripts that do nothing else. There a long
 * transaction keeps nobody waiting; the machine may be busy.
 */
export const useEmbedded = (database: PGlite): Database =>
  embeddedDatabase(engineHere(database, tokenSettings), 600_000);

/** The data folder's lock replaces the migrations' lock. */
function embeddedDatabase(engine: EmbeddedEngine, longestMs = longestTransactionMs): Database {
  const adapter = new EmbeddedAdapter(engine);
  const prisma = client(adapter, 2 * longestMs, longestMs);
  return {
    kind: 'embedded',
    get prisma() {
      return clientHere(prisma);
    },
    sql: sqlHere(prismaSql(prisma)),
    tokens: {
      query: async <Row>(name: string, text: string, values: readonly unknown[]) =>
        (await tracedStatement(text, () => engine.call('lookUp', name, text, values))) as Row[],
    },
    isBacklogged: () => engine.isBacklogged(),
    pools: () => ({}),
    state: () => engine.state(),
    hints: localHints(),
    // No other process can be here: the data folder is locked.
    exclusively: (_name, stopped, work) => work(stopped),
    async migrate() {
      if (await isMigrated(prisma)) return [];
      await assertNoClashes(prisma, prismaSql(prisma));
      return applyMigrations(adapter);
    },
    async close() {
      await prisma.$disconnect();
      await engine.close();
    },
  };
}
