import { send } from '../api/send.ts';
import { hasEnded } from '../session/ended.ts';
import { EventPage, type LoggedEvent, LogTip } from './documents.ts';
import { type EventFilter, followEvents } from './feed.ts';

/** What a log shows at a moment. */
export interface LogState {
  /** Newest first. */
  readonly rows: readonly LoggedEvent[];
  readonly isPaused: boolean;
  /** How many have come since it was paused. */
  readonly held: number;
  readonly hasOlder: boolean;
  readonly phase: 'loading' | 'ready' | 'failed';
}

const pageSize = 100;
const restartAfterMs = 2_000;

/** Where the rate is counted: so many seconds to a bucket, so many buckets. */
export const rateBuckets = { seconds: 5, count: 120 } as const;

/**
 * The log as one page follows it: its end as read first, then what comes, then older pages on request. It keeps so many
 * rows and no more.
 */
export class EventLog {
  readonly filter: EventFilter;
  readonly keep: number;
  /** Events by bucket of time, for the rate. */
  readonly rate = new Map<number, number>();
  private state: LogState = {
    rows: [],
    isPaused: false,
    held: 0,
    hasOlder: false,
    phase: 'loading',
  };
  private held: LoggedEvent[] = [];
  // False once older rows have pushed the newest out.
  private isAtTip = true;
  private isLoadingOlder = false;
  private run = 0;
  private unfollow = () => {};
  private arrived: LoggedEvent[] = [];
  private frame: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(filter: EventFilter, keep: number) {
    this.filter = filter;
    this.keep = keep;
  }

  readonly get = (): LogState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Reads the end of the log, then follows it from there. */
  async start(): Promise<void> {
    this.stop();
    const run = ++this.run;
    this.held = [];
    this.isAtTip = true;
    this.change({ phase: 'loading', isPaused: false, held: 0 });
    try {
      // The tip first: what is written between the two is in the page and comes live as well, and is shown once.
      const tip = await send(LogTip, {});
      const page = await send(EventPage, {
        last: Math.min(pageSize, this.keep),
        ...this.variables,
      });
      if (run !== this.run) return;
      const rows = page.events.edges.map(({ node }) => node).reverse();
      this.rate.clear();
      this.count(rows);
      this.change({ rows, hasOlder: page.events.pageInfo.hasPreviousPage, phase: 'ready' });
      this.unfollow = followEvents(
        { ...this.filter, after: tip.events.pageInfo.endCursor ?? undefined },
        { onEvent: (event) => this.take(event), onLost: () => this.restartSoon(run) },
      );
      // An empty log has no cursor to begin at, so it is read once more behind the subscription.
      if (!tip.events.pageInfo.endCursor) void this.readAgain(run);
    } catch {
      if (run !== this.run) return;
      this.change({ phase: 'failed' });
      this.restartSoon(run);
    }
  }

  /** Ends following. What it shows stays. */
  stop(): void {
    this.run++;
    this.unfollow();
    this.unfollow = () => {};
    this.arrived = [];
    clearTimeout(this.timer);
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.frame = undefined;
  }

  /** Holds the rows as they are. What comes is kept aside. */
  pause(): void {
    this.flush();
    this.change({ isPaused: true });
  }

  /** Goes on, with all that has come meanwhile. */
  resume(): void {
    if (!this.isAtTip) {
      void this.start();
      return;
    }
    const rows = [...this.held, ...this.state.rows].slice(0, this.keep);
    const hasOlder = this.state.hasOlder || rows.length === this.keep;
    this.held = [];
    this.change({ rows, hasOlder, isPaused: false, held: 0 });
  }

  /** Reads the page before the oldest row. Where that is too much, the newest rows go, and the log is paused. */
  async loadOlder(): Promise<void> {
    const oldest = this.state.rows.at(-1);
    if (!oldest || !this.state.hasOlder || this.isLoadingOlder) return;
    this.isLoadingOlder = true;
    const { run } = this;
    try {
      const { events } = await send(EventPage, {
        last: pageSize,
        before: oldest.cursor,
        ...this.variables,
      });
      if (run !== this.run) return;
      const older = events.edges.map(({ node }) => node).reverse();
      const all = [...this.state.rows, ...older];
      const rows = all.slice(-this.keep);
      if (rows.length < all.length) this.isAtTip = false;
      this.change({
        rows,
        hasOlder: events.pageInfo.hasPreviousPage,
        isPaused: this.state.isPaused || !this.isAtTip,
      });
    } catch {
      // The next scroll asks again.
    } finally {
      this.isLoadingOlder = false;
    }
  }

  private get variables() {
    const { types, subjectId, actorId } = this.filter;
    return { types: types?.length ? [...types] : undefined, subjectId, actorId };
  }

  private async readAgain(run: number): Promise<void> {
    const page = await send(EventPage, { last: Math.min(pageSize, this.keep), ...this.variables });
    if (run !== this.run) return;
    for (const { node } of page.events.edges) this.take(node);
  }

  private restartSoon(run: number): void {
    if (run !== this.run || hasEnded.get()) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (run === this.run) void this.start();
    }, restartAfterMs);
  }

  private take(event: LoggedEvent): void {
    this.arrived.push(event);
    // Together with all that comes before the next frame. A hidden tab has no frames; it must not pile up.
    if (document.hidden || this.arrived.length >= this.keep) this.flush();
    else this.frame ??= requestAnimationFrame(() => this.flush());
  }

  private flush(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.frame = undefined;
    if (this.arrived.length === 0) return;
    const known = new Set([...this.state.rows, ...this.held].map(({ id }) => id));
    const fresh = this.arrived.filter(({ id }) => !known.has(id)).reverse();
    this.arrived = [];
    if (fresh.length === 0) return;
    this.count(fresh);
    if (this.state.isPaused) {
      this.held = [...fresh, ...this.held].slice(0, this.keep);
      this.change({ held: this.state.held + fresh.length });
      return;
    }
    const all = [...fresh, ...this.state.rows];
    this.change({
      rows: all.slice(0, this.keep),
      hasOlder: this.state.hasOlder || all.length > this.keep,
    });
  }

  private count(events: readonly LoggedEvent[]): void {
    for (const { occurredAt } of events) {
      const bucket = Math.floor(Date.parse(occurredAt) / 1000 / rateBuckets.seconds);
      this.rate.set(bucket, (this.rate.get(bucket) ?? 0) + 1);
    }
    const oldest = Math.floor(Date.now() / 1000 / rateBuckets.seconds) - rateBuckets.count;
    for (const bucket of this.rate.keys()) if (bucket < oldest) this.rate.delete(bucket);
  }

  private change(changes: Partial<LogState>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of [...this.listeners]) listener();
  }
}
