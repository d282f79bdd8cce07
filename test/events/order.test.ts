import { expect, test } from 'vitest';
import { readNext } from '../../src/events/log.ts';
import { newId } from '../../src/ids.ts';
import { callRest } from '../support/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { prisma } = service.app.services.database;

test('the log is in the order of its transactions when their ids gain a digit', async () => {
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
  const { events } = await readNext(prisma, { xid: '0', position: 0n }, 3);
  expect(events.map(({ id }) => id)).toEqual(inOrder);
});
