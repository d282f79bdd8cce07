import { expect, test, vi } from 'vitest';
import { inTurn } from '../../src/http/turns.ts';

const places = 8;

function startAll(count: number) {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const done = Array.from({ length: count }, (_, i) =>
    inTurn(async () => {
      begun.push(i);
      await new Promise<void>((resolve) => ends.push(resolve));
      return i;
    }),
  );
  return { begun, ends, done: Promise.all(done) };
}

test('runs a few at a time, the others in the order of arrival, and each gets its own result', async () => {
  vi.useFakeTimers();
  try {
    const { begun, ends, done } = startAll(3 * places);
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(places);
    for (let i = 0; i < 3 * places; i += 1) {
      ends[i]?.();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(await done).toEqual(begun);
    expect(begun).toEqual(begun.toSorted((a, b) => a - b));
  } finally {
    vi.useRealTimers();
  }
});

test('work that waits holds up no other for long, and its end frees no second place', async () => {
  vi.useFakeTimers();
  try {
    const { begun, ends, done } = startAll(3 * places);
    await vi.advanceTimersByTimeAsync(50);
    expect(begun).toHaveLength(2 * places);
    // These have given their places back already.
    for (const end of ends.slice(0, places)) end();
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toHaveLength(2 * places);
    await vi.advanceTimersByTimeAsync(50);
    expect(begun).toHaveLength(3 * places);
    for (const end of ends) end();
    await done;
  } finally {
    vi.useRealTimers();
  }
});

test('work that fails gives its place back', async () => {
  const failing = Array.from({ length: 3 * places }, (_, i) =>
    inTurn(() => {
      throw new Error(`${i}`);
    }),
  );
  const results = await Promise.allSettled(failing);
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(await inTurn(() => 'runs')).toBe('runs');
});
