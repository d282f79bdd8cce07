import { stringifyDocument } from '@urql/core';
import type {
  DeliveryStatus,
  EventType,
  FollowDeliveriesSubscription,
} from '../../generated/graphql.ts';
import { send } from '../../kit/api/send.ts';
import { connection, socket } from '../../kit/api/socket.ts';
import { LiveList, type LiveState } from '../../kit/lists/live-list.ts';
import { hasEnded } from '../../kit/session/ended.ts';
import { DeliveryPage, FollowDeliveries, type ListedDelivery } from '../documents.ts';

/** The filter of the deliveries. */
export interface DeliveryChoice {
  readonly status?: DeliveryStatus;
  readonly types?: readonly EventType[];
  /** Whether the events may be read, to say what they are about. */
  readonly canReadEvents: boolean;
}

const query = stringifyDocument(FollowDeliveries);
const pageSize = 50;
const keep = 500;
const retryAfterMs = 2_000;

/** The live list of a webhook's deliveries. */
export class DeliveryLog extends LiveList<ListedDelivery, LiveState<ListedDelivery>> {
  readonly webhookId: string;
  readonly choice: DeliveryChoice;
  private last: string | undefined;

  constructor(webhookId: string, choice: DeliveryChoice) {
    super(keep, { rows: [], hasOlder: false, phase: 'loading' });
    this.webhookId = webhookId;
    this.choice = choice;
  }

  protected begin(over: AbortSignal): void {
    void this.read(over);
    // It begins anew with the newest page: so much may have changed while the connection was lost.
    let wasLost = false;
    const unsubscribe = connection.subscribe(() => {
      if (connection.get() === 'lost') wasLost = true;
      else if (wasLost && connection.get() === 'live') this.start();
    });
    over.addEventListener('abort', unsubscribe);
  }

  protected async readOlder(over: AbortSignal): Promise<void> {
    if (!this.last) return;
    const page = await this.page(this.last);
    if (over.aborted || !page) return;
    this.add(page.edges.map(({ node }) => node));
    this.last = page.edges.at(-1)?.cursor ?? this.last;
    this.change({ hasOlder: page.pageInfo.hasNextPage && this.state.rows.length < keep });
  }

  private follow(over: AbortSignal, after: string | undefined): void {
    const again = () => this.later(over, retryAfterMs, () => this.start());
    const unfollow = socket().subscribe<FollowDeliveriesSubscription>(
      {
        query,
        variables: { id: this.webhookId, after, canReadEvents: this.choice.canReadEvents },
      },
      {
        next: ({ data }) => {
          if (data) this.take(data.webhookDeliveries);
          else again();
        },
        error: again,
        complete() {},
      },
    );
    over.addEventListener('abort', unfollow);
  }

  private async read(over: AbortSignal): Promise<void> {
    try {
      const page = await this.page();
      if (over.aborted) return;
      const rows = page?.edges.map(({ node }) => node) ?? [];
      // The page does not reach the shown rows, because too much was missed: the list starts again.
      if (page?.pageInfo.hasNextPage && !rows.some(({ id }) => this.shows(id))) {
        this.last = undefined;
        this.change({ rows: [] });
      }
      this.add(rows);
      if (this.last === undefined) {
        this.last = page?.edges.at(-1)?.cursor;
        this.change({ hasOlder: page?.pageInfo.hasNextPage ?? false });
      }
      this.change({ phase: 'ready' });
      this.follow(over, page?.cursor);
    } catch {
      if (over.aborted || hasEnded.get()) return;
      if (this.state.phase !== 'ready') this.change({ phase: 'failed' });
      this.later(over, retryAfterMs, () => void this.read(over));
    }
  }

  private async page(after?: string) {
    const { status, types, canReadEvents } = this.choice;
    const { webhook } = await send(DeliveryPage, {
      id: this.webhookId,
      first: pageSize,
      after,
      filter: { status, types: types?.length ? [...types] : undefined },
      canReadEvents,
    });
    return webhook?.deliveries;
  }

  protected add(deliveries: readonly ListedDelivery[]): void {
    if (deliveries.length === 0) return;
    const rows = new Map(this.state.rows.map((row) => [row.id, row]));
    for (const delivery of deliveries) {
      const known = rows.get(delivery.id);
      // A page that was read before a change can arrive after it.
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
}
