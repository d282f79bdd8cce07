import { expect } from 'vitest';
import { quietTransaction, type Transaction, transaction } from '../../../src/db/transaction.ts';
import { readEvents } from '../../../src/events/log.ts';
import { beginParts } from '../../../src/events/parts/begin.ts';
import { type EventPosition, encodePosition } from '../../../src/events/position.ts';
import { bySignet, type NewEvent, recordEvents } from '../../../src/events/record.ts';
import { newId } from '../../../src/ids.ts';
import type { Context } from '../../../src/services.ts';
import { settled, userEvent } from '../../support/log.ts';
import { eventually } from '../../support/wait.ts';

export const dayMs = 24 * 60 * 60 * 1_000;

type Services = Pick<Context, 'database' | 'clock'>;

/** An event of the audit, with a name. */
const ofAudit = (name: string): NewEvent => ({
  type: 'Role.Created',
  data: {
    id: newId('Role'),
    name,
    description: null,
    type: 'USER',
    isDefault: false,
    createdAt: '',
    updatedAt: '',
  },
});

const eventOf = (name: string) => (name.startsWith('audit') ? ofAudit(name) : userEvent(name));

/** Runs a job of the log as the scheduler does, until it has nothing to do. */
export async function runJob(
  { database }: Pick<Services, 'database'>,
  job: (tx: Transaction) => Promise<boolean>,
): Promise<void> {
  while (await quietTransaction(database, job));
}

/** Writes events that happened so many days ago into the part that takes events now. */
export async function write(
  { database, clock }: Services,
  days: number,
  ...names: readonly string[]
): Promise<void> {
  const at = new Date(clock.now().getTime() - days * dayMs);
  for (const name of names) {
    await transaction(database, (tx) =>
      recordEvents(tx, { ...bySignet, clock: { now: () => at } }, [eventOf(name)]),
    );
  }
}

/** The numbers of the parts, as PostgreSQL has them. */
export async function tables({ database }: Pick<Services, 'database'>): Promise<number[]> {
  const rows = await database.prisma.$queryRaw<{ number: number }[]>`
    SELECT substr("relname", 7)::int AS "number" FROM pg_class
      JOIN pg_inherits ON "inhrelid" = pg_class."oid" AND "inhparent" = '"Event"'::regclass
     WHERE "relkind" = 'r' ORDER BY 1`;
  return rows.map(({ number }) => number);
}

/** The number of the part that takes events now. */
export async function open({ database }: Pick<Services, 'database'>): Promise<number> {
  const { number } = await database.prisma.eventPart.findFirstOrThrow({
    orderBy: { number: 'desc' },
    select: { number: true },
  });
  return number;
}

/**
 * Runs the job until the log is in that part. The settled line can move back for a moment, while transactions of other
 * databases end; the next run of the job finds it where it was.
 */
export const moveTo = (services: Services, part: number, fewest = 0): Promise<void> =>
  eventually(async () => {
    await runJob(services, beginParts(services, fewest));
    expect(await open(services)).toBe(part);
  });

/** Begins a part as if it were that many days ago. Nothing may be open. */
export async function begin(services: Services, days = 1): Promise<void> {
  const { prisma } = services.database;
  const before = await open(services);
  await prisma.$executeRaw`
    UPDATE "EventPart" SET "begunAt" = least("begunAt", now() - interval '2 days') WHERE "number" = ${before}`;
  await settled(services.database);
  await moveTo(services, before + 1);
  await prisma.$executeRaw`
    UPDATE "EventPart" SET "begunAt" = now() - ${days} * interval '1 day' WHERE "number" = ${before + 1}`;
}

export interface Named {
  readonly name: unknown;
  readonly position: EventPosition;
  readonly cursor: string;
}

/**
 * All events of the log, by one reader that has read nothing yet. The settled line can move back for a moment, while
 * transactions of other databases end: then it reads again.
 */
export async function readAll({ database }: Pick<Services, 'database'>): Promise<Named[]> {
  const { prisma } = database;
  const reader = { $queryRaw: prisma.$queryRaw.bind(prisma) } as typeof prisma;
  const events = await eventually(async () => {
    const read = await readEvents(reader, { take: 10_000 });
    expect(read).toHaveLength(await prisma.event.count());
    return read;
  });
  return events.map(({ data, position }) => ({
    name: data['name'],
    position,
    cursor: encodePosition(position),
  }));
}
