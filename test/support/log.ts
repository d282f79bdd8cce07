import { expect } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/db/database.ts';
import { quietTransaction } from '../../src/db/transaction.ts';
import type { EventData } from '../../src/events/catalogue/catalogue.ts';
import { readEvents } from '../../src/events/log.ts';
import { type NewEvent, recordEvents } from '../../src/events/record.ts';
import { newId } from '../../src/ids.ts';
import { type Actor, systemActor } from '../../src/services.ts';
import { eventually } from './wait.ts';

/** A call that no request made, for operations that a test runs itself. */
export const testCall = { traceId: 'a trace', ip: null, userAgent: null } as const;

/** An event about a user who exists only in this event. */
export function userEvent(name: string, customData: unknown = {}): NewEvent {
  const at = '2030-01-01T00:00:00.000Z';
  const data: EventData<'User.Created'> = {
    id: newId('User'),
    username: null,
    primaryEmail: null,
    primaryPhone: null,
    isEmailVerified: false,
    isPhoneVerified: false,
    name,
    avatar: null,
    profile: {},
    customData,
    isSuspended: false,
    hasPassword: false,
    lastSignInAt: null,
    createdAt: at,
    updatedAt: at,
  };
  return { type: 'User.Created', data };
}

/** An event about a role that exists only in this event. */
export const roleEvent = (name: string): NewEvent => ({
  type: 'Role.Created',
  data: {
    id: newId('Role'),
    name,
    description: null,
    type: 'USER',
    isDefault: false,
    createdAt: '2030-01-01T00:00:00.000Z',
    updatedAt: '2030-01-01T00:00:00.000Z',
  },
});

/** Writes events into the log in one transaction, and holds it open until `held` resolves. */
export async function raise(
  {
    database,
    clock,
    actor = systemActor,
  }: { readonly database: Database; readonly clock: Clock; readonly actor?: Actor },
  events: readonly NewEvent[],
  held?: { readonly written: () => void; readonly until: Promise<void> },
): Promise<void> {
  await quietTransaction(database, async (tx) => {
    await recordEvents(tx, { ...testCall, actor, clock }, events);
    if (!held) return;
    // The events are sent, not yet written, until a later statement is answered.
    await tx.$queryRaw`SELECT 1 AS "one"`;
    held.written();
    await held.until;
  });
}

/**
 * Waits until all committed events are settled. An open transaction hides everything committed after its begin from
 * readers.
 */
export async function settled({ prisma }: Pick<Database, 'prisma'>): Promise<void> {
  await eventually(async () => {
    // Read each time: failed sign-ins and refused requests are written a moment after their answers.
    const [end] = await prisma.$queryRaw<{ id: string }[]>`
      SELECT "id" FROM "Event" ORDER BY "xid" DESC, "position" DESC LIMIT 1`;
    const [last] = await readEvents(prisma, { take: 1, fromEnd: true });
    expect(last?.id).toBe(end?.id);
  });
}
