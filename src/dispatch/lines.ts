/** The lines that may have due work. */
export class Lines {
  readonly #some = new Set<string>();
  #isAll = true;

  /** Whether no line may have due work. */
  get isEmpty(): boolean {
    return !this.#isAll && this.#some.size === 0;
  }

  /** Adds lines that may have due work; undefined stands for all. */
  add(lines: readonly string[] | undefined): void {
    if (!lines) this.#isAll = true;
    else for (const line of lines) this.#some.add(line);
  }

  /** Takes all lines out; undefined stands for all lines. */
  take(): string[] | undefined {
    const taken = this.#isAll ? undefined : [...this.#some];
    this.#isAll = false;
    this.#some.clear();
    return taken;
  }
}
