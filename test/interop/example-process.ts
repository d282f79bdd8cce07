import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { closeAtEnd } from '../support/cleanup.ts';

/** The folder of the examples. */
export const examples = fileURLToPath(new URL('../../examples/', import.meta.url));

/** An example that runs, until the test or its file ends. */
export interface ExampleProcess {
  /** All that it has printed so far. */
  printed(): string;
  /**
   * Waits for a line that it prints.
   *
   * @throws {Error} with its complaints, if it ends before.
   */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with its exit code, or with the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Why it ended: some also print there what they refuse. */
  complaints(): string;
  kill(): Promise<void>;
}

/** Starts an example as its reader would, with these variables alone. */
export function startExample(
  [command, ...parameters]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
  cwd = examples,
): ExampleProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(command, parameters, {
    cwd,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let complaints = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  let hasEnded = false;
  const ended = once(child, 'close').then(([code, signal]) => {
    hasEnded = true;
    return (code ?? signal) as number | NodeJS.Signals;
  });
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
    async line(pattern) {
      for (;;) {
        const found = pattern.exec(printed);
        if (found) return found;
        if (hasEnded) throw new Error(`${command} ended with ${await ended}. ${complaints}`);
        await Promise.race([once(child.stdout, 'data'), ended]);
      }
    },
  };
}
