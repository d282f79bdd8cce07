import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { countNext, readEnd, readNext } from '../../src/events/log.ts';
import { logStart } from '../../src/events/position.ts';
import { newId } from '../../src/ids.ts';
import { raise, userEvent } from '../support/log.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const service = await startService();
const { prisma } = service.app.services.database;

test('the log stays ordered when transaction ids gain a digit', async () => {
  const ids = [newId('Event'), newId('Event'), newId('Event')];
  for (const [i, xid] of ['99', '100', '9'].entries()) {
    await prisma.$executeRaw`
      INSERT INTO "Event" ("xid", "id", "type", "data", "occurredAt")
      VALUES (${xid}::xid8, ${ids[i]}, 'Role.Created', '{}', now())`;
  }
  const inOrder = [ids[2], ids[0], ids[1]];
  const token = await service.managementToken();
  const list = async (page: string) =>
    (await callRest({ url: service.url, token }, 'GET', `/events?${page}`)).body.events.map(
      ({ id }: { id: string }) => id,
    );
  expect(await list('first=3')).toEqual(inOrder);
  expect(await list('first=2')).toEqual(inOrder.slice(0, 2));
  expect(await list('last=2')).toEqual(inOrder.slice(1));
  const { events } = await readNext(prisma, logStart, 3);
  expect(events.map(({ id }) => id)).toEqual(inOrder);
});

test('counting reaches the same end as reading', async () => {
  const { database } = service.app.services;
  await raise(service.app.services, [userEvent('first'), userEvent('second')]);
  for (const take of [1, 2, 100]) {
    const { events, unsettledSince } = await readNext(prisma, logStart, take);
    const last = events.at(-1);
    expect(await countNext(database, logStart, take)).toEqual({
      count: events.length,
      last: { position: last?.position, occurredAt: last?.occurredAt },
      unsettledSince,
    });
  }
  expect(await countNext(database, await readEnd(prisma), 1)).toMatchObject({ count: 0 });
});

// The function that tells where the log is settled judges by the snapshot of its statement and by the locks held now.
// One snapshot for two statements is what a single one sees when the other transaction ends in between.
test.runIf(inject('postgresql'))('a settled event stays settled for its reader', async () => {
  const elsewhere = new pg.Client({ connectionString: inject('postgresql') ?? '' });
  await elsewhere.connect();
  const attempt = async (tx: Pick<typeof prisma, '$queryRaw'>) => {
    const end = await readEnd(tx);
    const written = await tx.$queryRaw`
      SELECT "xid"::text AS "xid" FROM "Event" ORDER BY "Event"."xid" DESC LIMIT 1`;
    expect(written).toEqual([{ xid: end.xid }]);
    await elsewhere.query('COMMIT');
    expect(await readEnd(tx)).toEqual(end);
  };
  try {
    // Again, where a transaction of another test file ended meanwhile too.
    await eventually(async () => {
      await elsewhere.query('ROLLBACK');
      await elsewhere.query('BEGIN');
      await elsewhere.query('SELECT pg_current_xact_id()');
      await raise(service.app.services, [userEvent('meanwhile')]);
      await prisma.$transaction(attempt, { isolationLevel: 'RepeatableRead' });
    });
  } finally {
    await elsewhere.end();
  }
});
