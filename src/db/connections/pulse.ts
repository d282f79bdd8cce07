import { constants } from 'node:os';
import type pg from 'pg';
import type { Endpoint } from './endpoint.ts';

/** The parts of `pg` that its types leave out. */
interface Inside {
  readonly connection: {
    readonly stream: { readonly bytesRead: number; destroy(error?: Error): void };
    on(event: 'parameterStatus', listener: (status: Status) => void): void;
    on(event: 'errorMessage', listener: (error: { readonly code?: string }) => void): void;
  };
  /** Whether no statement is running; absent while it connects. */
  readonly readyForQuery?: boolean;
  /** If false, the pool does not keep the connection. */
  _queryable: boolean;
}
interface Status {
  readonly parameterName: string;
  readonly parameterValue: string;
}
/** The members of a connection that its own types leave out. */
export const insideOf = (client: pg.ClientBase) => client as unknown as Inside;

// Time is counted in ticks of a timer, not by the clock. After this process itself was blocked, it reads the answers
// that have arrived before the next tick counts.
export const tickMs = 500;
const answerTicks = 3;

/** No answer came in time. It looks like a socket error, which Prisma's adapter recognises. */
export class SilentError extends Error {
  readonly code = 'ETIMEDOUT';
  readonly syscall = 'read';
  readonly errno = -constants.errno.ETIMEDOUT;

  constructor() {
    super('The database does not answer.');
  }
}

/** Asks a database one question, over a connection that is kept as long as the database answers. */
export class Pulse<Answer> {
  readonly #endpoint: Endpoint;
  readonly #name: string;
  readonly #onError: (error: Error) => void;
  readonly #question: (client: pg.Client) => Promise<Answer>;
  #client: pg.Client | undefined;
  #asking: Promise<Answer> | undefined;

  /** @param name The connection's name, which the database shows. */
  constructor(
    endpoint: Endpoint,
    name: string,
    onError: (error: Error) => void,
    question: (client: pg.Client) => Promise<Answer>,
  ) {
    this.#endpoint = endpoint;
    this.#name = name;
    this.#onError = onError;
    this.#question = question;
  }

  /**
   * Asks, or waits for the answer that is under way.
   *
   * @throws when it does not answer in time.
   */
  ask(): Promise<Answer> {
    this.#asking ??= this.#askInTime().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Gives the connection up. */
  drop(): void {
    const client = this.#client;
    this.#client = undefined;
    if (client) insideOf(client).connection.stream.destroy();
  }

  async #askInTime(): Promise<Answer> {
    let ticks = 0;
    const late = Promise.withResolvers<never>();
    const timer = setInterval(() => {
      ticks += 1;
      if (ticks === answerTicks) late.reject(new SilentError());
    }, tickMs);
    try {
      return await Promise.race([this.#answer(), late.promise]);
    } catch (error) {
      this.drop();
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  async #answer(): Promise<Answer> {
    return this.#question(this.#client ?? (await this.#connect()));
  }

  async #connect(): Promise<pg.Client> {
    const client = new this.#endpoint.Client({ application_name: this.#name });
    this.#client = client;
    client.on('error', (error) => {
      if (this.#client !== client) return;
      this.drop();
      this.#onError(error);
    });
    await client.connect();
    return client;
  }
}
