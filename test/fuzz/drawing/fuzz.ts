import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { test } from 'vitest';
import { patienceMs } from '../../support/peers/patience.ts';

/** What draws values inside of a property; fast-check shrinks the draws. */
export type Gen = fc.GeneratorValue;

const { FUZZ_SECONDS, FUZZ_SEED, FUZZ_PATH } = process.env;
const seconds = Number(FUZZ_SECONDS ?? 0);

// Everyday runs repeat themselves; a long one finds its own way.
const seed = Number(FUZZ_SEED ?? (seconds > 0 ? randomInt(2 ** 31) : 1));

/**
 * A test that draws inputs and checks what comes of each.
 *
 * `FUZZ_SECONDS` runs it for that time instead of `runs` times; `FUZZ_SEED` and `FUZZ_PATH` repeat one that failed.
 */
export function fuzz(title: string, runs: number, check: (g: Gen) => Promise<void>): void {
  test(title, { timeout: 2 * seconds * 1000 + 3 * patienceMs }, async () => {
    process.stdout.write(`fuzz: ${title}: FUZZ_SEED=${seed}\n`);
    await fc.assert(fc.asyncProperty(fc.gen(), check), {
      seed,
      ...(FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH }),
      ...(seconds > 0
        ? {
            numRuns: 2 ** 31,
            interruptAfterTimeLimit: seconds * 1000,
            markInterruptAsFailure: false,
          }
        : { numRuns: runs }),
    });
  });
}

const below = (end: number) => fc.nat(end - 1);

/** One of these; it shrinks to the first. */
export const pick = <T>(g: Gen, items: readonly T[]): T => items[g(below, items.length)] as T;

/** Whether something rare happens; it shrinks to no. */
export const rarely = (g: Gen, oneIn: number): boolean => g(below, oneIn) === oneIn - 1;

/** A list of up to this many. */
export const several = <T>(g: Gen, most: number, make: () => T): T[] =>
  Array.from({ length: g(below, most + 1) }, make);

/** A number from 0 up to, and without, an end. */
export const numberBelow = (g: Gen, end: number): number => g(below, end);
