import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closeAtEnd } from '../support/cleanup.ts';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** Where an example is. */
export const pathOf = (path: string): string => join(examples, path);

/** The text of an example. */
export const readExample = (path: string): string => readFileSync(pathOf(path), 'utf8');

/** The files of a folder of examples that a reader can take. */
export const filesOf = (folder: string): string[] =>
  readdirSync(join(examples, folder))
    .filter((name) => /\.(js|py|conf)$/.test(name))
    .toSorted();

/** Whether the packages of a folder are there: `npm run test:interop` installs them. */
export const areInstalled = (folder: string): boolean =>
  existsSync(join(examples, folder, 'node_modules'));

/** The version of a package of a folder. */
export const versionOf = (folder: string, name: string): string =>
  (
    JSON.parse(readExample(join(folder, 'node_modules', name, 'package.json'))) as {
      version: string;
    }
  ).version;

/** A Python that has these modules, if there is one. */
export const pythonWith = (modules: string): string | undefined =>
  ['python3', '/usr/bin/python3'].find(
    (name) => spawnSync(name, ['-c', `import ${modules}`]).status === 0,
  );

/** What runs an example that is a server. */
export type Command = readonly [string, ...string[]];

/** A program that runs, until the test or its file ends. */
export interface RunningProgram {
  /** All that it has printed so far. */
  printed(): string;
  /** All that it has printed as errors so far; some tell there what they refuse. */
  complaints(): string;
  /**
   * Waits for a line that it prints, as an error or not.
   *
   * @throws {Error} with its complaints, if it ends before.
   */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with its exit code, or with the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  kill(): Promise<void>;
}

/** Starts a program that has these variables alone, and what of the machine's it needs to run. */
export function startProgram(
  [command, ...parameters]: Command,
  environment: Readonly<Record<string, string>>,
  cwd?: string,
): RunningProgram {
  const { PATH, HOME } = process.env;
  // Where a machine may have more libraries than its system.
  const { GEM_PATH, PERL5LIB, PYTHONPATH } = process.env;
  const child = spawn(command, parameters, {
    cwd,
    env: { PATH, HOME, GEM_PATH, PERL5LIB, PYTHONPATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let complaints = '';
  const waiting = new Set<() => void>();
  const told = () => {
    for (const check of waiting) check();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    told();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
    told();
  });
  const ended = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals,
  );
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  closeAtEnd(kill);
  return {
    printed: () => printed,
    complaints: () => complaints,
    ended,
    kill,
    line(pattern) {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
      const check = () => {
        for (const output of [printed, complaints]) {
          // The last may be half a line.
          const found = pattern.exec(output.slice(0, output.lastIndexOf('\n') + 1));
          if (found) resolve(found);
        }
      };
      waiting.add(check);
      check();
      void ended.then((end) => reject(new Error(`${command} ended with ${end}. ${complaints}`)));
      return promise.finally(() => waiting.delete(check));
    },
  };
}

/**
 * Starts an example that is a server, as its reader would.
 *
 * @param path The file, below examples/.
 * @param command What runs it, if that is not Node.
 * @returns Where it listens.
 */
export async function startExample(
  path: string,
  environment: Record<string, string>,
  command: Command = [process.execPath, pathOf(path)],
): Promise<string> {
  const program = startProgram(command, { PORT: '0', ...environment });
  // PHP's own server says it in its own words.
  const [, port] = await program.line(/(?:listens on port |Server \(http:\/\/localhost:)(\d+)/);
  return `http://localhost:${port}`;
}
