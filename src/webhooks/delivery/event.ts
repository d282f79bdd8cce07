import { findEvents, type LoggedEvent } from '../../events/log.ts';
import type { Delivery } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';

/** The event of a test. It is stored with the delivery, never in the log. */
export type TestEvent = Omit<LoggedEvent, 'id' | 'position' | 'occurredAt'> & {
  readonly occurredAt: string;
};

/** The event of a delivery, read from the log, or for a test from the delivery itself; null if it was purged. */
export async function eventOfDelivery(
  { database }: Pick<Services, 'database'>,
  { eventId, testEvent }: Pick<Delivery, 'eventId' | 'testEvent'>,
): Promise<LoggedEvent | null> {
  if (testEvent !== null) {
    // Only testWebhook writes it.
    const { occurredAt, ...event } = testEvent as unknown as TestEvent;
    const position = { xid: '0', position: 0n };
    return { ...event, id: eventId, occurredAt: new Date(occurredAt), position };
  }
  const [event] = await findEvents(database.prisma, [eventId]);
  return event ?? null;
}
