import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { tracedStatement } from '../../tracing/statements.ts';
import type { Sql } from '../sql.ts';
import { readsOffsets } from './adapter.ts';
import { PrefixedQuery, type Wire } from './prefixed-query.ts';

const controls = new Set(['BEGIN', 'COMMIT', 'ROLLBACK']);
// Its type has fields that only a result with rows needs.
const nothing = { command: '', rowCount: 0, fields: [], rows: [] } as unknown as pg.QueryResult;

/**
 * A connection for one transaction. BEGIN is sent together with the first statement. A statement that was {@link send
 * sent} without waiting goes with the next one or with COMMIT. So a transaction of one statement and its event takes
 * two round trips instead of four. The statements keep their order.
 */
export class TransactionConnection implements Sql {
  readonly #client: pg.PoolClient;
  readonly #own: string | undefined;
  readonly #sent: Promise<unknown>[] = [];
  #fault: unknown;
  #state: 'new' | 'wanted' | 'open' | 'over' = 'new';
  #isCorked = false;
  #isReleased = false;

  /** @param own The statement that makes the settings of each transaction, if a session cannot keep them. */
  constructor(client: pg.PoolClient, own?: string) {
    this.#client = client;
    this.#own = own;
  }

  /** Sends a statement without waiting. If it fails, the next statement and the transaction fail with its error. */
  send(name: string, text: string, values: readonly unknown[]): void {
    const sent = this.#run({ name, text, values: [...values] }).catch((error: unknown) => {
      this.#fault ??= error;
    });
    this.#sent.push(sent);
  }

  /** Forgets the error of a statement that was sent: a return to a savepoint has undone it. */
  forget(): void {
    this.#fault = undefined;
  }

  query<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
  query(config: pg.QueryConfig): Promise<pg.QueryResult>;
  async query(config: string | pg.QueryConfig, text = '', values: readonly unknown[] = []) {
    if (typeof config !== 'string') return this.#control(config);
    const { rows } = await this.#answer({ name: config, text, values: [...values] });
    return rows;
  }

  on(event: 'error', listener: (error: Error) => void): void {
    this.#client.on(event, listener);
  }

  removeListener(event: 'error', listener: (error: Error) => void): void {
    this.#client.removeListener(event, listener);
  }

  release(error?: Error | boolean): void {
    this.#state = 'over';
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#client.release(error);
  }

  /** Begins a transaction. BEGIN is sent with the first statement. */
  begin(): void {
    this.#state = 'wanted';
  }

  /** Commits; throws if the transaction is over already, or if any of its statements failed. */
  commit(): Promise<pg.QueryResult> {
    return this.#commit({ text: 'COMMIT' });
  }

  rollback(): Promise<pg.QueryResult> {
    return this.#end({ text: 'ROLLBACK' });
  }

  /**
   * The connection for a client that joins the transaction. It can neither end the transaction nor release the
   * connection.
   */
  shared(): Pick<TransactionConnection, 'query' | 'on' | 'removeListener' | 'release'> {
    return {
      query: ((config: pg.QueryConfig) =>
        controls.has(config.text)
          ? Promise.resolve(nothing)
          : this.#answer(config)) as TransactionConnection['query'],
      on: (event, listener) => this.on(event, listener),
      removeListener: (event, listener) => this.removeListener(event, listener),
      release: () => undefined,
    };
  }

  async #control(config: pg.QueryConfig): Promise<pg.QueryResult> {
    switch (config.text) {
      case 'BEGIN':
        this.begin();
        return nothing;
      case 'COMMIT':
        return this.#commit(config);
      case 'ROLLBACK':
        return this.#end(config);
      default:
        return this.#answer(config);
    }
  }

  /** @throws the error of an earlier statement instead of its consequence (25P02, in_failed_sql_transaction). */
  async #answer(config: pg.QueryConfig): Promise<pg.QueryResult> {
    try {
      return await this.#run(config);
    } catch (error) {
      throw this.#fault ?? error;
    }
  }

  async #commit(config: pg.QueryConfig): Promise<pg.QueryResult> {
    if (this.#state === 'over') throw new Error('The transaction is over.');
    const committed = this.#end(config);
    await Promise.all([committed, ...this.#sent]);
    if (this.#fault !== undefined) throw this.#fault;
    const result = await committed;
    // After a failed statement, PostgreSQL answers COMMIT with ROLLBACK instead of an error.
    if (result.command === 'ROLLBACK') throw new Error('The database rolled the transaction back.');
    return result;
  }

  #end(config: pg.QueryConfig): Promise<pg.QueryResult> {
    const wasOpen = this.#state === 'open';
    const ended = wasOpen ? this.#run(config) : Promise.resolve(nothing);
    this.#state = 'over';
    return ended;
  }

  #run(config: pg.QueryConfig): Promise<pg.QueryResult> {
    return tracedStatement(config.text, () => this.#ask(config));
  }

  async #ask(config: pg.QueryConfig): Promise<pg.QueryResult> {
    // The pool may have lent the connection to another transaction.
    if (this.#state === 'over') throw new Error('The transaction is over.');
    this.#cork();
    const asked = readsOffsets(config);
    const statement = this.#own === undefined ? asked : unnamed(asked);
    if (this.#state !== 'wanted') return this.#client.query(statement);
    this.#state = 'open';
    const { first, last } = beginningOf(statement, this.#own);
    return new Promise((resolve, reject) => {
      this.#client.query(
        new PrefixedQuery(first, last, (error, result) =>
          error ? reject(error) : resolve(result),
        ),
      );
    });
  }

  // Everything sent in one turn of the event loop becomes one write to the socket.
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    // The client's type leaves its connection out.
    const { stream } = (this.#client as unknown as { connection: Wire }).connection;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}

// The connection that Prisma's next transaction joins. It is handed out once, so that no other transaction of Prisma's
// gets it.
const lent = new AsyncLocalStorage<{ connection: TransactionConnection | undefined }>();

/** Opens a Prisma transaction that joins the transaction of this connection. */
export const lendConnection = <T>(
  connection: TransactionConnection,
  open: () => Promise<T>,
): Promise<T> => lent.run({ connection }, open);

/** The settings of a pool. */
export interface TransactionPoolConfig extends pg.PoolConfig {
  /** What is set on each connection, as in `postgresql.conf`. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * Whether sessions are shared with others, as through a pooler in transaction mode. Then statements have no names,
   * and everything is set for each transaction.
   */
  readonly isShared: boolean;
}

/**
 * How a transaction begins: the statements before the first one, and that. Settings are made by a SELECT, after which
 * the isolation level is fixed; so where the first statement sets the level, they come after it.
 */
function beginningOf(statement: pg.QueryConfig, own: string | undefined) {
  if (own === undefined) return { first: ['BEGIN'], last: statement };
  const begin = `BEGIN ISOLATION LEVEL ${isolation.toUpperCase()}`;
  return statement.text.startsWith('SET TRANSACTION ')
    ? { first: [begin, statement.text], last: { ...statement, text: own } }
    : { first: [begin, own], last: statement };
}

const unnamed = ({ name: _, ...config }: pg.QueryConfig): pg.QueryConfig => config;

/**
 * The statement that makes settings, for the session or for the transaction.
 *
 * @param settings As in `postgresql.conf`.
 */
export const settingOf = (settings: Readonly<Record<string, string>>, isLocal = false): string =>
  `SELECT ${Object.entries(settings)
    .map(([name, value]) => `set_config('${name}', '${value}', ${isLocal})`)
    .join(', ')}`;

/** The isolation level of every transaction that does not ask for another. */
export const isolation = 'read committed';
// For a statement that is a transaction of its own. SET takes no snapshot, and LOCAL would warn in the server's log.
const isolate = `SET transaction_isolation = '${isolation}'`;

/** How old the plan of a prepared statement gets, in milliseconds. */
const replanMs = 10_000;

/**
 * Lets PostgreSQL plan what is prepared anew from time to time. A plan that was made for a small table reads the whole of
 * it, and PostgreSQL keeps it until it has counted the rows again, however many come.
 */
function replanning(): (client: pg.PoolClient) => void {
  const plannedAt = new WeakMap<pg.PoolClient, number>();
  return (client) => {
    const now = performance.now();
    const isOld = now - (plannedAt.get(client) ?? Number.NEGATIVE_INFINITY) >= replanMs;
    if (!isOld) return;
    const isNew = !plannedAt.has(client);
    plannedAt.set(client, now);
    // Whoever has the connection next is told if it is broken.
    if (!isNew) client.query('DISCARD PLANS').catch(() => undefined);
  };
}

/** A pool that lends a {@link TransactionConnection} to whoever asks for a connection. */
export class TransactionPool extends pg.Pool {
  /** The statement that makes the settings of each transaction, if a session cannot keep them. */
  readonly #own: string | undefined;

  constructor({ settings, isShared, ...config }: TransactionPoolConfig) {
    const set = settingOf(settings, isShared);
    // Not as start-up parameters, which poolers refuse.
    const onConnect = async (client: pg.ClientBase) => {
      if (!isShared) await client.query(set);
    };
    super({ ...config, onConnect, pipeline: true } as pg.PoolConfig);
    if (isShared) this.#own = set;
    else this.on('acquire', replanning());
  }

  /** Lends a connection for one transaction; it must be released. */
  async lend(): Promise<TransactionConnection> {
    return new TransactionConnection(await super.connect(), this.#own);
  }

  // Prisma's adapter uses only these methods of a client. `never` fits each overload of the pool's method.
  override connect(callback?: unknown): never {
    if (callback) return super.connect(callback as never) as never;
    const offer = lent.getStore();
    const { connection } = offer ?? {};
    if (!offer || !connection) return this.lend() as never;
    offer.connection = undefined;
    return Promise.resolve(connection.shared()) as never;
  }

  override query(config: unknown, ...others: unknown[]): never {
    const asked = readsOffsets(config as pg.QueryConfig);
    const statement =
      this.#own === undefined ? asked : new PrefixedQuery([isolate, this.#own], unnamed(asked));
    return tracedStatement(
      (config as pg.QueryConfig).text,
      () => super.query(statement as never, ...(others as never[])) as never,
    ) as never;
  }
}
