import type { PGlite } from '@electric-sql/pglite';
import type { SqlMigrationAwareDriverAdapterFactory } from '@prisma/driver-adapter-utils';
import { PrismaClient } from '../generated/prisma/client.ts';
import { longestTransactionMs } from './driver-transaction.ts';
import { EmbeddedAdapter } from './embedded/open.ts';
import { embeddedSql } from './embedded/sql.ts';
import { type Hints, localHints, notifyingHints } from './hints.ts';
import { applyMigrations, isMigrated } from './migrations/migrate.ts';
import { openPool, poolAdapter, poolSql, takeTurns, withAdvisoryLock } from './postgresql.ts';
import { prismaSql, type Sql } from './sql.ts';
import type { TransactionConnection } from './transaction-connection.ts';

/** The database, on PostgreSQL or embedded: the same schema, the same statements. */
export interface Database {
  readonly kind: 'postgresql' | 'embedded';
  /** For the management API and everything else but the token path. */
  readonly prisma: PrismaClient;
  /** Lends a connection of the driver for a transaction; absent on the embedded database. */
  readonly lend?: () => Promise<TransactionConnection>;
  /** For statements that run often or read many rows, on the connections of `prisma` and without its cost. */
  readonly sql: Sql;
  /** For the token path, with its own connections: load on the management API cannot starve it. */
  readonly tokens: Sql;
  /** Tells other processes that the event log has something new. */
  readonly hints: Hints;
  /** Brings the tables up to date, under a lock. Returns the names of the applied migrations. */
  migrate(): Promise<string[]>;
  /**
   * Does some long work while no other process does work with the same name; waits for its turn. The work's signal ends
   * it at a stop, or when the turn was lost with its connection.
   */
  exclusively(
    name: string,
    stopped: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
  /** Ends the running statements and closes the connections. */
  close(): Promise<void>;
}

// A transaction may wait for a connection as long as a burst may queue, but must then run in much less time.
const transactionOptions = { maxWait: 30_000, timeout: longestTransactionMs };

const client = (adapter: SqlMigrationAwareDriverAdapterFactory) =>
  new PrismaClient({ adapter, transactionOptions, errorFormat: 'minimal' });

/** Settings for the statements of the token path. */
const tokenSettings = {
  // Planning the exchange's statement costs more than running it.
  plan_cache_mode: 'force_generic_plan',
  // Every part of it is an index lookup. A plan made while the tables were small must not scan them once they have
  // grown.
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** Opens PostgreSQL; connects at first use. */
export function openPostgresql(options: {
  url: string;
  poolSize: number;
  tokenPoolSize: number;
  onError: (error: Error) => void;
}): Database {
  const { url, onError } = options;
  const management = openPool({ url, size: options.poolSize, onError });
  const tokens = openPool({
    url,
    size: options.tokenPoolSize,
    onError,
    settings: tokenSettings,
  });
  const adapter = poolAdapter(management);
  const prisma = client(adapter);
  const hints = notifyingHints(url, onError);
  return {
    kind: 'postgresql',
    prisma,
    lend: () => management.lend(),
    sql: poolSql(management),
    tokens: poolSql(tokens),
    hints,
    exclusively: (name, stopped, work) => takeTurns({ url, name, onError }, stopped, work),
    async migrate() {
      if (await isMigrated(prisma)) return [];
      return withAdvisoryLock(url, 'signet:migrations', async () => {
        // The engine takes its own lock for the session and never releases it. On a pooled connection, the next node to
        // start would wait forever.
        const pool = openPool({ url, size: 1, onError });
        try {
          return await applyMigrations(poolAdapter(pool));
        } finally {
          await pool.end();
        }
      });
    },
    async close() {
      await hints.close();
      await prisma.$disconnect();
      await Promise.all([management.end(), tokens.end()]);
    },
  };
}

/** Uses an open embedded database. The data folder's lock replaces the migrations' lock. */
export function useEmbedded(database: PGlite): Database {
  const adapter = new EmbeddedAdapter(database);
  const prisma = client(adapter);
  return {
    kind: 'embedded',
    prisma,
    sql: prismaSql(prisma),
    tokens: embeddedSql(database, tokenSettings),
    hints: localHints(),
    // No other process can be here: the data folder is locked.
    exclusively: (_name, stopped, work) => work(stopped),
    migrate: async () => ((await isMigrated(prisma)) ? [] : applyMigrations(adapter)),
    async close() {
      await prisma.$disconnect();
      await database.close();
    },
  };
}
