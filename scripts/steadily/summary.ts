// Prints the ten slowest files of tests and, last, what all came to: `node scripts/steadily/summary.ts RESULTS`.
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

for (const { file, seconds } of results.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)) {
  console.log(`${seconds.toFixed(0).padStart(5)} s  ${file}`);
}
console.log(`${total('passed')} passed, ${total('failed')} failed, ${total('skipped')} skipped`);
