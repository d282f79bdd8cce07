import { findEvents, type LoggedEvent } from '../../events/log.ts';
import type { Delivery } from '../../generated/prisma/client.ts';
import type { Services } from '../../services.ts';

/** A test's event as its delivery keeps it: no log has it. */
export type TestEvent = Omit<LoggedEvent, 'id' | 'position' | 'occurredAt'> & {
  readonly occurredAt: string;
};

/** The event of a delivery, from the log or, where it is a test, from the delivery itself; null where it is gone. */
export async function eventOfDelivery(
  { database }: Pick<Services, 'database'>,
  { eventId, testEvent }: Pick<Delivery, 'eventId' | 'testEvent'>,
): Promise<LoggedEvent | null> {
  if (testEvent !== null) {
    // Written by testWebhook and by nothing else.
    const { occurredAt, ...event } = testEvent as unknown as TestEvent;
    const position = { xid: '0', position: 0n };
    return { ...event, id: eventId, occurredAt: new Date(occurredAt), position };
  }
  const [event] = await findEvents(database.prisma, [eventId]);
  return event ?? null;
}
