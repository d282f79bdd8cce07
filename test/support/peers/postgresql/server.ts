import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { appendFile, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';

/** How PostgreSQL stops: at once as in a crash, to recover at its next start, or after a checkpoint. */
export type StopMode = 'immediate' | 'fast';

/** A test's own PostgreSQL, which it can stop and restart on the same data. */
export interface PostgresqlServer {
  readonly url: string;
  /** A folder that it can write to, beside its files. */
  readonly folder: string;
  start(): Promise<void>;
  /** Adds lines to its `postgresql.conf`, for its next start. */
  configure(lines: string): Promise<void>;
  /** Breaks all connections; resolves when nothing listens any more. */
  stop(mode: StopMode): Promise<void>;
  /** Stops all its processes where they are: connections stay, and nothing is answered. */
  freeze(): Promise<void>;
  /** Lets them go on. */
  thaw(): Promise<void>;
  /** Its next start is that of a standby, which only reads. */
  demote(): Promise<void>;
  /** Ends its time as a standby. */
  promote(): Promise<void>;
  /** While it runs: makes a base backup, in place of a copy of its files. */
  keepBase(): Promise<void>;
  /** Its next start recovers, as its configuration says. */
  recover(): Promise<void>;
  /** While it is stopped: copies its files. */
  keepFiles(): Promise<void>;
  /** While it is stopped: puts the copy in the place of its files. */
  restoreFiles(): Promise<void>;
  /** How often a start had to recover what a crash left. */
  recoveries(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Makes a server on a free port, with the settings of a new one: what it acknowledges is on the disk. It is not started
 * yet.
 *
 * @param primary The running server that it is a copy of, and follows as a standby.
 */
export async function createPostgresqlServer(
  primary?: Pick<PostgresqlServer, 'url'>,
): Promise<PostgresqlServer> {
  const bin = findPrograms();
  const owner = ownerOfServer();
  const folder = await mkdtemp(join(tmpdir(), 'signet-postgresql-'));
  if (owner) await chown(folder, owner.uid, owner.gid);
  const [data, kept, log] = [join(folder, 'data'), join(folder, 'kept'), join(folder, 'log')];
  const run = (program: string, ...args: string[]) =>
    promisify(execFile)(join(bin, program), [`--pgdata=${data}`, ...args], {
      ...owner,
      cwd: folder,
    });
  const port = await freePort();
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`;
  let isRunning = false;
  const signal = (name: NodeJS.Signals) => signalServer(data, name);
  const stop = async (mode: StopMode) => {
    isRunning = false;
    await run('pg_ctl', `--mode=${mode}`, '--wait', 'stop');
  };
  if (primary) {
    await run(
      'pg_basebackup',
      `--dbname=${primary.url}`,
      '--write-recovery-conf',
      '--checkpoint=fast',
    );
  } else {
    await run('initdb', '--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale');
  }
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return {
    url,
    folder,
    configure: (lines) => appendFile(join(data, 'postgresql.conf'), lines),
    keepBase: () =>
      run(
        'pg_basebackup',
        `--pgdata=${kept}`,
        `--dbname=${url}`,
        '--wal-method=stream',
        '--checkpoint=fast',
      ).then(() => undefined),
    recover: () => writeFile(join(data, 'recovery.signal'), ''),
    async start() {
      await run('pg_ctl', `--options=${options}`, `--log=${log}`, '--wait', 'start');
      isRunning = true;
    },
    stop,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    demote: () => writeFile(join(data, 'standby.signal'), ''),
    promote: () => run('pg_ctl', '--wait', 'promote').then(() => undefined),
    keepFiles: () => copyFolder(data, kept),
    async restoreFiles() {
      await rm(data, { recursive: true });
      await copyFolder(kept, data);
    },
    recoveries: async () =>
      (await readFile(log, 'utf8')).split('automatic recovery in progress').length - 1,
    async close() {
      if (isRunning) {
        await signal('SIGCONT');
        await stop('immediate');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a signal to all processes of the server that has its files in a folder. */
export async function signalServer(data: string, name: NodeJS.Signals): Promise<void> {
  const main = Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10);
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(main)]);
  // The first process first: it must start no other after they were listed.
  for (const pid of [main, ...stdout.trim().split(/\s+/).map(Number)]) {
    try {
      process.kill(pid, name);
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** With owners and permissions, which the server insists on. */
const copyFolder = async (from: string, to: string) => {
  await promisify(execFile)('cp', ['-a', from, to]);
};

/** The folder of its programs: Debian leaves them out of the PATH, and has one for each version. */
export function findPrograms(): string {
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
export function ownerOfServer(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (what: string) =>
    Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('--user'), gid: idOf('--group') };
}
