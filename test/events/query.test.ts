import { beforeAll, expect, test } from 'vitest';
import { quietTransaction } from '../../src/db/transaction.ts';
import { type EventPosition, encodePosition } from '../../src/events/position.ts';
import { purgeEvents } from '../../src/events/purge.ts';
import type { NewEvent } from '../../src/events/record.ts';
import { raise, roleEvent, settled, userEvent } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { connect, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { services } = service.app;
const { database } = services;
let endpoint: { url: string; token: string };

interface Events {
  readonly edges: readonly {
    readonly cursor: string;
    readonly node: { readonly cursor: string; readonly data: Record<string, unknown> };
  }[];
  readonly pageInfo: Readonly<Record<string, unknown>>;
  readonly totalCount: number;
}

const query = `
  query (
    $types: [EventType!], $subjectId: ID, $actorId: ID, $since: DateTime, $until: DateTime,
    $first: Int, $after: String, $last: Int, $before: String
  ) {
    events(
      types: $types, subjectId: $subjectId, actorId: $actorId, since: $since, until: $until,
      first: $first, after: $after, last: $last, before: $before
    ) {
      totalCount
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { cursor data } }
    }
  }`;

const ask = (variables: object) => send<{ events: Events }, object>(endpoint, query, variables);

async function read(variables: object) {
  const { data, errors } = await ask(variables);
  if (!data) throw new Error(JSON.stringify(errors));
  return { ...data.events, names: data.events.edges.map(({ node }) => node.data['name']) };
}

const names = Array.from({ length: 7 }, (_, i) => `user ${i}`);
const events: NewEvent[] = names.map((name) => userEvent(name));
const aRole = roleEvent('a role');

beforeAll(async () => {
  endpoint = { url: service.url, token: await service.managementToken() };
  for (const event of events.slice(0, 4)) await raise(services, [event]);
  await raise(services, [...events.slice(4), aRole]);
  await settled(database);
});

test('lists the log oldest first, and counts it', async () => {
  expect(await read({})).toMatchObject({ names: [...names, 'a role'], totalCount: 8 });
});

test('pages forward and backward by cursor', async () => {
  const users = { types: ['USER_CREATED'] };
  const first = await read({ ...users, first: 3 });
  expect(first).toMatchObject({
    names: names.slice(0, 3),
    pageInfo: { hasNextPage: true, hasPreviousPage: false, endCursor: first.edges[2]?.cursor },
    totalCount: 7,
  });
  const second = await read({ ...users, first: 4, after: first.pageInfo['endCursor'] });
  expect(second).toMatchObject({
    names: names.slice(3),
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  const last = await read({ ...users, last: 2 });
  expect(last).toMatchObject({
    names: names.slice(5),
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  });
  const beforeLast = await read({ ...users, last: 100, before: last.pageInfo['startCursor'] });
  expect(beforeLast).toMatchObject({
    names: names.slice(0, 5),
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const between = {
    after: first.edges[0]?.cursor,
    before: last.edges[0]?.node.cursor,
  };
  expect((await read({ ...users, ...between })).names).toEqual(names.slice(1, 5));
});

test('filters by type, subject, actor and time', async () => {
  expect((await read({ types: ['ROLE_CREATED'] })).names).toEqual(['a role']);
  expect((await read({ types: [] })).names).toEqual([]);
  const third = events[2]?.data as { id: string };
  expect((await read({ subjectId: third.id })).names).toEqual(['user 2']);
  expect((await read({ actorId: third.id })).names).toEqual([]);

  service.clock.advance(60_000);
  const since = service.clock.now();
  const { data } = await send<{ createUser: { user: { id: string } } }, object>(
    endpoint,
    'mutation { createUser(input: { name: "by the admin" }) { ... on CreateUserPayload { user { id } } } }',
    {},
  );
  expect(data?.createUser.user.id).toBeDefined();
  await settled(database);
  expect((await read({ since })).names).toEqual(['by the admin']);
  expect((await read({ until: since })).names).toEqual([...names, 'a role']);
  expect((await read({ actorId: service.admin.id })).names).toEqual(['by the admin']);
  expect((await read({ actorId: service.admin.id, types: ['ROLE_CREATED'] })).names).toEqual([]);
});

test.each([
  ['a malformed cursor', { after: 'x' }],
  ['a malformed cursor to end before', { before: 'x' }],
  ['both ends at once', { first: 1, last: 1 }],
  ['a negative size', { first: -1 }],
  ['a page over 100', { last: 101 }],
  ['a type that is none', { types: ['NONE'] }],
])('refuses %s', async (_what, variables) => {
  const { data, errors } = await ask(variables);
  expect(data ?? null).toBeNull();
  expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['BAD_USER_INPUT']);
});

test('refuses the log without events:read', async () => {
  const token = await service.managementToken('users:write');
  const { errors } = await send<unknown, object>(
    { ...endpoint, token },
    '{ events { totalCount } }',
    {},
  );
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'FORBIDDEN',
    requiredScope: 'events:read',
  });
});

const purge = () => quietTransaction(database, purgeEvents(services));
const daysMs = (days: number) => days * 24 * 60 * 60 * 1000;

test('purges old events, except those that a consumer needs', async () => {
  const { edges } = await read({});
  const cursors = edges.map(({ cursor }) => cursor);
  expect(await purge()).toBe(false);

  const occurredAt = new Date(service.clock.now().getTime() - daysMs(91));
  await database.prisma.event.updateMany({ data: { occurredAt } });
  await raise(services, [userEvent('of today')]);
  await settled(database);
  const [third] = (
    await database.prisma.$queryRaw<EventPosition[]>`
      SELECT "xid"::text AS "xid", "position", "id" AS "eventId"
        FROM "Event" ORDER BY "position" OFFSET 2 LIMIT 1`
  ).map((place) => ({ ...place, position: BigInt(place.position) }));
  if (!third) throw new Error('There are three events.');
  await database.prisma.$executeRaw`DELETE FROM "EventConsumer"`;
  await database.prisma.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position")
    VALUES ('a consumer', ${third.xid}::xid8, ${third.position})`;
  while (await purge());
  expect((await read({})).names).toEqual([...names.slice(3), 'a role', 'by the admin', 'of today']);

  await database.prisma.$executeRaw`DELETE FROM "EventConsumer" WHERE "name" = 'a consumer'`;
  while (await purge());
  expect((await read({})).names).toEqual(['of today']);
  expect(await database.prisma.eventConsumer.count({ where: { name: 'purged' } })).toBe(1);

  // Whoever stands before what is gone is told, and is not let past it in silence.
  const expired = encodePosition(third);
  expect((await ask({ after: expired })).errors?.[0]?.extensions['code']).toBe('CURSOR_EXPIRED');
  expect(await callRest(endpoint, 'GET', `/events?after=${expired}`)).toMatchObject({
    status: 410,
    body: { status: 410, code: 'CURSOR_EXPIRED' },
  });
  const subscriber = subscribe(connect(endpoint), { after: expired });
  await subscriber.until(({ errors }) => errors.length > 0);
  expect(subscriber.errors[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });
  expect(subscriber.events).toEqual([]);

  const lastPurged = cursors.at(-1);
  const going = subscribe(connect(endpoint), { after: lastPurged });
  expect((await going.received(1)).map(({ data }) => data['name'])).toEqual(['of today']);
});
