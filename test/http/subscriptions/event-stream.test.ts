import { EventSource } from 'eventsource';
import { expect, onTestFinished, test, vi } from 'vitest';
import { raise, settled, userEvent } from '../../support/log.ts';
import { logEnd } from '../../support/peers/subscriber.ts';
import { startTcpProxy } from '../../support/peers/tcp-proxy.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { services } = service.app;
const token = await service.managementToken();
const endpoint = { url: service.url, token };

const document = 'subscription ($after: String) { events(after: $after) { cursor data } }';

/** Opens a stream as an EventSource does, and reads so many frames that tell something. */
async function read(count: number, variables: object, lastEventId?: string) {
  const url = new URL(`${service.url}/graphql`);
  url.searchParams.set('query', document);
  url.searchParams.set('variables', JSON.stringify(variables));
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: aborting.signal,
  });
  let text = '';
  const frames = () => text.split('\n\n').filter((frame) => frame.includes('event:'));
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.endsWith('\n\n') && frames().length >= count) break;
  }
  aborting.abort();
  return frames().map((frame) => {
    const fields = Object.fromEntries(
      frame
        .split('\n')
        .map((line) => [line.split(':')[0], line.slice(line.indexOf(':') + 1).trim()]),
    );
    return { id: fields['id'], event: fields['event'], data: JSON.parse(fields['data'] || 'null') };
  });
}

const namesOf = (frames: Awaited<ReturnType<typeof read>>) =>
  frames.map(({ data }) => data.data.events.data.name);

test("an event's frame has its cursor as id", async () => {
  const after = await logEnd(endpoint, services.database);
  await raise(services, [userEvent('past')]);
  await settled(services.database);
  const reading = read(2, { after });
  await raise(services, [userEvent('live')]);
  const frames = await reading;
  expect(namesOf(frames)).toEqual(['past', 'live']);
  expect(frames.map(({ event }) => event)).toEqual(['next', 'next']);
  expect(frames.map(({ id }) => id)).toEqual(frames.map(({ data }) => data.data.events.cursor));
});

test('Last-Event-ID continues a broken stream and overrides "after"', async () => {
  const after = await logEnd(endpoint, services.database);
  await raise(
    services,
    ['one', 'two', 'three'].map((name) => userEvent(name)),
  );
  await settled(services.database);
  const [first] = await read(3, { after });
  expect(namesOf(await read(2, { after }, first?.id))).toEqual(['two', 'three']);
  expect(namesOf(await read(2, {}, first?.id))).toEqual(['two', 'three']);
  expect(namesOf(await read(3, { after }, ''))).toEqual(['one', 'two', 'three']);
});

test('the package eventsource, given the token by its fetch, misses nothing while it is cut off', async () => {
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(service.url).port) });
  onTestFinished(() => proxy.close());
  const after = await logEnd(endpoint, services.database);
  const query = new URLSearchParams({ query: document, variables: JSON.stringify({ after }) });
  const source = new EventSource(`http://127.0.0.1:${proxy.port}/graphql?${query}`, {
    fetch: (url, init) =>
      fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  });
  onTestFinished(() => source.close());
  const names: string[] = [];
  source.addEventListener('next', ({ data }) => {
    names.push(JSON.parse(data).data.events.data.name);
  });
  await raise(services, [userEvent('before')]);
  await expect.poll(() => names).toEqual(['before']);
  await proxy.cut();
  await raise(services, [userEvent('meanwhile')]);
  await settled(services.database);
  await proxy.mend();
  await raise(services, [userEvent('afterwards')]);
  await expect.poll(() => names).toEqual(['before', 'meanwhile', 'afterwards']);
});

test('a malformed Last-Event-ID is refused', async () => {
  const [frame] = await read(1, {}, 'nonsense');
  expect(frame?.data).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
});

test.each([
  ['a subscription', document],
  ['a query', '{ __typename }'],
  ['a refusal', 'subscription { nothing }'],
])('proxies hold no answer to %s back, and keep none', async (_of, query) => {
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const { headers } = await fetch(`${service.url}/graphql?${new URLSearchParams({ query })}`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
    signal: aborting.signal,
  });
  expect(headers.get('content-type')).toContain('text/event-stream');
  expect(headers.get('cache-control')).toMatch(/^no-(store|cache)$/);
  expect(headers.get('x-accel-buffering')).toBe('no');
});

test('an idle stream sends a comment every 15 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const aborting = new AbortController();
  onTestFinished(() => aborting.abort());
  const { body } = await fetch(
    `${service.url}/graphql?${new URLSearchParams({ query: document })}`,
    {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
      signal: aborting.signal,
    },
  );
  const reader = body?.getReader();
  for (let comment = 0; comment < 3; comment += 1) {
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe(':\n\n');
    vi.advanceTimersByTime(15_000);
  }
});
