import {
  unsubscribe as offDiagnostics,
  subscribe as onDiagnostics,
} from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import pg from 'pg';
import { beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { openPostgresql } from '../../src/db/database.ts';
import { encodePosition, logStart } from '../../src/events/position.ts';
import { newId } from '../../src/ids.ts';
import { raise, roleEvent, settled, userEvent } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { connect, eventsDocument, logEnd, subscribe } from '../support/peers/subscriber.ts';
import { startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const service = await startService();
const { services } = service.app;
const { database } = services;
let endpoint: { url: string; token: string };

beforeAll(async () => {
  endpoint = { url: service.url, token: await service.managementToken() };
});

const createUser = `
  mutation ($name: String) {
    createUser(input: { name: $name }) { ... on CreateUserPayload { user { id } } }
  }`;

async function create(name: string, at = endpoint): Promise<void> {
  const { data } = await send<Record<string, { user?: object }>, object>(at, createUser, { name });
  expect(data?.['createUser']?.user).toBeDefined();
}

const namesOf = (events: readonly { data: Record<string, unknown> }[]) =>
  events.map(({ data }) => data['name']);

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}

/** Waits for the subscriptions of earlier tests to be gone. */
const quiet = () => eventually(async () => expect(await metric('signet_subscribers')).toBe(0));

/** The names in the whole log, oldest first. */
async function logged(after: string): Promise<unknown[]> {
  await settled(database);
  const names: unknown[] = [];
  for (let cursor: string | null = after; cursor; ) {
    const { data }: Awaited<ReturnType<typeof page>> = await page(cursor);
    names.push(...namesOf(data?.events.edges.map(({ node }) => node) ?? []));
    cursor = data?.events.pageInfo.hasNextPage ? data.events.pageInfo.endCursor : null;
  }
  return names;
}

const page = (after: string) =>
  send<
    {
      events: {
        edges: { node: { data: Record<string, unknown> } }[];
        pageInfo: { hasNextPage: boolean; endCursor: string };
      };
    },
    object
  >(
    endpoint,
    'query ($after: String) { events(first: 100, after: $after) { edges { node { data } } pageInfo { hasNextPage endCursor } } }',
    { after },
  );

test('delivers events live, in the order in which they happened', async () => {
  const after = await logEnd(endpoint, database);
  const subscriber = subscribe(connect(endpoint), { after });
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await create(name);
  expect(namesOf(await subscriber.received(5))).toEqual(names);
  expect(new Set(subscriber.events.map(({ name }) => name))).toEqual(new Set(['User.Created']));
});

test('delivers nothing older than the subscription without a cursor', async () => {
  await create('before');
  const subscriber = subscribe(connect(endpoint));
  // A client is not told when it has begun: what it sees first is one of these.
  await eventually(async () => {
    await create('since');
    expect(subscriber.events).not.toEqual([]);
  }, 50);
  expect(new Set(namesOf(subscriber.events))).toEqual(new Set(['since']));
});

test('delivers only the requested types', async () => {
  const after = await logEnd(endpoint, database);
  const connection = connect(endpoint);
  const roles = subscribe(connection, { after, types: ['ROLE_CREATED'] });
  const all = subscribe(connection, { after });
  await create('of another type');
  await raise(services, [roleEvent('a role')]);
  expect(namesOf(await all.received(2))).toEqual(['of another type', 'a role']);
  expect(namesOf(await roles.received(1))).toEqual(['a role']);
});

test('catches up and goes live, each event once, during writes', async () => {
  const after = await logEnd(endpoint, database);
  const writers = 4;
  const each = 60;
  const writing = Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let i = 0; i < each; i += 1) await raise(services, [userEvent(`${writer}:${i}`)]);
    }),
  );
  const steady = subscribe(connect(endpoint), { after });
  // One that begins in the middle, and one that comes and goes.
  await steady.received(40);
  const late = subscribe(connect(endpoint), { after });
  const pieces: unknown[] = [];
  for (let cursor: string | undefined = after; pieces.length < writers * each; ) {
    const connection = connect(endpoint);
    const piece = subscribe(connection, { after: cursor });
    await piece.received(Math.min(25, writers * each - pieces.length));
    await connection.close();
    pieces.push(...namesOf(piece.events));
    cursor = piece.cursor;
  }
  await writing;
  const expected = await eventually(async () => {
    const names = await logged(after);
    expect(names).toHaveLength(writers * each);
    return names;
  });
  expect(namesOf(await steady.received(expected.length))).toEqual(expected);
  expect(namesOf(await late.received(expected.length))).toEqual(expected);
  expect(pieces).toEqual(expected);
});

test('neither skips nor reorders what a transaction holds back', async () => {
  const after = await logEnd(endpoint, database);
  const subscriber = subscribe(connect(endpoint), { after });
  const isWritten = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const held = raise(services, [userEvent('held')], {
    written: isWritten.resolve,
    until: release.promise,
  });
  await isWritten.promise;
  const overtaking = raise(services, [userEvent('overtaking')]);
  // The embedded database has one connection: there the second waits for the first.
  if (database.kind === 'postgresql') {
    await overtaking;
    expect((await page(after)).data?.events.edges).toEqual([]);
    expect(subscriber.events).toEqual([]);
  }
  release.resolve();
  await Promise.all([held, overtaking]);
  expect(namesOf(await subscriber.received(2))).toEqual(['held', 'overtaking']);
});

test('executes once for all subscribers of one document', async () => {
  const first = await logEnd(endpoint, database);
  await create('between');
  const second = await logEnd(endpoint, database);
  await quiet();
  const one = subscribe(connect(endpoint), { after: first });
  const other = subscribe(connect(endpoint), { after: second });
  await one.received(1);
  await create('shared');
  expect(namesOf(await one.received(2))).toEqual(['between', 'shared']);
  expect(namesOf(await other.received(1))).toEqual(['shared']);
  expect(await metric('signet_subscriber_groups')).toBe(1);
});

test('distinguishes a null variable from one with its default', async () => {
  const after = await logEnd(endpoint, database);
  const document = `subscription ($types: [EventType!] = [USER_CREATED], $after: String) {
    events(types: $types, after: $after) { id cursor name data }
  }`;
  const role = (name: string) => raise(services, [roleEvent(name)]);
  const byDefault = subscribe(connect(endpoint), { after }, document);
  const all = subscribe(connect(endpoint), { after, types: null }, document);
  await create('first');
  await Promise.all([byDefault.received(1), all.received(1)]);
  await role('second');
  await create('third');
  expect(namesOf(await all.received(3))).toEqual(['first', 'second', 'third']);
  expect(namesOf(await byDefault.received(2))).toEqual(['first', 'third']);
});

test('answers a cursor from a later log with CURSOR_EXPIRED', async () => {
  const [, ahead] = [
    await create('the last'),
    encodePosition({ xid: '999999999', position: 1n, eventId: newId('Event') }),
  ];
  const subscriber = subscribe(connect(endpoint), { after: ahead });
  await subscriber.until(({ isComplete }) => isComplete);
  expect(subscriber.errors.map(({ extensions }) => extensions)).toEqual([
    { code: 'CURSOR_EXPIRED' },
  ]);
  expect((await page(ahead)).errors?.[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });
});

test('closes with 4400 on a message only servers send', async () => {
  const socket = new WebSocket(
    `${service.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.once('open', () => socket.send('{"type":"connection_ack"}'));
  expect(await closed).toBe(4400);
});

test('answers a malformed cursor with BAD_USER_INPUT and keeps the connection', async () => {
  const connection = connect(endpoint);
  for (const after of ['', '%', 'bm9uZQ', `${encodePosition(logStart)}=`]) {
    const subscriber = subscribe(connection, { after });
    await subscriber.until(({ isComplete }) => isComplete);
    expect(subscriber.errors.map(({ extensions }) => extensions)).toEqual([
      { code: 'BAD_USER_INPUT' },
    ]);
  }
  const after = await logEnd(endpoint, database);
  const subscriber = subscribe(connection, { after });
  await create('still there');
  expect(namesOf(await subscriber.received(1))).toEqual(['still there']);
});

test.each([
  ['does not parse', 'subscription {', 'GRAPHQL_PARSE_FAILED'],
  ['does not fit the schema', 'subscription { nothing }', 'GRAPHQL_VALIDATION_FAILED'],
  [
    'has two root fields',
    'subscription { a: events { id } b: events { id } }',
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'has too many aliases',
    `subscription { events { ${Array.from({ length: 31 }, (_, i) => `a${i}: id`).join(' ')} } }`,
    'QUERY_TOO_COMPLEX',
  ],
  [
    'is too deep',
    `subscription { events { ... on RoleCreatedEvent { role { ${'scopes { edges { node { resource { '.repeat(4)}id${' } } } }'.repeat(4)} } } } }`,
    'QUERY_TOO_COMPLEX',
  ],
])('refuses a document that %s; other subscriptions continue', async (_what, query, code) => {
  const after = await logEnd(endpoint, database);
  const connection = connect(endpoint);
  const healthy = subscribe(connection, { after });
  const faulty = subscribe(connection, {}, query);
  await faulty.until(({ errors }) => errors.length > 0);
  expect(faulty.errors[0]?.extensions).toEqual({ code });
  await create('after the fault');
  expect(namesOf(await healthy.received(1))).toEqual(['after the fault']);
});

test('runs queries and mutations over the same connection', async () => {
  const { client } = connect(endpoint);
  const run = async (query: string, variables = {}) => {
    const results = [];
    for await (const result of client.iterate({ query, variables })) results.push(result);
    return results;
  };
  expect(await run(createUser, { name: 'over a socket' })).toMatchObject([
    { data: { createUser: { user: { id: expect.stringMatching(/^user_/) } } } },
  ]);
  expect(await run('{ users(filter: { search: "over a socket" }) { totalCount } }')).toMatchObject([
    { data: { users: { totalCount: 1 } } },
  ]);
  const [refused] = await run('query ($id: ID!) { user(id: $id) { id } }');
  expect(refused?.errors?.[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT' });
});

test('limits the operations of a connection', async () => {
  const connection = connect(endpoint);
  const open = Array.from({ length: 100 }, () => subscribe(connection));
  const excess = subscribe(connection);
  await excess.until(({ errors }) => errors.length > 0);
  expect(excess.errors[0]?.extensions).toEqual({ code: 'RATE_LIMITED' });
  expect(open.flatMap(({ errors }) => errors)).toEqual([]);
});

/** The service's side of the connections that are made to it from now on. */
function serverSockets(): Set<Socket> {
  const sockets = new Set<Socket>();
  const onSocket = (message: unknown) => void sockets.add((message as { socket: Socket }).socket);
  onDiagnostics('net.server.socket', onSocket);
  onTestFinished(() => void offDiagnostics('net.server.socket', onSocket));
  return sockets;
}

test('drops a stalled reader, and delivers to the others', async () => {
  const sockets = serverSockets();
  const after = await logEnd(endpoint, database);
  const dropped = await metric('signet_dropped_subscribers_total');
  const healthy = subscribe(connect(endpoint), { after });
  const stalled = new WebSocket(
    `${service.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const closed = new Promise<number>((resolve) => stalled.once('close', resolve));
  let port: number | undefined;
  stalled.once('upgrade', ({ socket }) => {
    port = socket.localPort;
  });
  stalled.once('open', () => {
    const payload = { authorization: `Bearer ${endpoint.token}` };
    stalled.send(JSON.stringify({ type: 'connection_init', payload }));
  });
  await new Promise((resolve) => stalled.once('message', resolve));
  const payload = { query: eventsDocument, variables: { after } };
  stalled.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
  const last = new Promise((resolve) => stalled.once('message', resolve));
  await raise(services, [userEvent('the last that it reads')]);
  await last;
  stalled.pause();

  const large = 'x'.repeat(60_000);
  const count = 400;
  for (let sent = 0; sent < count; sent += 50) {
    await raise(
      services,
      Array.from({ length: 50 }, (_, i) => userEvent(`${sent + i}`, { large })),
    );
    await healthy.received(1 + sent + 50);
  }
  await eventually(async () =>
    expect(await metric('signet_dropped_subscribers_total')).toBe(dropped + 1),
  );
  // Nothing of it leaves while its reader stands still.
  const kept = [...sockets].find(({ remotePort }) => remotePort === port)?.writableLength;
  const message = large.length + 2_000;
  expect(kept).toBeGreaterThan(message);
  // A megabyte may wait, and the batch of 256 KB or one message more that was sent before the last look at it.
  expect(kept).toBeLessThan(1024 * 1024 + 256 * 1024 + message);
  stalled.resume();
  expect(await closed).toBe(1013);
  expect(namesOf(healthy.events).slice(1)).toEqual(Array.from({ length: count }, (_, i) => `${i}`));
});

test('upgrades nothing but /graphql, and speaks one protocol', async () => {
  const base = service.url.replace('http', 'ws');
  const refused = new WebSocket(`${base}/elsewhere`, 'graphql-transport-ws');
  const status = await new Promise((resolve) => {
    refused.once('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  expect(status).toBe(404);
  const old = new WebSocket(`${base}/graphql`, 'graphql-ws');
  const failure = await new Promise<Error>((resolve) => old.once('error', resolve));
  expect(failure.message).toMatch(/subprotocol/i);
});

test('forgets a subscription that was ended', async () => {
  await quiet();
  const connection = connect(endpoint);
  const subscriber = subscribe(connection, { after: await logEnd(endpoint, database) });
  await create('one');
  await subscriber.received(1);
  expect(await metric('signet_subscribers')).toBe(1);
  subscriber.unsubscribe();
  await quiet();
});

test('closes every connection with 1001 at a stop', async () => {
  const stopping = await startService();
  const at = { url: stopping.url, token: await stopping.managementToken() };
  const connection = connect(at);
  const subscriber = subscribe(connection, { after: encodePosition(logStart) });
  await create('the last', at);
  await subscriber.received(1);
  await stopping.app.stop();
  expect((await connection.closed).code).toBe(1001);
});

test('limits the number of connections', async () => {
  const small = await startService({ MAX_CONNECTIONS: '1' });
  const at = { url: small.url, token: await small.managementToken() };
  const first = subscribe(connect(at), { after: encodePosition(logStart) });
  await create('one', at);
  await first.received(1);
  const excess = new WebSocket(
    `${small.url.replace('http', 'ws')}/graphql`,
    'graphql-transport-ws',
  );
  const status = await new Promise((resolve) => {
    excess.once('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  expect(status).toBe(503);
  excess.on('error', () => undefined);
  excess.terminate();
});

describe.runIf(inject('postgresql'))('on PostgreSQL', () => {
  test('does not wait for transactions of other databases', async () => {
    const elsewhere = new pg.Client({ connectionString: inject('postgresql') ?? '' });
    await elsewhere.connect();
    try {
      await elsewhere.query('BEGIN');
      await elsewhere.query('SELECT pg_current_xact_id()');
      const after = await logEnd(endpoint, database);
      const subscriber = subscribe(connect(endpoint), { after });
      await create('meanwhile');
      expect(namesOf(await subscriber.received(1))).toEqual(['meanwhile']);
      expect(await logged(after)).toEqual(['meanwhile']);
    } finally {
      await elsewhere.end();
    }
  });

  test('waits for open transactions of its own database', async () => {
    const { url } = service.testDatabase;
    const here = new pg.Client({ connectionString: url ?? '' });
    await here.connect();
    try {
      const after = await logEnd(endpoint, database);
      const subscriber = subscribe(connect(endpoint), { after });
      await here.query('BEGIN');
      await here.query('SELECT pg_current_xact_id()');
      await create('later');
      expect((await page(after)).data?.events.edges).toEqual([]);
      expect(subscriber.events).toEqual([]);
      await here.query('COMMIT');
      expect(namesOf(await subscriber.received(1))).toEqual(['later']);
    } finally {
      await here.end();
    }
  });

  test('subscribers of two nodes see events of both', async () => {
    const { url } = service.testDatabase;
    if (!url) throw new Error('On PostgreSQL a test database has a URL.');
    const other = openPostgresql({
      url,
      poolSize: 5,
      tokenPoolSize: 5,
      onError: (error) => services.log.warn({ err: error }, 'a connection broke'),
    });
    const node = await startApp({
      config: readConfig({ PORT: '0', BASE_URL: services.baseUrl }),
      log: services.log,
      clock: service.clock,
      opened: { database: other, secret: 'a secret for tests only' },
    });
    try {
      const there = { url: node.url, token: endpoint.token };
      const after = await logEnd(endpoint, database);
      const connections = [connect(endpoint), connect(there)];
      const subscribers = connections.map((connection) => subscribe(connection, { after }));
      for (let i = 0; i < 10; i += 1) await create(`node ${i % 2}`, i % 2 === 0 ? endpoint : there);
      const expected = await logged(after);
      expect(expected).toHaveLength(10);
      for (const subscriber of subscribers) {
        expect(namesOf(await subscriber.received(10))).toEqual(expected);
      }
    } finally {
      await node.stop();
      await other.close();
    }
  });
});
