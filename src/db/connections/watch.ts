import pg from 'pg';
import { type Endpoint, readOnly, StandbyError, stateOf } from './endpoint.ts';
import { insideOf, Pulse, SilentError, tickMs } from './pulse.ts';
import type { DatabaseState } from './state.ts';

/** Opens connections to one PostgreSQL. None of them waits for it for ever. */
export interface Connections extends Endpoint {
  /** The class of every connection. */
  readonly Client: new (
    config?: WatchedConfig,
  ) => pg.Client;
  /**
   * Reads the database's state over a separate connection, which load on the others does not delay.
   *
   * @throws when it does not answer in time.
   */
  state(): Promise<DatabaseState>;
  /** Stops watching. */
  close(): Promise<void>;
}

/** A connection's settings. */
export interface WatchedConfig extends pg.ClientConfig {
  /** How long a statement may run without an answer; by default a little longer than a transaction may take. */
  readonly longestMs?: number;
}

/** The silence after which the database is asked whether it still answers. */
const silentTicks = 4;
const connectMs = 3_000;
const endMs = 1_000;
const longestStatementMs = 20_000;

/**
 * Watches all connections to one PostgreSQL. The server's own time-outs do not run while it is frozen or cut off, and
 * a time-out for each statement would also end those that may take long. So when a statement has had no answer for a
 * while, a probe asks the database over another connection. If the probe gets no answer either, all connections are
 * destroyed, and new ones are refused until the database answers again. A late answer finds no connection, so it
 * cannot be taken for the answer to another statement.
 *
 * @param asked The way past a pooler: a pooler is silent while all its connections are in use.
 * @param onError Gets the error of the connection that asks.
 * @param options.isReplica Whether it may be a standby: else every connection to one is refused.
 */
export function watchConnections(
  endpoint: Endpoint,
  asked: Endpoint,
  onError: (error: Error) => void,
  { isReplica = false }: { readonly isReplica?: boolean } = {},
): Connections {
  const watched = new Map<Client, { bytes: number; ticks: number }>();
  const pulse = new Pulse(asked, 'signet pulse', onError, stateOf);
  // Of a pooler only that it lets connections in: its answer to a statement may have to wait for others.
  const front =
    endpoint === asked
      ? undefined
      : new Pulse(endpoint, 'signet pulse', onError, async () => 'ready');
  let isDown = false;
  let isJudging = false;

  class Client extends endpoint.Client {
    readonly longestTicks: number;

    constructor({ longestMs = longestStatementMs, ...config }: WatchedConfig = {}) {
      super({ ...config, connectionTimeoutMillis: connectMs });
      this.longestTicks = longestMs / tickMs;
      const { connection } = insideOf(this);
      connection.on('parameterStatus', ({ parameterName: name, parameterValue: value }) => {
        // A standby does not know the order of the event log, so even reads would be wrong.
        if (name === 'in_hot_standby' && value === 'on' && !isReplica)
          destroy(this, new StandbyError('in recovery'));
        if (name === 'default_transaction_read_only') this.isReadOnly = value === 'on';
      });
      connection.on('errorMessage', ({ code }) => {
        if (code === readOnly) this.isReadOnly = true;
      });
    }

    /** Whether another connection may be able to write where this one cannot. */
    isReadOnly = false;

    override connect(): Promise<never>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<never> | undefined {
      if (isDown) {
        const error = new SilentError();
        if (!callback) return Promise.reject(error);
        process.nextTick(callback, error);
        return undefined;
      }
      watched.set(this, { bytes: 0, ticks: 0 });
      this.once('end', () => watched.delete(this));
      return super.connect(callback as never) as never;
    }

    override end(): Promise<void>;
    override end(callback: (error: Error) => void): void;
    override end(callback?: (error: Error) => void): Promise<void> | undefined {
      watched.delete(this);
      // A frozen server does not close its side.
      const late = setTimeout(() => insideOf(this).connection.stream.destroy(), endMs).unref();
      this.once('end', () => clearTimeout(late));
      return super.end(callback as never) as never;
    }
  }

  const destroy = (client: Client, error: Error) =>
    insideOf(client).connection.stream.destroy(error);

  async function state(): Promise<DatabaseState> {
    const [found] = await Promise.all([stateBy(pulse), front?.ask()]);
    isDown = false;
    return found;
  }

  async function judge(): Promise<void> {
    if (isJudging) return;
    isJudging = true;
    try {
      await state();
    } catch (error) {
      // A server that refuses the probe has answered.
      isDown = !(error instanceof pg.DatabaseError);
      if (isDown) for (const client of watched.keys()) destroy(client, new SilentError());
    } finally {
      isJudging = false;
    }
  }

  const timer = setInterval(() => {
    let isSilent = false;
    for (const [client, seen] of watched) {
      const { readyForQuery, connection } = insideOf(client);
      const { bytesRead: bytes } = connection.stream;
      seen.ticks = readyForQuery || bytes !== seen.bytes ? 0 : seen.ticks + 1;
      seen.bytes = bytes;
      isSilent ||= seen.ticks >= silentTicks;
      if (seen.ticks > client.longestTicks) destroy(client, new SilentError());
    }
    if (isDown || isSilent) void judge();
  }, tickMs).unref();

  return {
    Client,
    state,
    async close() {
      clearInterval(timer);
      pulse.drop();
      front?.drop();
    },
  };
}

/** Keeps read-only connections out of a pool: a new one may be able to write. */
export function keepWriters(pool: pg.Pool): void {
  pool.on('release', (_error, client) => {
    if ((client as { isReadOnly?: boolean }).isReadOnly) insideOf(client)._queryable = false;
  });
}

async function stateBy(pulse: Pulse<DatabaseState>): Promise<DatabaseState> {
  try {
    const state = await pulse.ask();
    // A connection keeps the role's settings from the time when it was opened.
    if (state !== 'ready') pulse.drop();
    return state;
  } catch (error) {
    if (error instanceof StandbyError) return error.state;
    throw error;
  }
}
