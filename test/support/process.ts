import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const start = fileURLToPath(new URL('../../src/start.sh', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The service as a separate process, started as `npm start` does. */
export interface ServiceProcess {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Everything it has printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the URL it listens on; rejects if it ends before. */
  readonly ready: Promise<string>;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/** Starts the service in a process that has only these variables of Signet's. */
export function startProcess(environment: Record<string, string>): ServiceProcess {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env;
  const child = spawn(start, {
    cwd: root,
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
      HOME,
      NODE_COMPILE_CACHE,
      PORT: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals,
  );
  const ready = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      stdout += `${line}\n`;
      const listening = /"listening":"([^"]+)"/.exec(line)?.[1];
      if (listening) resolve(listening);
    });
    ended.then((end) => reject(new Error(`The service ended with ${end}: ${stderr}`)));
  });
  // A test that only waits for the end does not handle this rejection.
  ready.catch(() => undefined);
  return { child, stdout: () => stdout, stderr: () => stderr, ready, ended };
}
