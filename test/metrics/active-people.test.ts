import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import {
  estimatePeople,
  noteActive,
  putBackActive,
  sketchShape,
  takeActive,
} from '../../src/metrics/active-people.ts';

/** The number of set bits of each layer. */
function countsIn(sketch: Uint8Array): number[] {
  const bytes = sketchShape.bits / 8;
  return Array.from({ length: sketchShape.layers }, (_, layer) =>
    sketch
      .subarray(layer * bytes, (layer + 1) * bytes)
      .reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0),
  );
}

function sketchOf(first: number, people: number): Uint8Array {
  const registry = new Registry();
  for (let person = first; person < first + people; person += 1)
    noteActive(registry, `user_${person}`);
  return takeActive(registry) ?? new Uint8Array();
}

describe('a sketch of people', () => {
  test.each([1, 2, 7])('knows %i of them exactly', (people) => {
    expect(estimatePeople(countsIn(sketchOf(0, people)))).toBe(people);
  });

  test.each([1_000, 12_000, 60_000])('knows about how many %i are', (people) => {
    const estimate = estimatePeople(countsIn(sketchOf(0, people)));
    expect(Math.abs(estimate - people) / people).toBeLessThan(0.08);
  });

  test('counts whoever comes twice once', () => {
    const registry = new Registry();
    for (let time = 0; time < 5; time += 1) noteActive(registry, 'user_1');
    expect(estimatePeople(countsIn(takeActive(registry) ?? new Uint8Array()))).toBe(1);
    expect(takeActive(registry)).toBeUndefined();
  });

  test('keeps what could not be stored, beside what came since', () => {
    const registry = new Registry();
    noteActive(registry, 'user_1');
    const taken = takeActive(registry) ?? new Uint8Array();
    noteActive(registry, 'user_2');
    putBackActive(registry, taken);
    expect(estimatePeople(countsIn(takeActive(registry) ?? new Uint8Array()))).toBe(2);
  });
});
