import { type ServiceProcess, startProcess } from '../process.ts';

// Runs outside of a test too: nothing here comes from vitest.

/** Several nodes; any of them may be down. */
export class Cluster {
  readonly #environment: Record<string, string>;
  readonly #nodes: ({ url: string; process: ServiceProcess } | undefined)[];
  #changed = Promise.withResolvers<void>();
  #restarting: Promise<void> | undefined;
  #turn = 0;
  /** How often nodes were killed; several at once count as one. */
  kills = 0;

  constructor(environment: Record<string, string>, size: number) {
    this.#environment = environment;
    this.#nodes = Array.from({ length: size }, () => undefined);
  }

  async startAll(): Promise<void> {
    // One after the other: the first one migrates.
    for (const index of this.#nodes.keys()) await this.#start(index);
  }

  async #start(index: number): Promise<void> {
    const process = startProcess(this.#environment);
    this.#nodes[index] = { url: await process.ready, process };
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** The URL of a running node, chosen by the number. */
  async url(number: number): Promise<string> {
    for (;;) {
      const up = this.#nodes.filter((node) => node !== undefined);
      const node = up[number % up.length];
      if (node) return node.url;
      await this.#changed.promise;
    }
  }

  get isWhole(): boolean {
    return this.#restarting === undefined;
  }

  /** Kills the next node in turn, or several at once, and restarts them. */
  kill(count = 1): void {
    const dead = Array.from({ length: count }, (_, turn) => {
      const index = (this.#turn + turn) % this.#nodes.length;
      const node = this.#nodes[index];
      if (!node) throw new Error('A node that is down cannot be killed.');
      this.#nodes[index] = undefined;
      node.process.child.kill('SIGKILL');
      return { index, ended: node.process.ended };
    });
    this.#turn += count;
    this.kills += 1;
    this.#restarting = (async () => {
      for (const { index, ended } of dead) {
        await ended;
        await this.#start(index);
      }
      this.#restarting = undefined;
    })();
  }

  async settled(): Promise<void> {
    await this.#restarting;
  }

  async stopAll(): Promise<void> {
    await this.#restarting?.catch(() => undefined);
    for (const node of this.#nodes) node?.process.child.kill('SIGKILL');
    await Promise.all(this.#nodes.map((node) => node?.process.ended));
  }
}
