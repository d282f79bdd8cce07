import type { Prisma, PrismaClient } from '../generated/prisma/client.ts';
import {
  lendConnection,
  type TransactionConnection,
} from './connections/transaction-connection.ts';

type Client = Prisma.TransactionClient;

/** The longest that the work of a transaction may take. */
export const longestTransactionMs = 15_000;

/**
 * Runs work in one transaction on a driver connection. Prisma's client joins the transaction on first use: most
 * mutations never use it, and a transaction of Prisma's own would take a tenth of their CPU.
 *
 * @param longestMs The longest that it may take.
 * @throws Error when the work takes longer. By then it is rolled back and the connection is free.
 */
export async function transactByDriver<T>(
  prisma: PrismaClient,
  connection: TransactionConnection,
  work: (client: Client) => Promise<T>,
  longestMs: number = longestTransactionMs,
): Promise<T> {
  const late = setTimeout(() => {
    void settle(connection.rollback()).then(() => connection.release());
  }, longestMs);
  const joining = new JoiningClient(prisma, connection);
  try {
    connection.begin();
    const result = await work(joining.client);
    await joining.end();
    await connection.commit();
    return result;
  } catch (error) {
    // The caller gets the error of the work. A broken connection has rolled back by itself.
    await settle(joining.end());
    await settle(connection.rollback());
    throw error;
  } finally {
    clearTimeout(late);
    connection.release();
  }
}

const settle = (ending: Promise<unknown>) => ending.catch(() => undefined);

/** A client of Prisma that joins a transaction when it is first used. */
class JoiningClient {
  /** Prisma's client for the transaction. Each method waits until it has joined. */
  readonly client: Client;
  readonly #prisma: PrismaClient;
  readonly #connection: TransactionConnection;
  readonly #over = Promise.withResolvers<void>();
  #joined: Promise<Client> | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(prisma: PrismaClient, connection: TransactionConnection) {
    this.#prisma = prisma;
    this.#connection = connection;
    this.client = methodsOf([], (path, args) => this.#call(path, args)) as Client;
  }

  /** Takes Prisma's client out of the transaction. */
  end(): Promise<void> {
    this.#over.resolve();
    return this.#ended;
  }

  async #call(path: readonly string[], args: unknown[]): Promise<unknown> {
    this.#joined ??= this.#join();
    let owner: unknown;
    let method: unknown = await this.#joined;
    for (const name of path) {
      owner = method;
      method = (owner as Record<string, unknown>)[name];
    }
    return (method as (...given: unknown[]) => unknown).apply(owner, args);
  }

  #join(): Promise<Client> {
    return new Promise((resolve, reject) => {
      this.#ended = lendConnection(this.#connection, () =>
        this.#prisma.$transaction((client) => {
          resolve(client);
          return this.#over.promise;
        }),
      );
      this.#ended.catch(reject);
    });
  }
}

/** An object on which every path, such as `user.create` or `$queryRaw`, is a method. */
function methodsOf(
  path: readonly string[],
  call: (path: readonly string[], args: unknown[]) => unknown,
): unknown {
  const known = new Map<string, unknown>();
  return new Proxy(() => undefined, {
    apply: (_target, _self, args) => call(path, args),
    // Pothos looks for a model before it uses it.
    has: (_target, name) => typeof name === 'string',
    get(_target, name) {
      // Without this, `await` would treat it as a promise.
      if (typeof name === 'symbol' || name === 'then') return undefined;
      if (!known.has(name)) known.set(name, methodsOf([...path, name], call));
      return known.get(name);
    },
  });
}
