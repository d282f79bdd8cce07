// Runs the tests, and the files that fell once more, each alone in a fresh process with one worker, up to twice: what
// falls three times is broken, what passes on a later try is unsteady and named. The arguments are the test runner's.
// Ends with 0 unless something is broken. Where FALLEN names a file, each unsteady or broken test adds a line to it;
// where RESULTS does, each file of tests does, for `steadily/summary.ts`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Fall,
  journalVariable,
  type Outcome,
  type Result,
  readJournal,
} from './steadily/journal.ts';

const tries = 3;
// More than these do not fall by chance, and to run them again would take long.
const mostByChance = 20;
const runner = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const reporter = fileURLToPath(new URL('./steadily/journal.ts', import.meta.url));
const runnerArguments = process.argv.slice(2);
// The runner takes the number of workers once.
const withoutWorkers = runnerArguments.filter((argument) => !/^--max-?workers=/i.test(argument));
const folder = await mkdtemp(join(tmpdir(), 'signet-run-tests-'));
const unsteady: string[] = [];
const broken: string[] = [];
const withReason = (name: string, reason: string | null) => (reason ? `${name}: ${reason}` : name);
// Of the last try of each file.
const results = new Map<string, Result>();

const first = await run(runnerArguments);
let elsewhere = first.elsewhere;
let fallen = first.fallen;
for (let fell = 1; elsewhere && fallen.size === 0 && fell < tries; fell += 1) {
  console.log(`\nNo test failed, but ${elsewhere}. Once more:`);
  const again = await run(runnerArguments);
  if (!again.elsewhere) unsteady.push(`the run of the tests (${elsewhere}), ${fell} of ${tries}`);
  ({ elsewhere, fallen } = again);
}
if (elsewhere && fallen.size === 0) broken.push(elsewhere);
if (fallen.size > mostByChance) {
  console.log(`\n${fallen.size} files fell, more than chance explains: none is run again.`);
  for (const [file, falls] of fallen)
    broken.push(...falls.map(({ name, reason }) => withReason(`${file} > ${name}`, reason)));
} else {
  for (const [file, falls] of fallen) await tryAlone(file, falls);
}

await rm(folder, { recursive: true, force: true });
const lines = [
  ...unsteady.map((line) => `unsteady: ${line}`),
  ...broken.map((line) => `broken: ${line}`),
];
for (const line of lines) console.log(line);
const file = process.env['FALLEN'];
if (file) for (const line of lines) appendFileSync(file, `${line}\n`);
const resultsFile = process.env['RESULTS'];
if (resultsFile) {
  for (const result of results.values()) appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
}
process.exitCode = broken.length > 0 ? 1 : 0;

async function tryAlone(file: string, falls: readonly Fall[]): Promise<void> {
  const times = new Map<string, { count: number; reason: string | null }>();
  const count = ({ name, reason }: Fall) =>
    times.set(name, { count: (times.get(name)?.count ?? 0) + 1, reason });
  for (const fall of falls) count(fall);
  let into = broken;
  for (let fell = 1; fell < tries && into === broken; fell += 1) {
    console.log(`\n${file} fell ${fell} of ${tries} times. Once more, alone:`);
    const again = await run([...withoutWorkers, '--max-workers=1', file]);
    const still =
      again.fallen.get(file) ?? (again.elsewhere ? [{ name: again.elsewhere, reason: null }] : []);
    for (const fall of still) count(fall);
    if (still.length === 0) into = unsteady;
  }
  for (const [name, { count, reason }] of times)
    into.push(withReason(`${file} > ${name}, ${count} of ${tries}`, reason));
}

async function run(args: readonly string[]): Promise<Outcome> {
  const path = join(await mkdtemp(join(folder, 'run-')), 'journal');
  await writeFile(path, '');
  const child = spawn(
    process.execPath,
    [runner, 'run', ...args, '--reporter=default', `--reporter=${reporter}`],
    { stdio: 'inherit', env: { ...process.env, [journalVariable]: path } },
  );
  const [code, signal] = await once(child, 'close');
  const outcome = readJournal(path, code ?? signal);
  for (const result of outcome.results) results.set(result.file, result);
  return outcome;
}
