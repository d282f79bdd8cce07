import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The requests that are sent to a server in turn, again and again. */
export interface Load {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: readonly string[];
}

/** A server in a separate process. */
export interface BenchServer {
  readonly load: Load;
  /** The CPU time that the process has used so far, in milliseconds. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a server's file and waits until it announces its load. */
export function startServer(
  file: string,
  environment: Record<string, string> = {},
): Promise<BenchServer> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...environment, NODE_ENV: 'production' },
    execArgv: [
      '--disable-warning=FSTDEP023',
      // A profile is written at the end: see `node --cpu-prof`.
      ...(environment['BENCH_PROFILE']
        ? [`--cpu-prof`, `--cpu-prof-dir=${environment['BENCH_PROFILE']}`]
        : []),
    ],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}.`)));
    child.once('message', (load) => {
      resolve({
        load: load as Load,
        async cpuMs() {
          const answer = once(child, 'message') as Promise<[NodeJS.CpuUsage]>;
          child.send('cpu');
          const [{ user, system }] = await answer;
          return (user + system) / 1000;
        },
        async stop() {
          child.kill('SIGTERM');
          await exited;
        },
      });
    });
  });
}

/** Tells the parent process that this server is ready. */
export function announce(load: Load): void {
  if (!process.send) {
    process.stdout.write(`${JSON.stringify(load, undefined, 2)}\n`);
    return;
  }
  process.send(load);
  process.on('message', () => process.send?.(process.cpuUsage()));
}

/** The number of users that take turns, so that no row or token is the only one. */
export const userCount = 100;
