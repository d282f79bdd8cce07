import type { MessagePort, Worker } from 'node:worker_threads';
import {
  DriverAdapterError,
  type IsolationLevel,
  type SqlQuery,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils';

/** The calls to the thread that runs the database. Their arguments and results can be sent as messages. */
export interface EmbeddedCalls {
  /** Reads rows, in a transaction if one is named. */
  queryRaw(transaction: number | undefined, query: SqlQuery): Promise<SqlResultSet>;
  executeRaw(transaction: number | undefined, query: SqlQuery): Promise<number>;
  executeScript(script: string): Promise<void>;
  /** Begins a transaction once no other is open, and returns its number. */
  begin(isolation?: IsolationLevel): Promise<number>;
  commit(transaction: number): Promise<void>;
  rollback(transaction: number): Promise<void>;
  /** Runs a statement of the token path. */
  lookUp(name: string, text: string, values: readonly unknown[]): Promise<unknown[]>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Settings for the statements of the token path, as in `postgresql.conf`. */
export type LookupSettings = Readonly<Record<string, string>>;

/** The name of a call. */
export type Method = keyof EmbeddedCalls;
/** A call as a message. */
export interface Question {
  readonly id: number;
  readonly method: Method;
  readonly args: unknown[];
}
/** The answer to a call. */
export type Answer = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly error: SentError }
);

/** Sends a call, and resolves with its answer. */
export type Call = <Name extends Method>(
  method: Name,
  ...args: Parameters<EmbeddedCalls[Name]>
) => Promise<Awaited<ReturnType<EmbeddedCalls[Name]>>>;

type Port = Pick<MessagePort, 'postMessage' | 'ref' | 'unref'>;

/** Sends calls to the other end. The process stays alive while a call has no answer. */
export class Caller {
  readonly #port: Port;
  readonly #asked = new Map<number, PromiseWithResolvers<unknown> & { readonly method: Method }>();
  #count = 0;
  /** How many messages have arrived. */
  heard = 0;

  constructor(port: MessagePort | Worker) {
    this.#port = port;
    (port as MessagePort).on('message', (answer: Answer) => this.#settle(answer));
    port.unref();
  }

  /** The methods of the calls that have no answer yet. */
  get waiting(): Method[] {
    return [...this.#asked.values()].map(({ method }) => method);
  }

  /** Whether calls wait for each other: one runs at a time. */
  get isBacklogged(): boolean {
    return this.#asked.size > 1;
  }

  readonly call: Call = (method, ...args) => {
    this.#count += 1;
    const asked = { ...Promise.withResolvers<unknown>(), method };
    this.#port.postMessage({ id: this.#count, method, args } satisfies Question);
    this.#asked.set(this.#count, asked);
    this.#port.ref();
    return asked.promise as Promise<never>;
  };

  /** Fails every call that has no answer. */
  fail(error: Error): void {
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
    this.#port.unref();
  }

  #settle(answer: Answer): void {
    this.heard += 1;
    const asked = this.#asked.get(answer.id);
    if (!asked) return;
    this.#asked.delete(answer.id);
    if (this.#asked.size === 0) this.#port.unref();
    if ('error' in answer) asked.reject(received(answer.error));
    else asked.resolve(answer.result);
  }
}

/** An error as a message: sent as it is, an error would lose its class and its code. */
export interface SentError {
  readonly message: string;
  readonly stack: string | undefined;
  /** Of an error of the adapter. */
  readonly cause?: DriverAdapterError['cause'];
  /** Of an error of PostgreSQL: its code and what else it says. */
  readonly fields?: object;
}

function received({ message, stack, cause, fields }: SentError): Error {
  if (cause) return new DriverAdapterError(cause);
  const error = Object.assign(new Error(message), fields);
  if (stack) error.stack = stack;
  return error;
}
