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

/** A test that failed, or what else went wrong, and the first line of its reason where there is one. */
export interface Fall {
  readonly name: string;
  readonly reason: string | null;
}

/** What one line of a journal says. A runner that is killed leaves the lines it had written. */
type Line =
  | { readonly kind: 'begun'; readonly files: readonly string[] }
  | ({ readonly kind: 'file'; readonly fallen: readonly Fall[] } & Result)
  | { readonly kind: 'error'; readonly file: string | null; readonly message: string }
  | { readonly kind: 'ended' };

/** What came of one run of the test runner. */
export interface Outcome {
  /** For each file that fell, by its path in the project: what fell in it. */
  readonly fallen: ReadonlyMap<string, readonly Fall[]>;
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
    this.#write({ kind: 'file', ...resultOf(module), fallen: fallsOf(module) });

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

function fallsOf(module: TestModule): Fall[] {
  const suites = [...module.children.allSuites()]
    .filter((suite) => suite.errors().length > 0)
    .map((suite) => ({ name: suite.fullName, reason: reasonOf(suite.errors()) }));
  const failed = [...module.children.allTests('failed')].map((test) => ({
    name: test.fullName,
    reason: reasonOf(test.result().errors),
  }));
  const falls = [...suites, ...failed];
  if (falls.length > 0 || module.ok()) return falls;
  return [{ name: reasonOf(module.errors()) ?? 'the file itself', reason: null }];
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
  const fallen = new Map<string, Fall[]>();
  const add = (file: string, ...falls: readonly Fall[]) =>
    fallen.set(file, [...(fallen.get(file) ?? []), ...falls]);
  const ended = new Set<string>();
  const stray: string[] = [];
  for (const line of lines) {
    if (line.kind === 'file') ended.add(line.file);
    if (line.kind === 'file' && line.fallen.length > 0) add(line.file, ...line.fallen);
    if (line.kind !== 'error') continue;
    if (line.file) add(line.file, { name: firstLine(line.message), reason: null });
    else stray.push(firstLine(line.message));
  }
  if (!lines.some(({ kind }) => kind === 'ended')) {
    return { fallen: new Map(), elsewhere: `the runner ended early, with ${end}`, results: [] };
  }
  for (const line of lines) {
    if (line.kind !== 'begun') continue;
    for (const file of line.files)
      if (!ended.has(file)) add(file, { name: 'it did not end', reason: null });
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

// A line of a terminal, and not a whole answer that was not the expected one.
const longestReason = 300;
const reasonOf = (errors: readonly { readonly message: string }[] | undefined): string | null =>
  errors?.[0] ? firstLine(errors[0].message).slice(0, longestReason) : null;

const firstLine = (message: string) => message.split('\n', 1)[0] as string;
