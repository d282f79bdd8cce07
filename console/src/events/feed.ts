import { stringifyDocument } from '@urql/core';
import type { EventType, FollowEventsSubscription } from '../generated/graphql.ts';
import { socket } from '../kit/api/socket.ts';
import { FollowEvents, type LoggedEvent } from './documents.ts';

/** Which events to show. */
export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly subjectId?: string;
  readonly actorId?: string;
  /** Only events at or after this instant. */
  readonly since?: string;
  /** Only events before this instant: these do not grow. */
  readonly until?: string;
}

const query = stringifyDocument(FollowEvents);

/**
 * Follows the log from a cursor, or from now on. After a reconnect it continues after the last event, so that none is
 * missing or repeated.
 *
 * @param handlers.onLost Called when the cursor is older than the log's retention.
 * @returns Stops following.
 */
export function followEvents(
  {
    types,
    subjectId,
    actorId,
    after,
  }: Omit<EventFilter, 'since' | 'until'> & { readonly after?: string | undefined },
  handlers: { onEvent: (event: LoggedEvent) => void; onLost?: () => void },
): () => void {
  let cursor = after;
  const variables = {
    types: types?.length ? types : undefined,
    subjectId,
    actorId,
    // Read at each reconnect: the new subscription starts after the last event.
    get after() {
      return cursor;
    },
  };
  return socket().subscribe<FollowEventsSubscription>(
    { query, variables },
    {
      next({ data, errors }) {
        if (data) {
          cursor = data.events.cursor;
          handlers.onEvent(data.events);
        } else if (errors) handlers.onLost?.();
      },
      error() {
        handlers.onLost?.();
      },
      complete() {},
    },
  );
}
