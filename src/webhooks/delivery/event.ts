import { findEvents, type LoggedEvent } from '../../events/log.ts';
import { logStart } from '../../events/position.ts';
import type { Delivery } from '../../generated/prisma/client.ts';
import { inBatches } from '../../graphql/batches.ts';
import type { GraphQLContext } from '../../graphql/context.ts';

/** The event of a test. It is stored with the delivery, never in the log. */
export type TestEvent = Omit<LoggedEvent, 'id' | 'position' | 'occurredAt'> & {
  readonly occurredAt: string;
};

const loggedEvent = inBatches<string, LoggedEvent | null>(async ({ database }, ids) => {
  const found = await findEvents(database.prisma, ids);
  const events = new Map(found.map((event) => [event.id, event]));
  return ids.map((id) => events.get(id) ?? null);
});

/** The event of a delivery, read from the log, or for a test from the delivery itself; null if it was purged. */
export async function eventOfDelivery(
  context: GraphQLContext,
  { eventId, testEvent }: Pick<Delivery, 'eventId' | 'testEvent'>,
): Promise<LoggedEvent | null> {
  if (testEvent !== null) {
    // Only testWebhook writes it.
    const { occurredAt, ...event } = testEvent as unknown as TestEvent;
    return { ...event, id: eventId, occurredAt: new Date(occurredAt), position: logStart };
  }
  return loggedEvent(context, eventId);
}
