import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

/** A test's own PgBouncer in front of a PostgreSQL. */
export interface Pgbouncer {
  /** The URL, through it. */
  readonly url: string;
  close(): Promise<void>;
}

// Debian has it in sbin, which is not in everybody's PATH.
const program = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (path) => !spawnSync(path, ['--version']).error,
);

/** Why no PgBouncer can start here; undefined if one can. */
export const pgbouncerMissing: string | undefined = program
  ? undefined
  : 'pgbouncer is not installed (Debian: apt-get install pgbouncer)';

/**
 * Starts a PgBouncer on a free port.
 *
 * @param size The connections that it opens for each database and user.
 */
export async function startPgbouncer(
  url: string,
  mode: 'transaction' | 'session',
  size: number,
): Promise<Pgbouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'signet-pgbouncer-'));
  const port = await freePort();
  const { hostname, port: behind, username, pathname } = new URL(url);
  const settings = join(folder, 'pgbouncer.ini');
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${behind || 5432} user=${username || 'postgres'}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 500
server_login_retry = 1
`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];
  await chmod(folder, 0o755);
  await chmod(settings, 0o644);
  const server: ChildProcess = spawn(program ?? 'pgbouncer', [...user, settings], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(server, 'exit');
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.once('exit', () => reject(new Error(`pgbouncer ended: ${log}`)));
    server.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('process up')) resolve();
    });
  });
  return {
    url: `postgres://${username || 'postgres'}@127.0.0.1:${port}${pathname}`,
    async close() {
      server.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
