import { expect, test } from 'vitest';
import { createQueue } from '../../src/admission/queue.ts';

const busy = () => new Error('full');

test('works in order up to its limit, and refuses more', async () => {
  const queue = createQueue({ concurrency: 2, maxWaiting: 2, busy });
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (n: number) => () => {
    begun.push(n);
    return new Promise<number>((resolve) => ends.push(() => resolve(n)));
  };
  const done = [1, 2, 3, 4].map((n) => queue.run(work(n)));
  await expect(queue.run(work(5))).rejects.toThrow('full');
  expect(() => queue.assertRoom()).toThrow('full');
  const admitted = queue.run(work(6), { isAdmitted: true });
  expect(begun).toEqual([1, 2]);
  ends[1]?.();
  expect(await done[1]).toBe(2);
  await expect.poll(() => begun).toEqual([1, 2, 3]);
  for (const _ of [4, 6]) {
    ends.at(-1)?.();
    await expect.poll(() => begun.length).toBeGreaterThan(ends.length - 1);
  }
  for (const end of ends) end();
  await expect.poll(() => begun).toEqual([1, 2, 3, 4, 6]);
  for (const end of ends) end();
  expect(await Promise.all([...done, admitted])).toEqual([1, 2, 3, 4, 6]);
  await expect(queue.run(async () => 7)).resolves.toBe(7);
});

test('continues after failed work', async () => {
  const queue = createQueue({ concurrency: 1, maxWaiting: 1, busy });
  await expect(queue.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(queue.run(async () => 1)).resolves.toBe(1);
});

test('what may wait goes behind all else, in a line of its own', async () => {
  const queue = createQueue({ concurrency: 1, maxWaiting: 2, busy });
  const end = Promise.withResolvers<void>();
  const done: string[] = [];
  const add = (name: string, isLater: boolean) =>
    queue.run(async () => void done.push(name), { isLater });
  const all = [
    queue.run(() => end.promise),
    add('import 1', true),
    add('import 2', true),
    add('sign-in 1', false),
  ];
  await expect(add('import 3', true)).rejects.toThrow('full');
  expect(() => queue.assertRoom({ isLater: true })).toThrow('full');
  expect(() => queue.assertRoom()).not.toThrow();
  all.push(add('sign-in 2', false));
  expect(queue.waiting).toBe(4);
  end.resolve();
  await Promise.all(all);
  expect(done).toEqual(['sign-in 1', 'sign-in 2', 'import 1', 'import 2']);
});
