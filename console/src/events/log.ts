import { send } from '../kit/api/send.ts';
import { LiveList, type LiveState } from '../kit/lists/live-list.ts';
import { EventPage, type LoggedEvent, LogTip } from './documents.ts';
import { type EventFilter, followEvents } from './feed.ts';

/** What a log shows. */
export interface LogState extends LiveState<LoggedEvent> {
  readonly isPaused: boolean;
  /** How many events arrived since it was paused. */
  readonly held: number;
}

const pageSize = 100;
const restartAfterMs = 2_000;

/** The buckets in which the rate is counted: their length in seconds, and their number. */
export const rateBuckets = { seconds: 5, count: 120 } as const;

/** The log of one page. */
export class EventLog extends LiveList<LoggedEvent, LogState> {
  readonly filter: EventFilter;
  /** Events by time bucket, for the rate. */
  readonly rate = new Map<number, number>();
  private held: LoggedEvent[] = [];
  // False once older rows have displaced the newest.
  private isAtTip = true;

  constructor(filter: EventFilter, keep: number) {
    super(keep, { rows: [], isPaused: false, held: 0, hasOlder: false, phase: 'loading' });
    this.filter = filter;
  }

  protected begin(over: AbortSignal): void {
    this.held = [];
    this.isAtTip = true;
    this.change({ phase: 'loading', isPaused: false, held: 0 });
    this.read(over).catch(() => {
      if (over.aborted) return;
      this.change({ phase: 'failed' });
      this.startAgain(over);
    });
  }

  private async read(over: AbortSignal): Promise<void> {
    // The tip is read first. An event written between the two reads is in the page and arrives live; it is shown once.
    const tip = await send(LogTip, {});
    const { rows, hasOlder } = await this.page(Math.min(pageSize, this.keep));
    if (over.aborted) return;
    this.rate.clear();
    this.count(rows);
    this.change({ rows, hasOlder, phase: 'ready' });
    const { since: _, until, ...filter } = this.filter;
    if (until !== undefined) return;
    const unfollow = followEvents(
      { ...filter, after: tip.events.pageInfo.endCursor ?? undefined },
      { onEvent: (event) => this.take(event), onLost: () => this.startAgain(over) },
    );
    over.addEventListener('abort', unfollow);
    if (tip.events.pageInfo.endCursor) return;
    // An empty log has no cursor to start from, so it is read again once the subscription runs.
    const again = await this.page(Math.min(pageSize, this.keep));
    if (over.aborted) return;
    for (const event of again.rows.toReversed()) this.take(event);
  }

  /** Pauses the list. New events are held back. */
  pause(): void {
    this.flush();
    this.change({ isPaused: true });
  }

  /** Resumes with all events that arrived meanwhile. */
  resume(): void {
    if (!this.isAtTip) {
      this.start();
      return;
    }
    const rows = [...this.held, ...this.state.rows].slice(0, this.keep);
    const hasOlder = this.state.hasOlder || rows.length === this.keep;
    this.held = [];
    this.change({ rows, hasOlder, isPaused: false, held: 0 });
  }

  // If the older page exceeds the limit, the newest rows are dropped and the log is paused.
  protected async readOlder(over: AbortSignal): Promise<void> {
    const oldest = this.state.rows.at(-1);
    if (!oldest) return;
    const older = await this.page(pageSize, oldest.cursor);
    if (over.aborted) return;
    const all = [...this.state.rows, ...older.rows];
    const rows = all.slice(-this.keep);
    if (rows.length < all.length) this.isAtTip = false;
    this.change({
      rows,
      hasOlder: older.hasOlder,
      isPaused: this.state.isPaused || !this.isAtTip,
    });
  }

  protected add(arrived: readonly LoggedEvent[]): void {
    const known = new Set([...this.state.rows, ...this.held].map(({ id }) => id));
    const fresh = arrived.filter(({ id }) => !known.has(id)).reverse();
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

  private async page(last: number, before?: string) {
    const { types, subjectId, actorId, since, until } = this.filter;
    const { events } = await send(EventPage, {
      last,
      before,
      types: types?.length ? [...types] : undefined,
      subjectId,
      actorId,
      since,
      until,
    });
    return {
      rows: events.edges.map(({ node }) => node).reverse(),
      hasOlder: events.pageInfo.hasPreviousPage,
    };
  }

  private startAgain(over: AbortSignal): void {
    this.later(over, restartAfterMs, () => this.start());
  }

  private count(events: readonly LoggedEvent[]): void {
    for (const { occurredAt } of events) {
      const bucket = Math.floor(Date.parse(occurredAt) / 1000 / rateBuckets.seconds);
      this.rate.set(bucket, (this.rate.get(bucket) ?? 0) + 1);
    }
    const oldest = Math.floor(Date.now() / 1000 / rateBuckets.seconds) - rateBuckets.count;
    for (const bucket of this.rate.keys()) if (bucket < oldest) this.rate.delete(bucket);
  }
}
