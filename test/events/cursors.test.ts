import { expect, test } from 'vitest';
import { cursorsWithoutIdName } from '../../src/events/consumers.ts';
import { decodePosition, encodePosition } from '../../src/events/position.ts';
import { newId } from '../../src/ids.ts';
import { events } from '../support/events.ts';
import { raise, settled, userEvent } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { connect, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { services } = service.app;
const { database } = services;
const { prisma } = database;
const endpoint = { url: service.url, token: await service.managementToken() };

const create = async (name: string) => {
  await raise(services, [userEvent(name)]);
  await settled(database);
};
interface Seen {
  readonly data: Record<string, unknown>;
}
const namesOf = (seen: readonly Seen[]) => seen.map(({ data }) => data['name']);

/** What a cursor leads to, by each way that takes one. */
async function answers(cursor: string): Promise<unknown[]> {
  const live = subscribe(connect(endpoint), { after: cursor });
  await live.until(({ errors, events }) => errors.length + events.length > 0);
  const ask = async (argument: string) => {
    const range =
      argument === 'after' ? 'after: $cursor, first: 100' : 'before: $cursor, last: 100';
    const { data, errors } = await send<{ events: { edges: { node: Seen }[] } }, object>(
      endpoint,
      `query ($cursor: String) { events(${range}) { edges { node { data } } } }`,
      { cursor },
    );
    return (
      errors?.[0]?.extensions['code'] ?? namesOf(data?.events.edges.map(({ node }) => node) ?? [])
    );
  };
  const { status } = await callRest(endpoint, 'GET', `/events?after=${cursor}`);
  return [
    live.errors[0]?.extensions?.['code'] ?? namesOf(live.events),
    await ask('after'),
    status,
    await ask('before'),
  ];
}

const expired = ['CURSOR_EXPIRED', 'CURSOR_EXPIRED', 410, 'CURSOR_EXPIRED'];

/** The log after a return to a backup: another event stands where this one stood. */
async function replaceEvent(cursor: string): Promise<void> {
  const position = decodePosition(cursor)?.position ?? 0n;
  await prisma.event.update({ where: { position }, data: { id: newId('Event') } });
}

test('a cursor holds only in the history that gave it out', async () => {
  await create('before');
  const kept = await logEnd(endpoint);
  await create('lost');
  const lost = await logEnd(endpoint);
  await create('after');
  await replaceEvent(lost);
  expect(await answers(lost)).toEqual(expired);
  expect((await answers(kept)).slice(1, 3)).toEqual([['lost', 'after'], 200]);
});

test('a cursor that the log did not give out has expired', async () => {
  await create('there');
  const there = decodePosition(await logEnd(endpoint));
  if (!there) throw new Error('The log gives cursors.');
  for (const made of [
    { ...there, eventId: newId('Event') },
    { ...there, position: there.position - 1n },
    { ...there, xid: String(BigInt(there.xid) - 1n) },
    { xid: '0', position: 0n, eventId: there.eventId },
    { xid: '0', position: 1n, eventId: null },
  ])
    expect(await answers(encodePosition(made))).toEqual(expired);
});

test('a cursor of an older release holds up to the upgrade', async () => {
  await create('before the upgrade');
  const at = decodePosition(await logEnd(endpoint));
  if (!at) throw new Error('The log gives cursors.');
  await create('after the upgrade');
  const old = encodePosition({ ...at, eventId: null });
  expect(await answers(old)).toEqual(expired);
  await prisma.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position")
    VALUES (${cursorsWithoutIdName}, ${at.xid}::xid8, ${at.position})`;
  expect((await answers(old)).slice(0, 3)).toEqual([
    ['after the upgrade'],
    ['after the upgrade'],
    200,
  ]);
  const later = decodePosition(await logEnd(endpoint));
  if (!later) throw new Error('The log gives cursors.');
  expect(await answers(encodePosition({ ...later, eventId: null }))).toEqual(expired);
});

test('a node that keeps running lets nobody past a break', async () => {
  await create('seen');
  const live = connect(endpoint);
  const subscriber = subscribe(live, { after: await logEnd(endpoint) });
  await create('seen live');
  await subscriber.received(1);
  const cursor = subscriber.cursor ?? '';
  await replaceEvent(cursor);
  await create('of the other history');
  // As for a reader that is too slow: it comes back with its cursor. Or it is told, if it was still catching up.
  const closed = live.closed.then(({ code }) => code);
  const told = subscriber.until(({ errors }) => errors.length > 0).then(() => 'told');
  expect([1013, 'told']).toContain(await Promise.race([closed, told]));
  expect(namesOf(subscriber.events)).toEqual(['seen live']);
  expect(await answers(cursor)).toEqual(expired);
  const again = subscribe(connect(endpoint), { after: await logEnd(endpoint) });
  await create('from then on');
  expect(namesOf(await again.received(1))).toEqual(['from then on']);
  expect(namesOf(await events(endpoint)).slice(-2)).toEqual([
    'of the other history',
    'from then on',
  ]);
});
