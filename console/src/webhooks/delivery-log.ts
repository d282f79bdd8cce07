import { stringifyDocument } from '@urql/core';
import { send } from '../api/send.ts';
import { connection, socket } from '../api/socket.ts';
import type {
  DeliveryStatus,
  EventType,
  FollowDeliveriesSubscription,
} from '../generated/graphql.ts';
import { hasEnded } from '../session/ended.ts';
import { DeliveryPage, FollowDeliveries, type ListedDelivery } from './documents.ts';

/** Which deliveries are listed. */
export interface DeliveryChoice {
  readonly status?: DeliveryStatus;
  readonly types?: readonly EventType[];
}

/** What the list shows at a moment, newest first. */
export interface DeliveryState {
  readonly rows: readonly ListedDelivery[];
  readonly hasOlder: boolean;
  readonly phase: 'loading' | 'ready' | 'failed';
}

const query = stringifyDocument(FollowDeliveries);
const pageSize = 50;
const keep = 500;
const retryAfterMs = 2_000;
/** The subscription has no cursor, so the page is read once more when it surely runs. */
const readAgainAfterMs = 1_500;

/**
 * The deliveries of one webhook, as they are made and attempted. It keeps so many and no more, and stays outside the
 * client's cache, which would keep them all.
 */
export class DeliveryLog {
  readonly webhookId: string;
  readonly choice: DeliveryChoice;
  private state: DeliveryState = { rows: [], hasOlder: false, phase: 'loading' };
  private last: string | undefined;
  private isLoadingOlder = false;
  private run = 0;
  private ends: (() => void)[] = [];
  private timers: ReturnType<typeof setTimeout>[] = [];
  private arrived: ListedDelivery[] = [];
  private frame: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(webhookId: string, choice: DeliveryChoice) {
    this.webhookId = webhookId;
    this.choice = choice;
  }

  readonly get = (): DeliveryState => this.state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Follows the deliveries, and reads those that are there. */
  start(): void {
    this.stop();
    const run = ++this.run;
    this.follow(run);
    void this.read(run);
    this.later(run, readAgainAfterMs, () => void this.read(run));
    // What came while the connection was lost is read after it.
    this.ends.push(
      connection.subscribe(() => {
        if (connection.get() !== 'live') return;
        void this.read(run);
        this.later(run, readAgainAfterMs, () => void this.read(run));
      }),
    );
  }

  /** Ends following. What it shows stays. */
  stop(): void {
    this.run++;
    for (const end of this.ends) end();
    for (const timer of this.timers) clearTimeout(timer);
    clearTimeout(this.frame);
    this.frame = undefined;
    this.ends = [];
    this.timers = [];
    this.arrived = [];
  }

  /** Reads the page after the oldest one. */
  async loadOlder(): Promise<void> {
    if (!this.last || !this.state.hasOlder || this.isLoadingOlder) return;
    this.isLoadingOlder = true;
    const { run } = this;
    try {
      const page = await this.page(this.last);
      if (run !== this.run || !page) return;
      this.merge(page.edges.map(({ node }) => node));
      this.last = page.edges.at(-1)?.cursor ?? this.last;
      this.change({ hasOlder: page.pageInfo.hasNextPage && this.state.rows.length < keep });
    } catch {
      // The next click asks again.
    } finally {
      this.isLoadingOlder = false;
    }
  }

  private follow(run: number): void {
    const again = () => this.later(run, retryAfterMs, () => this.start());
    const unfollow = socket().subscribe<FollowDeliveriesSubscription>(
      { query, variables: { id: this.webhookId } },
      {
        next: ({ data }) => {
          if (data) this.take(data.webhookDeliveries);
          else again();
        },
        error: again,
        complete() {},
      },
    );
    this.ends.push(unfollow);
  }

  private async read(run: number): Promise<void> {
    try {
      const page = await this.page();
      if (run !== this.run) return;
      const rows = page?.edges.map(({ node }) => node) ?? [];
      // So much came while the connection was lost that the page does not reach what is shown: it begins anew.
      if (page?.pageInfo.hasNextPage && !rows.some(({ id }) => this.shows(id))) {
        this.last = undefined;
        this.change({ rows: [] });
      }
      this.merge(rows);
      if (this.last === undefined) {
        this.last = page?.edges.at(-1)?.cursor;
        this.change({ hasOlder: page?.pageInfo.hasNextPage ?? false });
      }
      this.change({ phase: 'ready' });
    } catch {
      if (run !== this.run || hasEnded.get()) return;
      if (this.state.phase !== 'ready') this.change({ phase: 'failed' });
      this.later(run, retryAfterMs, () => void this.read(run));
    }
  }

  private async page(after?: string) {
    const { status, types } = this.choice;
    const { webhook } = await send(DeliveryPage, {
      id: this.webhookId,
      first: pageSize,
      after,
      filter: { status, types: types?.length ? [...types] : undefined },
    });
    return webhook?.deliveries;
  }

  private take(delivery: ListedDelivery): void {
    this.arrived.push(delivery);
    if (this.arrived.length >= keep) this.flush();
    else this.frame ??= setTimeout(() => this.flush(), 50);
  }

  private flush(): void {
    clearTimeout(this.frame);
    this.frame = undefined;
    const { arrived } = this;
    this.arrived = [];
    this.merge(arrived);
  }

  private merge(deliveries: readonly ListedDelivery[]): void {
    if (deliveries.length === 0) return;
    const rows = new Map(this.state.rows.map((row) => [row.id, row]));
    for (const delivery of deliveries) {
      const known = rows.get(delivery.id);
      // A page that was read before a change may come after it.
      if (known && known.updatedAt > delivery.updatedAt) continue;
      if (this.fits(delivery)) rows.set(delivery.id, delivery);
      else rows.delete(delivery.id);
    }
    const newestFirst = [...rows.values()].sort((a, b) =>
      a.createdAt === b.createdAt
        ? b.id.localeCompare(a.id)
        : b.createdAt.localeCompare(a.createdAt),
    );
    this.change({ rows: newestFirst.slice(0, keep) });
  }

  private shows(id: string): boolean {
    return this.state.rows.some((row) => row.id === id);
  }

  private fits({ status, eventType }: ListedDelivery): boolean {
    const { status: only, types } = this.choice;
    return (!only || only === status) && (!types?.length || types.includes(eventType));
  }

  private later(run: number, afterMs: number, act: () => void): void {
    this.timers.push(
      setTimeout(() => {
        if (run === this.run && !hasEnded.get()) act();
      }, afterMs),
    );
  }

  private change(changes: Partial<DeliveryState>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of [...this.listeners]) listener();
  }
}
