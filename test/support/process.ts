import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** On a busy machine a burst may take its time. Tests of overload set what they try. */
const patient = { MAX_QUEUE_MS: '600000' };

const signet = fileURLToPath(new URL('../../bin/signet.js', import.meta.url));
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

/**
 * Starts the service in a process that has only these variables of Signet's.
 *
 * @param folder Where its code is: that of today, if absent.
 */
export function startProcess(environment: Record<string, string>, folder = root): ServiceProcess {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(join(folder, 'src/start.sh'), {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
      HOME,
      PORT: '0',
      ...patient,
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

/** The ids of the processes that answer requests, of a service with `WORKERS`: the last of each number. */
export function workersOf({ stdout }: Pick<ServiceProcess, 'stdout'>): number[] {
  const ready = [...stdout().matchAll(/"worker":(\d+),"pid":(\d+),"msg":"a worker is ready"/g)];
  return [...new Map(ready.map(([, number, pid]) => [number, Number(pid)])).values()];
}

/**
 * Runs `npx signet` with these parameters, in a process that has only these variables of Signet's.
 *
 * @param killed Kills it; there is no code then.
 */
export async function runSignet(
  parameters: readonly string[],
  {
    environment = {},
    input = '',
    killed,
  }: { environment?: Record<string, string>; input?: string; killed?: AbortSignal } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [signet, ...parameters], {
    env: { PATH, HOME, ...environment },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.end(input);
  killed?.addEventListener('abort', () => void child.kill('SIGKILL'));
  const [code] = (await once(child, 'close')) as [number];
  return { code, stdout, stderr };
}
