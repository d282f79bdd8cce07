import { type ServiceProcess, startProcess, workersOf } from '../process.ts';
import { eventually } from '../wait.ts';

// Runs outside of a test too: nothing here comes from vitest.

// One line, and nothing else.
const withoutDatabase = /^Signet cannot start: (DATABASE_URL|the database) [^\n]*\n$/;

/** Several nodes; any of them may be down. */
export class Cluster {
  readonly #environment: Record<string, string>;
  /** The last process of each node. */
  readonly #processes: ServiceProcess[] = [];
  /** Where each node listens, while it is up. */
  readonly #urls: (string | undefined)[];
  #changed = Promise.withResolvers<void>();
  #restarting: Promise<void> | undefined;
  #isStopping = false;
  #turn = 0;
  /** How often nodes were killed; several at once count as one. */
  kills = 0;
  /** How often a node could not start again for want of its database, and was started once more. */
  failedStarts = 0;

  constructor(environment: Record<string, string>, size: number) {
    this.#environment = environment;
    this.#urls = Array.from({ length: size }, () => undefined);
  }

  async startAll(): Promise<void> {
    // One after the other: the first one migrates.
    for (const index of this.#urls.keys()) await this.#start(index);
  }

  async #start(index: number): Promise<void> {
    const process = startProcess(this.#environment);
    this.#processes[index] = process;
    this.#urls[index] = await process.ready;
    this.#tell();
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Starts a node until it has its database, as a supervisor does. */
  async #restart(index: number): Promise<void> {
    while (!this.#isStopping) {
      try {
        return await this.#start(index);
      } catch (error) {
        if (!withoutDatabase.test(this.#processes[index]?.stderr() ?? '')) throw error;
        this.failedStarts += 1;
        this.#tell();
      }
    }
  }

  /** The URL of a running node, chosen by the number. */
  async url(number: number): Promise<string> {
    for (;;) {
      const up = this.#urls.filter((url) => url !== undefined);
      const url = up[number % up.length];
      if (url) return url;
      await this.#changed.promise;
    }
  }

  /** The lines of errors in the logs of the processes that run now. */
  get errors(): string[] {
    return this.#processes.flatMap(({ stdout }) =>
      stdout()
        .split('\n')
        .filter((line) => line.includes('"level":50') || line.includes('"level":60')),
    );
  }

  get isWhole(): boolean {
    return this.#restarting === undefined;
  }

  /**
   * Kills nodes at once, and restarts them.
   *
   * @param first The number of the first of them; absent: the next one in turn.
   */
  kill(count = 1, first = this.#turn): void {
    const dead = Array.from({ length: count }, (_, turn) => {
      const index = (first + turn) % this.#urls.length;
      const process = this.#processes[index];
      if (this.#urls[index] === undefined || !process)
        throw new Error('A node that is down cannot be killed.');
      this.#urls[index] = undefined;
      process.child.kill('SIGKILL');
      return { index, ended: process.ended };
    });
    this.#turn += count;
    this.kills += 1;
    const restarted = Promise.all(
      dead.map(async ({ index, ended }) => {
        await ended;
        await this.#restart(index);
      }),
    );
    this.#restarting = restarted.then(() => {
      this.#restarting = undefined;
    });
    // Whoever waits for it gets the fault.
    this.#restarting.catch(() => undefined);
  }

  /** Kills one worker of a node, and waits for the one that is started in its place; they take turns. */
  killWorker(): void {
    const [process] = this.#processes;
    const before = process ? workersOf(process) : [];
    const pid = before[this.kills % before.length];
    if (!process || pid === undefined) throw new Error('A node has no workers.');
    globalThis.process.kill(pid, 'SIGKILL');
    this.kills += 1;
    const replaced = eventually(() => {
      if (!this.#isStopping && workersOf(process).includes(pid))
        throw new Error(`No worker has taken the place of ${pid}.`);
    });
    this.#restarting = replaced.then(() => {
      this.#restarting = undefined;
    });
    // Whoever waits for it gets the fault.
    this.#restarting.catch(() => undefined);
  }

  /** Resolves when starts have failed so often. */
  async startsFailed(count: number): Promise<void> {
    while (this.failedStarts < count) {
      if (!this.#restarting) throw new Error('Every node could start.');
      await Promise.race([this.#changed.promise, this.#restarting]);
    }
  }

  async settled(): Promise<void> {
    await this.#restarting;
  }

  async stopAll(): Promise<void> {
    this.#isStopping = true;
    for (const { child } of this.#processes) child.kill('SIGKILL');
    await this.#restarting?.catch(() => undefined);
    await Promise.all(this.#processes.map(({ ended }) => ended));
  }
}
