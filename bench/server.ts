import { fork } from 'node:child_process';
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
  stop(): Promise<void>;
}

/** Starts a server's file and waits until it announces its load. */
export function startServer(
  file: string,
  environment: Record<string, string> = {},
): Promise<BenchServer> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...environment, NODE_ENV: 'production' },
    execArgv: ['--disable-warning=FSTDEP023'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}.`)));
    child.once('message', (load) => {
      resolve({
        load: load as Load,
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
}

/** The number of users that take turns, so that no row or token is the only one. */
export const userCount = 100;
