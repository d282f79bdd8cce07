import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

/** A test's own NATS server with JetStream, which it can stop and restart on the same data. */
export interface NatsServer {
  readonly url: string;
  start(): Promise<void>;
  /** Kills the process, as a crash does. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Why no NATS server can start here; undefined if one can. */
export const natsMissing: string | undefined = spawnSync('nats-server', ['--version']).error
  ? 'nats-server is not installed (Debian: apt-get install nats-server)'
  : undefined;

/** Makes a server on a free port; it is not started yet. */
export async function createNatsServer(): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'signet-nats-'));
  const port = await freePort();
  let server: ChildProcess | undefined;
  const kill = async () => {
    if (!server) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    server = undefined;
  };
  return {
    url: `nats://127.0.0.1:${port}`,
    async start() {
      const started = spawn(
        'nats-server',
        ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder],
        { stdio: ['ignore', 'ignore', 'pipe'] },
      );
      server = started;
      let log = '';
      await new Promise<void>((resolve, reject) => {
        started.once('exit', () => reject(new Error(`nats-server ended: ${log}`)));
        started.stderr?.on('data', (chunk: Buffer) => {
          log += chunk.toString();
          if (log.includes('Server is ready')) resolve();
        });
      });
    },
    kill,
    async close() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
