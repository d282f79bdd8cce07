import { expect, test } from 'vitest';
import { quietTransaction } from '../../src/db/transaction.ts';
import { purgeEvents } from '../../src/events/purge.ts';
import { newId } from '../../src/ids.ts';
import { raise, settled, userEvent } from '../support/log.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { services } = service.app;
const { database } = services;
const token = await service.managementToken();

const get = (query: string, authorization = `Bearer ${token}`, signal?: AbortSignal) =>
  fetch(`${service.url}/api/events?${query}`, {
    headers: { authorization, accept: 'application/x-ndjson' },
    ...(signal ? { signal } : {}),
  });

interface Line {
  readonly id: string;
  readonly cursor: string;
  readonly data: Record<string, unknown>;
  readonly [field: string]: unknown;
}
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
async function exported(query = ''): Promise<Line[]> {
  const response = await get(query);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  return linesOf(await response.text());
}
const namesOf = (lines: readonly Line[]) => lines.map(({ data }) => data['name']);

// Several pages, so that the export goes on from its own cursors.
const names = Array.from({ length: 2_500 }, (_, index) => `user ${index}`);
await raise(
  services,
  names.slice(0, 1_500).map((name) => userEvent(name)),
);
await raise(
  services,
  names.slice(1_500).map((name) => userEvent(name)),
);
await settled(database);

test('exports the whole log as lines, each event once and in order', async () => {
  const lines = await exported('types=USER_CREATED');
  expect(namesOf(lines)).toEqual(names);
  const response = await fetch(`${service.url}/api/events?types=USER_CREATED&first=1`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const { events } = (await response.json()) as { events: Line[] };
  // As in a list, and more.
  expect(lines[0]).toMatchObject(events[0] as Line);
});

test('goes on from the cursor of the last whole line', async () => {
  const stopping = new AbortController();
  const response = await get('types=USER_CREATED', undefined, stopping.signal);
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (text.includes('\n')) break;
  }
  stopping.abort();
  const before = linesOf(text.slice(0, text.lastIndexOf('\n')));
  const after = await exported(`types=USER_CREATED&after=${before.at(-1)?.cursor}`);
  expect(namesOf([...before, ...after])).toEqual(names);
  expect(await exported(`types=USER_CREATED&after=${after.at(-1)?.cursor}`)).toEqual([]);
});

test('filters as the list does', async () => {
  const [first, second] = await exported('types=USER_CREATED');
  expect(namesOf(await exported(`subjectId=${second?.data['id']}`))).toEqual(['user 1']);
  expect(await exported(`actorId=${newId('User')}`)).toEqual([]);
  expect(namesOf(await exported(`types=USER_CREATED&before=${second?.cursor}`))).toEqual([
    'user 0',
  ]);
  expect(await exported('types=USER_CREATED&since=2100-01-01T00:00:00Z')).toEqual([]);
  expect(await exported('types=USER_CREATED&until=2000-01-01T00:00:00Z')).toEqual([]);
  expect(await exported(`types=ROLE_DELETED&after=${first?.cursor}`)).toEqual([]);
});

test.each([
  ['types=NOTHING', 400, 'BAD_USER_INPUT'],
  ['since=yesterday', 400, 'BAD_USER_INPUT'],
  ['after=nothing', 400, 'BAD_USER_INPUT'],
  ['first=3', 400, 'BAD_USER_INPUT'],
  ['color=red', 400, 'BAD_USER_INPUT'],
])('answers %s with a problem', async (query, status, code) => {
  const response = await get(query);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  expect(await response.json()).toMatchObject({ status, code });
});

test('asks for the scope events:read', async () => {
  expect((await get('', '')).status).toBe(401);
  const other = `Bearer ${await service.managementToken('users:read')}`;
  expect(await (await get('', other)).json()).toMatchObject({ status: 403, code: 'FORBIDDEN' });
});

test('answers HEAD without reading the log', async () => {
  const response = await fetch(`${service.url}/api/events`, {
    method: 'HEAD',
    headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
});

test('answers a cursor behind what is kept with a problem', async () => {
  const [first, second] = await exported('types=USER_CREATED');
  const occurredAt = new Date(service.clock.now().getTime() - 91 * 24 * 60 * 60 * 1_000);
  await database.prisma.event.updateMany({ data: { occurredAt } });
  while (await quietTransaction(database, purgeEvents(services)));
  for (const cursor of [first?.cursor, second?.cursor])
    expect(await (await get(`after=${cursor}`)).json()).toMatchObject({
      status: 410,
      code: 'CURSOR_EXPIRED',
    });
});
