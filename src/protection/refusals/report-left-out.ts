import type { EventData } from '../../events/catalogue/catalogue.ts';
import { bySignet, type NewEvent, recordEvents } from '../../events/record.ts';
import type { Jobs } from '../../scheduler.ts';
import type { Services } from '../../services.ts';
import { minuteMs, type RefusalType, type ShareKey } from './refusal.ts';
import { lastWrittenMs } from './start.ts';

/** The data of an event about left-out refusals, beside whose they are. */
const nothing = {
  'SignIn.Failed': {
    identifierType: null,
    userId: null,
    method: null,
    reason: null,
    userAgent: null,
  },
  'Token.Refused': { grantType: null, rule: null, error: null, resource: null, userId: null },
} satisfies {
  readonly [Type in RefusalType]: Omit<EventData<Type>, 'applicationId' | 'ip' | 'suppressed'>;
};

const eventOf = ({ type, kind, name }: ShareKey, suppressed: number): NewEvent => {
  const applicationId = kind === 'APPLICATION' ? name : null;
  const ip = kind === 'ADDRESS' ? name : null;
  // The compiler does not see that `type` and `data` belong together.
  return { type, data: { ...nothing[type], applicationId, ip, suppressed } } as NewEvent;
};

const rowsARun = 500;

/**
 * Whether the embedded database is asked: if this process left something out lately, and each minute for the one before
 * it. PostgreSQL is asked always, for other processes may have ended.
 */
function mayBeDue(services: Pick<Services, 'cipher'>): () => boolean {
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - askedAt < minuteMs && lastWrittenMs(services) > 2 * minuteMs) return false;
    askedAt = now;
    return true;
  };
}

/** The job that records how many refusals each share left out, a minute after the first of them; and forgets shares. */
export const jobs: Jobs = ({ clock, cipher, database }) => [
  {
    name: 'report-left-out-refusals',
    // With the minute, and the second in which a process writes, it is less than 70 seconds; also for a process that ended.
    everyMs: 5_000,
    ...(database.kind === 'embedded' && { isDue: mayBeDue({ cipher }) }),
    async run(tx) {
      const now = clock.now();
      const rows = await tx.$queryRaw<(ShareKey & { suppressed: number })[]>`
        WITH "due" AS (
          SELECT ctid, "type", "kind", "name", "suppressed" FROM "RefusalCount"
           WHERE "dueAt" <= ${now}::timestamptz ORDER BY "dueAt" LIMIT ${rowsARun} FOR UPDATE SKIP LOCKED
        ), "forgotten" AS (
          DELETE FROM "RefusalCount" c USING "due" d WHERE c.ctid = d.ctid AND d."suppressed" = 0
        ), "reported" AS (
          UPDATE "RefusalCount" c
             SET "suppressed" = 0, "dueAt" = ${new Date(now.getTime() + minuteMs)}::timestamptz
            FROM "due" d WHERE c.ctid = d.ctid AND d."suppressed" > 0
        )
        SELECT "type", "kind", "name", "suppressed" FROM "due"`;
      const events = rows
        .filter(({ suppressed }) => suppressed > 0)
        .map(({ suppressed, ...share }) => eventOf(share, suppressed));
      await recordEvents(tx, { ...bySignet, clock }, events);
      return rows.length === rowsARun;
    },
  },
];
