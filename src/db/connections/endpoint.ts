import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { urlsOfHosts } from '../../config.ts';
import type { DatabaseState } from './state.ts';

/** How a PostgreSQL is reached. */
export interface Address {
  /** May name several hosts; the one that takes writes is used. */
  readonly url: string;
  /** A file with the password, instead of the one in the URL. */
  readonly passwordFile?: string | undefined;
}

/** A PostgreSQL, at whichever of its hosts takes writes. */
export interface Endpoint {
  /** The class of its connections. The host is chosen, and the password read, when one is made. */
  readonly Client: new (
    config?: pg.ClientConfig,
  ) => pg.Client;
}

/** The options of every connection. A lost peer is noticed even while nothing is sent. */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** read_only_sql_transaction */
export const readOnly = '25006';

/** The database is reached, and takes no writes. */
export class StandbyError extends Error {
  readonly code = readOnly;
  readonly state: DatabaseState;

  constructor(state: DatabaseState) {
    super(`The database is ${state}.`);
    this.state = state;
  }
}

class PasswordFileError extends Error {
  // sqlclient_unable_to_establish_sqlconnection
  readonly code = '08001';
}

const searchMs = 3_000;

/** Describes how a PostgreSQL is reached; connects to nothing. */
export function createEndpoint({ url, passwordFile }: Address): Endpoint {
  const urls = urlsOfHosts(url);
  if (!urls) throw new TypeError('This is not the URL of a PostgreSQL.');
  const hasChoice = urls.length > 1;
  let writer: Promise<string> | undefined;

  /** A connection to one of the hosts. */
  class HostClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      super({ connectionString: urls?.[0], ...config, ...keepAlive });
      if (passwordFile === undefined) return;
      // As an option it would lose against the URL's, even if the URL has none.
      Object.assign(this, { password: () => readPassword(passwordFile) });
    }
  }

  class Client extends HostClient {
    constructor(config?: pg.ClientConfig) {
      super(config);
      if (hasChoice) this.on('error', forget);
    }

    override connect(): Promise<never>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<never> | undefined {
      if (!hasChoice) return super.connect(callback as never) as never;
      const connected = this.#connectToWriter();
      if (!callback) return connected as Promise<never>;
      // Outside of the promise, or it would swallow what the callback throws.
      connected.then(
        () => process.nextTick(callback),
        (error: Error) => process.nextTick(callback, error),
      );
      return undefined;
    }

    async #connectToWriter(): Promise<unknown> {
      writer ??= findWriter(urls ?? [], HostClient);
      try {
        const { host, port } = new pg.Client({ connectionString: await writer });
        Object.assign(this, { host, port });
        return await super.connect();
      } catch (error) {
        forget();
        throw error;
      }
    }
  }

  // Asked again for the next connection: another host may have been promoted.
  function forget(): void {
    writer = undefined;
  }

  return { Client };
}

/** Asks all hosts at once; the first that takes writes is the one. */
async function findWriter(urls: readonly string[], Client: Endpoint['Client']): Promise<string> {
  const asked = urls.map(async (connectionString) => {
    const client = new Client({
      connectionString,
      application_name: 'signet search',
      connectionTimeoutMillis: searchMs,
      query_timeout: searchMs,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const state = await stateOf(client);
      if (state !== 'ready') throw new StandbyError(state);
      return connectionString;
    } finally {
      // A host that does not answer would not close either.
      client.end().catch(() => undefined);
    }
  });
  try {
    return await Promise.any(asked);
  } catch (error) {
    const { errors } = error as AggregateError;
    throw errors.find((one) => one instanceof StandbyError) ?? errors[0];
  }
}

async function readPassword(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (cause) {
    throw new PasswordFileError('DATABASE_PASSWORD_FILE cannot be read', { cause });
  }
}

/** Reads the state that a database reports over a connection. */
export async function stateOf(client: pg.Client): Promise<DatabaseState> {
  const { rows } = await client.query<{ isInRecovery: boolean; isReadOnly: boolean }>(
    `SELECT pg_is_in_recovery() AS "isInRecovery",
            current_setting('transaction_read_only')::boolean AS "isReadOnly"`,
  );
  if (rows[0]?.isInRecovery) return 'in recovery';
  return rows[0]?.isReadOnly ? 'read-only' : 'ready';
}

/** Reads what tells a database from every other, by whichever way it is reached. It changes when its server restarts. */
export async function identityOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ identity: string }>(
    `SELECT current_database() || ' ' || extract(epoch FROM pg_postmaster_start_time())::text AS "identity"`,
  );
  return rows[0]?.identity ?? '';
}

const rounds = 10;

/**
 * Whether connections share backends, as through a pooler in transaction mode: what one of them sets, locks or listens
 * to belongs to others too.
 */
export async function sharesBackends({ Client }: Endpoint): Promise<boolean> {
  const clients = [new Client(), new Client()];
  for (const client of clients) client.on('error', () => undefined);
  try {
    await Promise.all(clients.map((client) => client.connect()));
    // One after the other, so that a pooler can give both the same backend. Under load it may not do so at once.
    const backends = clients.map(() => new Set<number>());
    for (let round = 0; round < rounds; round += 1) {
      for (const [i, client] of clients.entries()) {
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS "pid"');
        backends[i]?.add(rows[0]?.pid ?? 0);
      }
      if (new Set(backends.flatMap((pids) => [...pids])).size !== clients.length) return true;
    }
    return false;
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}
