import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { StartError } from '../../errors.ts';
import type { DatabaseState } from '../connections/state.ts';
import { type Call, Caller, type EmbeddedCalls, type LookupSettings } from './calls.ts';
import type { EmbeddedEngine } from './engine.ts';
import { neededBytes, Room } from './room.ts';

/** The database cannot be used now; a later try may succeed. */
class EmbeddedError extends Error {
  /** disk_full or crash_shutdown. */
  readonly code: '53100' | '57P02';

  constructor(message: string, code: EmbeddedError['code'], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const noRoom = () =>
  new EmbeddedError(
    `DATA_DIR has less than ${neededBytes / 1024 / 1024} MB of free space: nothing is written until there is more`,
    '53100',
  );
const stopped = (cause?: Error) =>
  new EmbeddedError('The embedded database stopped.', '57P02', cause && { cause });

// Counted in ticks of a timer, not by the clock: after this thread itself was blocked, it reads the answers that have
// arrived before the next tick counts.
const tickMs = 500;
const answerTicks = 3;
/** How long a call may go without an answer: a little longer than a transaction may take, and long enough for migrations. */
const longestTicks = 40;
const openTicks = 240;
const closeTicks = 10;
const retryMs = 1_000;

/** The options of a thread. */
export interface ThreadOptions {
  readonly dataDir: string;
  readonly settings: LookupSettings;
  /** Called when the database stops, when it cannot be reopened, and when there is no space. */
  readonly onError: (error: Error) => void;
}

/**
 * Starts PostgreSQL in a separate thread, so that this one always answers. A thread that ends, or gives no answer for
 * long, is replaced. Whatever it acknowledged is in its files.
 *
 * @throws {StartError} when it cannot be opened.
 */
export async function startThread(options: ThreadOptions): Promise<EmbeddedEngine> {
  const engine = new ThreadEngine(options);
  await engine.start();
  return engine;
}

class ThreadEngine implements EmbeddedEngine {
  readonly #options: ThreadOptions;
  readonly #room: Room;
  readonly #closing = new AbortController();
  #open: { readonly worker: Worker; readonly caller: Caller } | undefined;
  #hadRoom = true;
  #silence = { heard: 0, ticks: 0 };
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#room = new Room(options.dataDir);
  }

  async start(): Promise<void> {
    try {
      // Created first, so that its free space can be read.
      await mkdir(this.#options.dataDir, { recursive: true, mode: 0o700 });
      if (!(await this.#room.isEnough())) throw noRoom();
      await this.#begin();
    } catch (cause) {
      throw new StartError(`the embedded database cannot be opened: ${(cause as Error).message}`, {
        cause,
      });
    }
    this.#timer = setInterval(() => this.#watch(), tickMs).unref();
  }

  // An arrow function, because Prisma and others detach it from the object.
  readonly call: Call = async (method, ...args) => {
    if (mayWrite(method, args) && !(await this.#hasRoom())) throw noRoom();
    if (!this.#open) throw stopped();
    return this.#open.caller.call(method, ...args) as Promise<never>;
  };

  isBacklogged(): boolean {
    return this.#open?.caller.isBacklogged ?? false;
  }

  async state(): Promise<DatabaseState> {
    if (!this.#open) throw stopped();
    await inTime(this.#open.caller.call('ping'), answerTicks);
    return (await this.#hasRoom()) ? 'ready' : 'out of space';
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    if (!this.#open) return;
    const { worker, caller } = this.#open;
    await inTime(caller.call('close'), closeTicks).catch(this.#options.onError);
    await worker.terminate();
  }

  async #hasRoom(): Promise<boolean> {
    const isEnough = await this.#room.isEnough();
    if (this.#hadRoom && !isEnough) this.#options.onError(noRoom());
    this.#hadRoom = isEnough;
    return isEnough;
  }

  async #begin(): Promise<void> {
    const { dataDir, settings } = this.#options;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: { dataDir, settings },
    });
    const ready = Promise.withResolvers<void>();
    worker.once('message', () => ready.resolve());
    worker.on('error', ready.reject);
    worker.once('exit', () => ready.reject(stopped()));
    try {
      await inTime(ready.promise, openTicks);
    } catch (error) {
      await worker.terminate();
      throw error;
    }
    if (this.#closing.signal.aborted) {
      await worker.terminate();
      return;
    }
    const caller = new Caller(worker);
    this.#silence = { heard: 0, ticks: 0 };
    this.#open = { worker, caller };
    let cause: Error | undefined;
    worker.on('error', (error) => {
      cause = error;
    });
    worker.once('exit', () => {
      this.#open = undefined;
      caller.fail(stopped(cause));
      if (this.#closing.signal.aborted) return;
      this.#options.onError(stopped(cause));
      void this.#beginAgain();
    });
  }

  async #beginAgain(): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await delay(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      // Recovery needs space too.
      if (!(await this.#hasRoom())) continue;
      try {
        return await this.#begin();
      } catch (error) {
        this.#options.onError(error as Error);
      }
    }
  }

  /** Ends a thread that has not answered for too long. */
  #watch(): void {
    if (!this.#open) return;
    const { worker, caller } = this.#open;
    const { heard, waiting } = caller;
    const isSilent =
      waiting.length > 0 && heard === this.#silence.heard && !waiting.includes('executeScript');
    this.#silence = { heard, ticks: isSilent ? this.#silence.ticks + 1 : 0 };
    if (this.#silence.ticks > longestTicks) void worker.terminate();
  }
}

/** Whether a call begins something that may need space. Running transactions may end, and reads go on. */
function mayWrite(method: keyof EmbeddedCalls, args: readonly unknown[]): boolean {
  if (method === 'begin' || method === 'executeScript') return true;
  if (method !== 'queryRaw' && method !== 'executeRaw') return false;
  const [transaction, query] = args as Parameters<EmbeddedCalls['queryRaw']>;
  return transaction === undefined && !/^\s*SELECT/i.test(query.sql);
}

async function inTime<T>(answer: Promise<T>, longest: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks === longest) late.reject(stopped(new Error('It does not answer.')));
  }, tickMs);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearInterval(timer);
  }
}
