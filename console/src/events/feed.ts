import { stringifyDocument } from '@urql/core';
import { socket } from '../api/socket.ts';
import type { EventType, FollowEventsSubscription } from '../generated/graphql.ts';
import { FollowEvents, type LoggedEvent } from './documents.ts';

/** Which events are asked for. */
export interface EventFilter {
  readonly types?: readonly EventType[];
  readonly subjectId?: string;
  readonly actorId?: string;
}

const query = stringifyDocument(FollowEvents);

/**
 * Follows the log from a cursor, or from now on. After a break it goes on behind the last event, so none is missing and
 * none comes twice.
 *
 * @param handlers.onLost The log can no longer be followed from there: the cursor is older than what is kept.
 * @returns How to end it.
 */
export function followEvents(
  { types, subjectId, actorId, after }: EventFilter & { readonly after?: string | undefined },
  handlers: { onEvent: (event: LoggedEvent) => void; onLost?: () => void },
): () => void {
  let cursor = after;
  const variables = {
    types: types?.length ? types : undefined,
    subjectId,
    actorId,
    // Read anew whenever the socket is: each subscription begins behind what came before it.
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
