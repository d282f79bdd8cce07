import { execFile, execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

/** How PostgreSQL stops: at once as in a crash, to recover at its next start, or after a checkpoint. */
export type StopMode = 'immediate' | 'fast';

/** A test's own PostgreSQL, which it can stop and restart on the same data. */
export interface PostgresqlServer {
  readonly url: string;
  start(): Promise<void>;
  /** Breaks all connections; resolves when nothing listens any more. */
  stop(mode: StopMode): Promise<void>;
  /** How often a start had to recover what a crash left. */
  recoveries(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Makes a server on a free port, with the settings of a new one: what it acknowledges is on the disk. It is not started
 * yet.
 */
export async function createPostgresqlServer(): Promise<PostgresqlServer> {
  const bin = findPrograms();
  const owner = ownerOfServer();
  const folder = await mkdtemp(join(tmpdir(), 'signet-postgresql-'));
  if (owner) await chown(folder, owner.uid, owner.gid);
  const [data, log] = [join(folder, 'data'), join(folder, 'log')];
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(bin, program), [`--pgdata=${data}`, ...args], {
      ...owner,
      cwd: folder,
    });
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`;
  let isRunning = false;
  const stop = async (mode: StopMode) => {
    isRunning = false;
    await run('pg_ctl', `--mode=${mode}`, '--wait', 'stop');
  };
  await run('initdb', '--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale');
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async start() {
      await run('pg_ctl', `--options=${options}`, `--log=${log}`, '--wait', 'start');
      isRunning = true;
    },
    stop,
    recoveries: async () =>
      (await readFile(log, 'utf8')).split('automatic recovery in progress').length - 1,
    async close() {
      if (isRunning) await stop('immediate');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The folder of its programs: Debian leaves them out of the PATH, and has one for each version. */
function findPrograms(): string {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...globSync('/usr/lib/postgresql/*/bin').sort(),
  ];
  const bin = folders.findLast((folder) =>
    ['initdb', 'pg_ctl', 'postgres'].every((program) => existsSync(join(folder, program))),
  );
  if (bin === undefined)
    throw new Error(
      'This test stops and starts a PostgreSQL of its own, and its programs are not installed here (Debian: apt-get install postgresql).',
    );
  return bin;
}

/** PostgreSQL refuses to run as root. */
function ownerOfServer(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (what: string) =>
    Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('--user'), gid: idOf('--group') };
}

/**
 * A port that no outgoing connection takes while the server is stopped: Linux gives those the ports from 32768 on.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 30_000);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
