import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Database, openPostgresql } from '../../src/db/database.ts';
import type { TestDatabase } from './database.ts';

/** A test's database whose statements are recorded. */
export interface ObservedDatabase {
  /** The database as the service is to use it. */
  readonly database: Database;
  /** The text of every executed statement, in the order of sending. */
  readonly executed: readonly string[];
  close(): Promise<void>;
}

/**
 * Reads PostgreSQL's protocol, below every driver and pool: on a socket between the service and the server, or at the
 * entry of the embedded database. So it sees every statement of any part of the service.
 *
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export async function observeStatements(testDatabase: TestDatabase): Promise<ObservedDatabase> {
  const executed: string[] = [];
  const { url, embedded } = testDatabase;
  if (embedded) {
    const read = createReader(executed, { hasStarted: true });
    const execute = embedded.execProtocolRawSync.bind(embedded);
    embedded.execProtocolRawSync = (message) => {
      read(Buffer.from(message));
      return execute(message);
    };
    return { database: testDatabase.database, executed, close: async () => undefined };
  }
  if (!url) throw new Error('A test database is embedded or has a URL.');
  const sockets = new Set<Socket>();
  const server = new URL(url);
  const proxy = createServer((client) => {
    const upstream = connect(Number(server.port || 5432), server.hostname);
    const read = createReader(executed, { hasStarted: false });
    client.on('data', read);
    client.pipe(upstream).pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // The server ends connections when its database is dropped.
      socket.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((proxy.address() as AddressInfo).port);
  const database = openPostgresql({
    url: through.href,
    poolSize: 5,
    tokenPoolSize: 5,
    onError: (error) => {
      throw error;
    },
  });
  return {
    database,
    executed,
    async close() {
      await database.close();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

/** Reads one connection's messages from the client and adds the statements that they execute. */
function createReader(executed: string[], { hasStarted }: { hasStarted: boolean }) {
  let pending: Buffer = Buffer.alloc(0);
  let isStarted = hasStarted;
  const prepared = new Map<string, string>();
  let bound = '';
  return (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    for (;;) {
      // The first message has no type.
      const offset = isStarted ? 1 : 0;
      if (pending.length < offset + 4) return;
      const length = offset + pending.readInt32BE(offset);
      if (pending.length < length) return;
      const type = isStarted ? String.fromCharCode(pending[0] as number) : 'startup';
      const [first = '', second = ''] = pending.toString('utf8', offset + 4, length).split('\0');
      pending = pending.subarray(length);
      isStarted = true;
      if (type === 'P') prepared.set(first, second);
      else if (type === 'B') bound = prepared.get(second) ?? '';
      // Settings come in one message with the statement that they are for.
      else if (type === 'E' && !bound.startsWith('SELECT set_config(')) executed.push(bound);
      else if (type === 'Q') executed.push(first);
    }
  };
}
