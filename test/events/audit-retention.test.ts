import { beforeEach, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { quietTransaction } from '../../src/db/transaction.ts';
import { auditTypes } from '../../src/events/catalogue/audit.ts';
import { enumValueOf } from '../../src/events/catalogue/catalogue.ts';
import { readEvents } from '../../src/events/log.ts';
import { encodePosition } from '../../src/events/position.ts';
import { purgeEvents } from '../../src/events/purge.ts';
import { bySignet, recordEvents } from '../../src/events/record.ts';
import { raise, roleEvent, settled, userEvent } from '../support/log.ts';
import { send } from '../support/operations/graphql.ts';
import { connect, subscribe } from '../support/peers/subscriber.ts';
import { startSecondNode, startService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const service = await startService({ AUDIT_RETENTION_DAYS: '365' });
const other = await startSecondNode(service);
const { services } = service.app;
const { database } = services;
const endpoint = { url: other.url, token: await service.managementToken() };
const dayMs = 24 * 60 * 60 * 1_000;

/** Empties the log, and writes events that are so many days old. Returns their cursors. */
async function write(...given: readonly (readonly [string, number])[]): Promise<string[]> {
  await settled(database);
  await database.prisma.event.deleteMany();
  await database.prisma.eventConsumer.deleteMany();
  // In one transaction, so that they settle together.
  await quietTransaction(database, async (tx) => {
    for (const [name, days] of given) {
      const at = new Date(services.clock.now().getTime() - days * dayMs);
      const event = name.startsWith('audit') ? roleEvent(name) : userEvent(name);
      await recordEvents(tx, { ...bySignet, clock: { now: () => at } }, [event]);
    }
  });
  await settled(database);
  const events = await readEvents(database.prisma, { take: 100 });
  return events.map(({ position }) => encodePosition(position));
}

const document = `
  query ($types: [EventType!], $after: String) {
    events(types: $types, after: $after) { edges { node { data } } } }`;

/** The names of the events that the other node reads, or the code of its refusal. */
async function read(variables: object = {}): Promise<unknown> {
  const { data, errors } = await send<
    { events: { edges: { node: { data: { name: string } } }[] } },
    object
  >(endpoint, document, variables);
  return data?.events.edges.map(({ node }) => node.data.name) ?? errors?.[0]?.extensions['code'];
}

/** Purges as a node does each minute, until these events are left. An open transaction may put some off. */
async function purge(...left: readonly string[]): Promise<void> {
  const run = purgeEvents(services);
  await eventually(async () => {
    while (await quietTransaction(database, run));
    expect(await read()).toEqual(left);
  });
}

async function exported(query: string): Promise<unknown> {
  const response = await fetch(`${other.url}/api/events?${query}`, {
    headers: { authorization: `Bearer ${endpoint.token}`, accept: 'application/x-ndjson' },
  });
  const text = await response.text();
  if (response.status !== 200) return (JSON.parse(text) as { code: string }).code;
  const lines = text.split('\n').filter(Boolean);
  return lines.map((line) => (JSON.parse(line) as { data: { name: string } }).data.name);
}

const types = auditTypes.map(enumValueOf);

describe('events of the audit are kept longer', () => {
  let cursors: readonly string[];
  beforeEach(async () => {
    cursors = await write(['audit 1', 91], ['a', 91], ['audit 2', 91], ['b', 91], ['c', 1]);
    await purge('audit 1', 'audit 2', 'c');
  });

  test('and the others are deleted', async () => {
    expect(await read({ types })).toEqual(['audit 1', 'audit 2']);
  });

  test('a cursor before what was deleted has expired, but not for a reader of the audit', async () => {
    const [first, , second, last] = cursors;
    for (const after of [first, second]) {
      expect(await read({ after })).toBe('CURSOR_EXPIRED');
      expect(await read({ after, types: [...types, 'USER_CREATED'] })).toBe('CURSOR_EXPIRED');
      expect(await exported(`after=${after}`)).toBe('CURSOR_EXPIRED');
    }
    expect(await read({ after: first, types })).toEqual(['audit 2']);
    expect(await exported(`after=${first}&types=ROLE_CREATED`)).toEqual(['audit 2']);
    expect(await read({ after: last })).toEqual(['c']);
  });

  test('a cursor whose event was deleted has expired for everybody', async () => {
    const [, deleted] = cursors;
    expect(await read({ after: deleted })).toBe('CURSOR_EXPIRED');
    expect(await read({ after: deleted, types })).toBe('CURSOR_EXPIRED');
  });

  test('a subscriber of the audit goes on from there, then live', async () => {
    const [after] = cursors;
    const ofRoles = `subscription ($after: String) {
      events(types: [ROLE_CREATED], after: $after) { id cursor name data } }`;
    const subscriber = subscribe(connect(endpoint), { after } as never, ofRoles);
    await subscriber.received(1);
    await raise(services, [userEvent('d'), roleEvent('audit 3')]);
    const names = (await subscriber.received(2)).map(({ data }) => data['name']);
    expect(names).toEqual(['audit 2', 'audit 3']);
    const all = subscribe(connect(endpoint), { after } as never);
    await all.until(({ errors }) => errors.length > 0);
    expect(all.errors[0]?.extensions).toEqual({ code: 'CURSOR_EXPIRED' });
  });
});

test('events of the audit are deleted after their own time', async () => {
  const [first, second] = await write(
    ['audit 1', 366],
    ['audit 2', 365.5],
    ['audit 3', 300],
    ['a', 1],
  );
  await purge('audit 3', 'a');
  expect(await read({ after: first, types })).toBe('CURSOR_EXPIRED');
  expect(await read({ after: first })).toBe('CURSOR_EXPIRED');
  // The last one that was deleted: nothing after it is missing.
  expect(await read({ after: second, types })).toEqual(['audit 3']);
  expect(await read({ after: second })).toEqual(['audit 3', 'a']);
});

test('at most a day of events is deleted at once, whatever the audit keeps', async () => {
  await write(['audit 1', 200], ['a', 95], ['audit 2', 94.5], ['b', 94.2], ['c', 93]);
  await purge('audit 1', 'audit 2', 'c');
});

test('an event from a clock that was ahead keeps no other', async () => {
  await write(['from the future', -30], ['a', 91], ['b', 1]);
  await purge('from the future', 'b');
});

test('nothing is deleted that a consumer has not read', async () => {
  await write(['a', 91], ['audit 1', 400], ['b', 91]);
  await database.prisma.$executeRaw`
    INSERT INTO "EventConsumer" ("name", "xid", "position")
    SELECT 'a consumer', "xid", "position" FROM "Event" ORDER BY "xid", "position" LIMIT 1`;
  await purge('audit 1', 'b');
});

test('the audit is kept as long as all events unless told otherwise, and never shorter', () => {
  expect(readConfig({ EVENT_RETENTION_DAYS: '30' })).toMatchObject({ auditRetentionDays: 30 });
  expect(readConfig({ AUDIT_RETENTION_DAYS: '400' })).toMatchObject({
    eventRetentionDays: 90,
    auditRetentionDays: 400,
  });
  expect(() => readConfig({ AUDIT_RETENTION_DAYS: '89' })).toThrow(/AUDIT_RETENTION_DAYS/);
});
