import { useEffect, useSyncExternalStore } from 'react';
import { hasEnded } from '../session/ended.ts';
import { useStore } from '../store.ts';

/** What a live list shows. */
export interface LiveState<Row> {
  /** Newest first. */
  readonly rows: readonly Row[];
  readonly hasOlder: boolean;
  readonly phase: 'loading' | 'ready' | 'failed';
}

/**
 * A list that updates itself: the newest page, then new rows as they arrive, and older pages on request. It keeps a
 * limited number of rows, outside the client's cache, which would keep them all.
 */
export abstract class LiveList<Row, State extends LiveState<Row>> {
  readonly keep: number;
  protected state: State;
  private running = new AbortController();
  private isLoadingOlder = false;
  private arrived: Row[] = [];
  private frame: number | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(keep: number, initial: State) {
    this.keep = keep;
    this.state = initial;
  }

  /** Reads the newest page and follows the list until the signal aborts. */
  protected abstract begin(over: AbortSignal): void;

  /** Reads the page after the oldest row. */
  protected abstract readOlder(over: AbortSignal): Promise<void>;

  /** Adds new rows, oldest first. */
  protected abstract add(arrived: readonly Row[]): void;

  readonly get = (): State => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Starts or restarts reading and following the list. */
  start(): void {
    this.stop();
    this.running = new AbortController();
    this.begin(this.running.signal);
  }

  /** Stops following the list. The rows stay. */
  stop(): void {
    this.running.abort();
    this.takeArrived();
  }

  /** Shows the next older page. */
  async loadOlder(): Promise<void> {
    if (!this.state.hasOlder || this.isLoadingOlder) return;
    this.isLoadingOlder = true;
    try {
      await this.readOlder(this.running.signal);
    } catch {
      // The next scroll or click tries again.
    } finally {
      this.isLoadingOlder = false;
    }
  }

  /** Queues a new row; all rows queued before the next frame are added together. */
  protected take(row: Row): void {
    this.arrived.push(row);
    // A hidden tab has no frames, and rows must not pile up there.
    if (document.hidden || this.arrived.length >= this.keep) this.flush();
    else this.frame ??= requestAnimationFrame(() => this.flush());
  }

  protected flush(): void {
    const arrived = this.takeArrived();
    if (arrived.length > 0) this.add(arrived);
  }

  protected later(over: AbortSignal, afterMs: number, act: () => void): void {
    const timer = setTimeout(() => {
      if (!hasEnded.get()) act();
    }, afterMs);
    over.addEventListener('abort', () => clearTimeout(timer));
  }

  protected change(changes: Partial<State>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of [...this.listeners]) listener();
  }

  private takeArrived(): Row[] {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    this.frame = undefined;
    const { arrived } = this;
    this.arrived = [];
    return arrived;
  }
}

/** The state of a live list, which is followed while the component is mounted. */
export function useLiveList<Row, State extends LiveState<Row>>(list: LiveList<Row, State>): State {
  const isOver = useStore(hasEnded);
  useEffect(() => {
    if (isOver) return undefined;
    list.start();
    return () => list.stop();
  }, [list, isOver]);
  return useSyncExternalStore(list.subscribe, list.get);
}
