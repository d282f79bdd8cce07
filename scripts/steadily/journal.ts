import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/** What one file of tests came to. */
export interface Result {
  readonly file: string;
  /** The ring it ran in: `tests`, or `tests-of-the-database`. */
  readonly project: string;
  readonly seconds: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What one line of a journal says. A runner that is killed leaves the lines it had written. */
type Line =
  | { readonly kind: 'begun'; readonly files: readonly string[] }
  | ({ readonly kind: 'file'; readonly fallen: readonly string[] } & Result)
  | { readonly kind: 'error'; readonly file: string | null; readonly message: string }
  | { readonly kind: 'ended' };

/** What came of one run of the test runner. */
export interface Outcome {
  /** For each file that fell, by its path in the project: the names of the tests that failed, or what else went wrong. */
  readonly fallen: ReadonlyMap<string, readonly string[]>;
  /** Errors that belong to no file, or null where every one does. */
  readonly elsewhere: string | null;
  readonly results: readonly Result[];
}

/** The environment variable that names the journal's file. */
export const journalVariable = 'VITEST_JOURNAL';

/** Writes each result down as it comes, for `readJournal`. */
export default class Journal implements Reporter {
  readonly #write = (line: Line) =>
    appendFileSync(process.env[journalVariable] as string, `${JSON.stringify(line)}\n`);

  onTestRunStart: Reporter['onTestRunStart'] = (specifications) =>
    this.#write({
      kind: 'begun',
      files: specifications.map(({ moduleId }) => inProject(moduleId)),
    });

  onTestModuleEnd: Reporter['onTestModuleEnd'] = (module) =>
    this.#write({ kind: 'file', ...resultOf(module), fallen: namesOf(module) });

  onTestRunEnd: Reporter['onTestRunEnd'] = (_modules, errors) => {
    for (const error of errors) {
      const of: unknown = error['VITEST_TEST_PATH'];
      this.#write({
        kind: 'error',
        file: typeof of === 'string' ? inProject(of) : null,
        message: error.message,
      });
    }
    this.#write({ kind: 'ended' });
  };
}

const inProject = (path: string) => relative(process.cwd(), path);

function resultOf(module: TestModule): Result {
  const { collectDuration, duration, environmentSetupDuration, prepareDuration, setupDuration } =
    module.diagnostic();
  const milliseconds =
    collectDuration + duration + environmentSetupDuration + prepareDuration + setupDuration;
  const count = (state: 'passed' | 'failed' | 'skipped') =>
    [...module.children.allTests(state)].length;
  return {
    file: inProject(module.moduleId),
    project: module.project.name,
    seconds: milliseconds / 1000,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
}

function namesOf(module: TestModule): string[] {
  const failed = [...module.children.allTests('failed')].map(({ fullName }) => fullName);
  const suites = [...module.children.allSuites()]
    .filter((suite) => suite.errors().length > 0)
    .map(({ fullName }) => fullName);
  const names = [...suites, ...failed];
  if (names.length > 0 || module.ok()) return names;
  return [module.errors()[0]?.message ?? 'the file itself'];
}

/**
 * Reads what came of a run.
 *
 * @param end How the runner ended: its exit code, or the signal that ended it.
 */
export function readJournal(path: string, end: number | NodeJS.Signals): Outcome {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line): Line => JSON.parse(line));
  const fallen = new Map<string, string[]>();
  const add = (file: string, ...names: readonly string[]) =>
    fallen.set(file, [...(fallen.get(file) ?? []), ...names]);
  const ended = new Set<string>();
  const stray: string[] = [];
  for (const line of lines) {
    if (line.kind === 'file') ended.add(line.file);
    if (line.kind === 'file' && line.fallen.length > 0) add(line.file, ...line.fallen);
    if (line.kind !== 'error') continue;
    if (line.file) add(line.file, firstLine(line.message));
    else stray.push(firstLine(line.message));
  }
  if (!lines.some(({ kind }) => kind === 'ended')) {
    return { fallen: new Map(), elsewhere: `the runner ended early, with ${end}`, results: [] };
  }
  for (const line of lines) {
    if (line.kind !== 'begun') continue;
    for (const file of line.files) if (!ended.has(file)) add(file, 'it did not end');
  }
  if (end !== 0 && fallen.size === 0 && stray.length === 0)
    stray.push(`the runner ended with ${end}`);
  const results = lines.flatMap((line) => {
    if (line.kind !== 'file') return [];
    const { kind: _kind, fallen: _fallen, ...result } = line;
    return [result];
  });
  return { fallen, elsewhere: stray.length > 0 ? stray.join('; ') : null, results };
}

const firstLine = (message: string) => message.split('\n', 1)[0] as string;
