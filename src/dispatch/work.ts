/** A row that belongs to this node until its lease runs out. */
export interface Claimed {
  readonly id: string;
  /** The row's line: rows of one line wait for each other, never for rows of another line. */
  readonly line: string;
}

/** The rows of one line that a node is working on. */
export interface UnderWay {
  readonly ids: string[];
  /** How many of their attempts have ended; they may not be recorded yet. */
  readonly ended: number;
}

/** The conditions of a claim. */
export interface ClaimRequest {
  /** The claiming node, by a name that no other process ever has. */
  readonly node: string;
  readonly now: Date;
  /** The rows that the node is working on already, by line. */
  readonly underWay: Readonly<Record<string, UnderWay>>;
  /** Claims only from these lines; absent: from all. */
  readonly lines: readonly string[] | undefined;
  /** The most rows to claim. */
  readonly room: number;
}

/** The result of a claim. */
export interface Claims<Item> {
  readonly claimed: readonly Item[];
  /** Lines with due work that could not be claimed from this time. */
  readonly missed: readonly string[];
  /** Whether there may be more rows, to claim when an attempt ends. */
  readonly isFull: boolean;
}

/** A queue for a dispatcher: rows are claimed, attempted outside any transaction, and recorded. */
export interface Work<Item extends Claimed, Outcome extends { readonly id: string }> {
  /** The name of the rows in log lines, such as "deliveries". */
  readonly name: string;
  /** The most attempts that one process may run at once. */
  readonly maxInFlight: number;
  claim(request: ClaimRequest): Promise<Claims<Item>>;
  /**
   * Finds the earliest due time of the waiting rows, claimed ones included.
   *
   * @returns Null if no row waits; undefined to be asked again soon.
   */
  nextDueAt(): Promise<Date | null | undefined>;
  /**
   * Attempts the row's work once. It never rejects.
   *
   * @param signal Ends the attempt when the process stops.
   * @returns Undefined if the signal ended it: the row is put back.
   */
  attempt(item: Item, signal: AbortSignal): Promise<Outcome | undefined>;
  /** Does further work for an outcome, such as metrics and logging. It never rejects. */
  follow?(item: Item, outcome: Outcome): Promise<void>;
  /**
   * Records outcomes and releases their rows. Outcomes of rows that another node has claimed meanwhile change nothing.
   */
  record(node: string, now: Date, outcomes: readonly Outcome[]): Promise<void>;
  /**
   * Renews the leases on the rows of this node.
   *
   * @param rows.held The rows it works on.
   * @param rows.over Rows recorded lately, which a concurrent claim may have listed as claimed again.
   */
  renew(
    node: string,
    now: Date,
    rows: { readonly held: readonly string[]; readonly over: readonly string[] },
  ): Promise<void>;
  /** Puts back all rows that the node has claimed, as if it had not claimed them. */
  release(node: string): Promise<void>;
}
