import type { Claimed, UnderWay } from './work.ts';

/** The rows that this node has claimed and not recorded yet. */
export class InFlight {
  readonly #rows = new Map<string, { readonly line: string; readonly attempt: Promise<void> }>();
  /** The rows recorded since the last renewal, and since the one before. */
  #recorded = new Set<string>();
  #recordedBefore = new Set<string>();

  /** How many rows there are. */
  get size(): number {
    return this.#rows.size;
  }

  /** The ids of the rows. */
  ids(): string[] {
    return [...this.#rows.keys()];
  }

  /** Adds a row with its attempt. */
  add({ id, line }: Claimed, attempt: Promise<void>): void {
    this.#rows.set(id, { line, attempt });
  }

  /** Removes rows whose outcomes are recorded. */
  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#rows.delete(id);
      this.#recorded.add(id);
    }
  }

  /** Resolves when every attempt that runs now has ended. */
  async settled(): Promise<void> {
    await Promise.all([...this.#rows.values()].map(({ attempt }) => attempt));
  }

  /**
   * The rows under way, by line.
   *
   * @param ended The rows whose attempts have ended.
   */
  underWay(
    lines: readonly string[] | undefined,
    ended: ReadonlySet<string>,
  ): Record<string, UnderWay> {
    const wanted = lines && new Set(lines);
    const underWay: Record<string, { ids: string[]; ended: number }> = {};
    for (const [id, { line }] of this.#rows) {
      if (wanted && !wanted.has(line)) continue;
      underWay[line] ??= { ids: [], ended: 0 };
      underWay[line].ids.push(id);
      if (ended.has(id)) underWay[line].ended += 1;
    }
    return underWay;
  }

  /**
   * Rows recorded lately, passed to each renewal: a concurrent claim may list recorded rows as under way again. After
   * two renewals no claim can.
   */
  takeRecorded(): string[] {
    const over = [...this.#recorded.union(this.#recordedBefore)].filter(
      (id) => !this.#rows.has(id),
    );
    this.#recordedBefore = this.#recorded;
    this.#recorded = new Set();
    return over;
  }
}
