import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import type { Sql } from './sql.ts';

/** The parts of `pg` that its types leave out. */
interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { name: string; text: string }): void;
  bind(portal: object): void;
  execute(portal: object): void;
}
interface QueryInside {
  name: string | undefined;
  requiresPreparation(): boolean;
  prepare(wire: Wire): void;
  handleCommandComplete(message: object, wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
}
// Its types say nothing of what a query does with the wire.
const QueryInside = pg.Query as unknown as new (
  config: object,
  callback: (error: Error | null, result: pg.QueryResult) => void,
) => QueryInside & pg.Submittable;

/**
 * The first statement of a transaction, sent with its BEGIN. One Sync ends both: if BEGIN fails, PostgreSQL skips the
 * statement, which would otherwise commit by itself.
 */
class FirstQuery extends QueryInside {
  #hidden: string | undefined;
  #hasBegun = false;

  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(wire: Wire): void {
    wire.parse({ name: '', text: 'BEGIN' });
    wire.bind({});
    wire.execute({});
    super.prepare(wire);
    // The driver must not take BEGIN's answer for the statement's own.
    this.#hidden = this.name;
    this.name = undefined;
  }

  override handleCommandComplete(message: object, wire: Wire): void {
    if (this.#hasBegun) {
      super.handleCommandComplete(message, wire);
      return;
    }
    this.#hasBegun = true;
    this.name = this.#hidden;
  }

  override handleError(error: Error, wire: Wire): void {
    if (!this.#hasBegun && this.#hidden) delete wire.submittedNamedStatements[this.#hidden];
    super.handleError(error, wire);
  }
}

const controls = new Set(['BEGIN', 'COMMIT', 'ROLLBACK']);
// Its type has parts that only an answer with rows needs.
const nothing = { command: '', rowCount: 0, fields: [], rows: [] } as unknown as pg.QueryResult;

/**
 * A connection for one transaction. Statements that nobody waits for travel with the next one: BEGIN with the first
 * statement, and what was {@link send sent} with the next or with COMMIT. So a transaction of one statement and its
 * event is two round trips, not four. The order of statements stays as written.
 */
export class TransactionConnection implements Sql {
  readonly #client: pg.PoolClient;
  readonly #sent: Promise<unknown>[] = [];
  #fault: unknown;
  #state: 'new' | 'wanted' | 'open' | 'over' = 'new';
  #isCorked = false;
  #isReleased = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  /** Sends a statement without waiting. Its failure is that of the next statement, and of the transaction. */
  send(name: string, text: string, values: readonly unknown[]): void {
    const sent = this.#run({ name, text, values: [...values] }).catch((error: unknown) => {
      this.#fault ??= error;
    });
    this.#sent.push(sent);
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

  /** Begins a transaction: BEGIN goes with the first statement. */
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

  /** The connection for somebody who joins its transaction, and can neither end it nor release it. */
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

  /** @throws the fault of what was sent before, rather than its consequence: 25P02, in_failed_sql_transaction. */
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
    // PostgreSQL answers so when a statement has failed, and reports no error.
    if (result.command === 'ROLLBACK') throw new Error('The database rolled the transaction back.');
    return result;
  }

  #end(config: pg.QueryConfig): Promise<pg.QueryResult> {
    const wasOpen = this.#state === 'open';
    const ended = wasOpen ? this.#run(config) : Promise.resolve(nothing);
    this.#state = 'over';
    return ended;
  }

  async #run(config: pg.QueryConfig): Promise<pg.QueryResult> {
    // The pool may have lent the connection to another transaction.
    if (this.#state === 'over') throw new Error('The transaction is over.');
    this.#cork();
    if (this.#state !== 'wanted') return this.#client.query(config);
    this.#state = 'open';
    return new Promise((resolve, reject) => {
      this.#client.query(
        new FirstQuery(config, (error, result) => (error ? reject(error) : resolve(result))),
      );
    });
  }

  // What is sent in one turn of the event loop is one write to the socket.
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    // A client has its connection; its type leaves it out.
    const { stream } = (this.#client as unknown as { connection: Wire }).connection;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      stream.uncork();
    });
  }
}

// The connection that the next transaction of Prisma's joins. Taken once, so that nothing that Prisma begins meanwhile
// can get it too.
const lent = new AsyncLocalStorage<{ connection: TransactionConnection | undefined }>();

/** Opens a transaction through the driver's adapter, which joins that of this connection. */
export const lendConnection = <T>(
  connection: TransactionConnection,
  open: () => Promise<T>,
): Promise<T> => lent.run({ connection }, open);

/** A pool that lends a {@link TransactionConnection} to whoever asks for a connection. */
export class TransactionPool extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, pipeline: true } as pg.PoolConfig);
  }

  /** Lends a connection for one transaction; it must be released. */
  async lend(): Promise<TransactionConnection> {
    return new TransactionConnection(await super.connect());
  }

  // The driver's adapter for Prisma uses no more of a client than these have. `never` fits each overload of the pool's.
  override connect(callback?: unknown): never {
    if (callback) return super.connect(callback as never) as never;
    const offer = lent.getStore();
    const { connection } = offer ?? {};
    if (!offer || !connection) return this.lend() as never;
    offer.connection = undefined;
    return Promise.resolve(connection.shared()) as never;
  }
}
