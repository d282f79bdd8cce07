import { expect, test } from 'vitest';
import { backOffMs } from '../../src/workers/back-off.ts';

test('a worker that dies once is started at once; one that keeps dying later and later, up to half a minute', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map(backOffMs)).toEqual([
    0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
  ]);
});
