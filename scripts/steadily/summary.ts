// Prints where the time of the tests went, the ten slowest files and, last, what all came to:
// `node scripts/steadily/summary.ts RESULTS`.
import { readFileSync } from 'node:fs';
import type { Result } from './journal.ts';

const [path] = process.argv.slice(2);
if (!path) throw new Error('Usage: node scripts/steadily/summary.ts RESULTS');
const results = readFileSync(path, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line): Result => JSON.parse(line));
const total = (of: 'passed' | 'failed' | 'skipped') =>
  results.reduce((sum, result) => sum + result[of], 0);

/** The seconds and tests of each folder under `test`, by ring. */
const folders = new Map<string, { seconds: number; tests: number }>();
for (const { project, file, seconds, passed } of results) {
  const folder = `${project}: ${file.split('/').slice(0, 2).join('/')}`;
  const sum = folders.get(folder) ?? { seconds: 0, tests: 0 };
  folders.set(folder, { seconds: sum.seconds + seconds, tests: sum.tests + passed });
}
const slowest = [...folders].sort(([, a], [, b]) => b.seconds - a.seconds).slice(0, 25);
for (const [folder, { seconds, tests }] of slowest) {
  console.log(`${seconds.toFixed(0).padStart(5)} s  ${folder}, ${tests} tests`);
}
console.log();
for (const { file, seconds } of results.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)) {
  console.log(`${seconds.toFixed(0).padStart(5)} s  ${file}`);
}
console.log(`${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped`);
