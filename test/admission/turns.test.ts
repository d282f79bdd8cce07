import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Turn, type TurnKind, Turns } from '../../src/admission/turns.ts';

// Nothing here waits for the machine: the clock stands still, and the test looks at the queue itself.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const maxWaitMs = 500;
const places = 8;

function start() {
  const state = { now: 0, hasSlack: false };
  const metrics = new Registry();
  const turns = new Turns({
    maxWaitMs,
    metrics,
    pressure: { now: () => state.now, hasSlack: () => state.hasSlack },
  });
  const told: string[] = [];
  const running = new Map<string, Turn>();
  const take = (kind: TurnKind, name: string) =>
    turns.take(
      kind,
      (turn) => {
        told.push(name);
        running.set(name, turn);
      },
      () => told.push(`${name} refused`),
    );
  const leave = (name: string) => {
    running.get(name)?.leave();
    running.delete(name);
  };
  /** Moves the clock, looks, and sends what is to be refused. */
  const pass = (milliseconds: number) => {
    state.now += milliseconds;
    turns.look();
    vi.advanceTimersByTime(0);
  };
  const fill = (kind: TurnKind, count: number) => {
    for (let i = 0; i < count; i += 1) take(kind, `${kind} ${i}`);
  };
  const refused = async () => {
    const { values } = (await metrics.getSingleMetric('signet_requests_refused_total')?.get()) ?? {
      values: [],
    };
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  return { state, turns, told, running, take, leave, pass, fill, refused };
}

test('a few have a turn at a time, the others in the order of arrival', () => {
  const { told, fill, leave } = start();
  fill('request', 3 * places);
  expect(told).toHaveLength(places);
  for (let i = 0; i < 3 * places; i += 1) leave(`request ${i}`);
  expect(told).toEqual(Array.from({ length: 3 * places }, (_, i) => `request ${i}`));
});

test('tokens come first, then requests, exports, connections and the background', () => {
  const { told, fill, take, leave } = start();
  fill('request', places);
  fill('token', 64);
  told.length = 0;
  for (const kind of ['request', 'background', 'export', 'connection', 'token'] as const)
    take(kind, kind);
  expect(told).toEqual([]);
  leave('request 0');
  // A token waits, so no request begins, though there is room for one.
  expect(told).toEqual([]);
  leave('token 0');
  expect(told).toEqual(['token', 'request', 'export', 'connection', 'background']);
});

test.each(['connection', 'background'] as const)(
  'a %s gets a turn now and then, however much else waits',
  (kind) => {
    const { told, fill, take, leave } = start();
    fill('request', 40);
    take(kind, kind);
    for (let i = 0; i < 20; i += 1) leave(`request ${i}`);
    const place = told.indexOf(kind);
    expect(place).toBeGreaterThan(places);
    expect(place).toBeLessThan(places + 12);
  },
);

test.each([
  { others: 'requests and connections', requests: 400 },
  { others: 'connections alone', requests: 0 },
])('the background gets a turn now and then beside $others that never end', ({ requests }) => {
  const { told, running, fill, leave } = start();
  fill('request', requests);
  fill('connection', 400);
  fill('background', 3);
  for (let i = 0; i < 60; i += 1) {
    const [oldest] = running.keys();
    if (oldest) leave(oldest);
  }
  expect(told.filter((name) => name.startsWith('background'))).toHaveLength(3);
  expect(told.filter((name) => name.startsWith('connection')).length).toBeGreaterThan(3);
});

test('who waits longer than allowed is refused, and whoever came later is not', async () => {
  const { state, told, fill, take, leave, pass, refused } = start();
  fill('request', places);
  take('request', 'early');
  state.now += maxWaitMs - 1;
  for (let i = 0; i < places; i += 1) leave(`request ${i}`);
  expect(told.at(-1)).toBe('early');
  fill('request', places);
  take('request', 'late');
  pass(maxWaitMs - 1);
  expect(told).not.toContain('late refused');
  pass(1);
  expect(told).toContain('late refused');
  expect(await refused()).toBeGreaterThan(0);
});

test.each(['connection', 'background'] as const)('a %s is never refused', (kind) => {
  const { told, take, pass, leave } = start();
  take(kind, 'first');
  take(kind, 'second');
  pass(100 * maxWaitMs);
  leave('first');
  expect(told).toEqual(['first', 'second']);
});

test('once overloaded, a wait is a tenth as long, until nobody waits', () => {
  const { told, fill, take, leave, pass } = start();
  fill('request', places);
  take('request', 'a');
  pass(maxWaitMs - 10);
  take('request', 'b');
  pass(10);
  expect(told).toContain('a refused');
  expect(told).not.toContain('b refused');
  take('request', 'c');
  pass(maxWaitMs / 10 - 10);
  expect(told).toContain('b refused');
  expect(told).not.toContain('c refused');
  // The last that waits gets its turn: the overload is over.
  leave('request 0');
  expect(told.at(-1)).toBe('c');
  take('request', 'd');
  pass(maxWaitMs - 10);
  expect(told).not.toContain('d refused');
});

test('who would wait for too long in an overload is refused on arrival', () => {
  const { turns, told, fill, take, pass } = start();
  expect(turns.refuses('request')).toBe(false);
  fill('request', places);
  take('request', 'a');
  pass(maxWaitMs - 1);
  for (let i = 0; i < places; i += 1) take('request', `b${i}`);
  expect(turns.refuses('request')).toBe(false);
  pass(1);
  // No turn began lately, so what waits will not begin in time.
  expect(told.at(-1)).toBe('a refused');
  take('request', 'c');
  expect(told.at(-1)).toBe('c refused');
  expect(turns.refuses('request')).toBe(true);
  // Each kind has its own queue.
  expect(turns.refuses('token')).toBe(false);
});

test('who gives up waiting is forgotten', () => {
  const { told, fill, take, leave, pass } = start();
  fill('request', places);
  take('request', 'gone')?.();
  pass(2 * maxWaitMs);
  leave('request 0');
  expect(told).toHaveLength(places);
});

test('work that does not use the thread gives its place away, and its end frees no second place', () => {
  const { state, told, fill, leave, pass } = start();
  fill('request', 3 * places);
  state.hasSlack = true;
  pass(10);
  expect(told).toHaveLength(2 * places);
  for (let i = 0; i < places; i += 1) leave(`request ${i}`);
  expect(told).toHaveLength(2 * places);
  pass(10);
  expect(told).toHaveLength(3 * places);
});

test('without slack it keeps its place, but not for ever', () => {
  const { told, fill, take, pass } = start();
  fill('request', places);
  pass(900);
  take('request', 'next');
  pass(90);
  expect(told.at(-1)).not.toBe('next');
  pass(10);
  expect(told.at(-1)).toBe('next');
});

test('many refusals are not sent in one go', () => {
  const { told, fill, take, pass } = start();
  fill('request', places);
  for (let i = 0; i < 250; i += 1) take('request', `many ${i}`);
  pass(maxWaitMs);
  const count = () => told.filter((name) => name.endsWith('refused')).length;
  expect(count()).toBeLessThanOrEqual(250);
  for (let i = 0; i < 5; i += 1) vi.advanceTimersByTime(1);
  expect(count()).toBe(250);
});

test('work that fails gives its place back', async () => {
  const { turns } = start();
  const failing = Array.from({ length: 3 * places }, (_, i) =>
    turns.run('request', () => {
      throw new Error(`${i}`);
    }),
  );
  const results = await Promise.allSettled(failing);
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(await turns.run('request', () => 'runs')).toBe('runs');
});
