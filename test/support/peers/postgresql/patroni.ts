import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { eventually } from '../../wait.ts';
import { freePort } from '../free-port.ts';
import { findPrograms, ownerOfServer, signalServer } from './server.ts';

// Benches use it too: nothing here comes from vitest.

/** How the primary is lost. */
export const ends = {
  'kill -9 of PostgreSQL': 'kill',
  'the machine is gone': 'die',
  'the machine is frozen': 'freeze',
  'patronictl switchover': 'switchOver',
} as const;

type End = (typeof ends)[keyof typeof ends];

/** PostgreSQL servers that Patroni looks after: a primary, a synchronous standby and, from three on, others. */
export interface Patroni {
  /** The URL of the primary, through HAProxy. */
  readonly url: string;
  /** Resolves once there are a primary and a synchronous standby, and every other server follows too. */
  whole(): Promise<void>;
  /** Takes the primary away, and resolves once another server has been promoted. */
  failOver(end: End): Promise<void>;
  /** Brings the servers back that a failover has taken away. */
  mend(): Promise<void>;
  close(): Promise<void>;
}

const folders = ['', '/usr/bin/', '/usr/sbin/'];
const programs = Object.fromEntries(
  ['patroni', 'patronictl', 'etcd', 'haproxy'].map((name) => [
    name,
    folders.map((folder) => folder + name).find((path) => !spawnSync(path, ['--version']).error),
  ]),
);

/** Why it cannot start here; undefined if it can. */
export const patroniMissing: string | undefined = Object.values(programs).includes(undefined)
  ? 'Patroni, etcd or HAProxy is not installed (Debian: apt-get install patroni etcd-server haproxy)'
  : undefined;

interface Server {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly folder: string;
  readonly settings: string;
  patroni: ChildProcess | undefined;
  isFrozen: boolean;
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly lag?: number | 'unknown';
}

const local = '127.0.0.1';

/** Waits until a check returns something. */
const until = <T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> =>
  eventually(async () => {
    const found = await check();
    if (!found) throw new Error(`There is no sign of ${what}.`);
    return found;
  }, 50);

/** Starts etcd, Patroni with its servers, and HAProxy in front of them. */
export async function startPatroni(count: number): Promise<Patroni> {
  const owner = ownerOfServer();
  const root = await mkdtemp(join(tmpdir(), 'signet-patroni-'));
  const own = (path: string) => owner && chown(path, owner.uid, owner.gid);
  await own(root);
  const started: ChildProcess[] = [];
  const start = (program: string, ...args: string[]) => {
    const child = spawn(programs[program] ?? program, args, {
      ...owner,
      cwd: root,
      stdio: process.env['PATRONI_LOG'] ? 'inherit' : 'ignore',
    });
    started.push(child);
    return child;
  };
  const end = async (child: ChildProcess | undefined) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };

  const [etcdPort, etcdPeerPort, port] = [await freePort(), await freePort(), await freePort()];
  start(
    'etcd',
    ...['--data-dir', join(root, 'etcd'), '--log-level', 'error', '--enable-v2'],
    ...['--listen-client-urls', `http://${local}:${etcdPort}`],
    ...['--advertise-client-urls', `http://${local}:${etcdPort}`],
    ...['--listen-peer-urls', `http://${local}:${etcdPeerPort}`],
    ...['--initial-advertise-peer-urls', `http://${local}:${etcdPeerPort}`],
    ...['--initial-cluster', `default=http://${local}:${etcdPeerPort}`],
  );
  await until('etcd', async () => (await fetch(`http://${local}:${etcdPort}/health`)).ok);

  const servers: Server[] = [];
  for (let number = 1; number <= count; number += 1) {
    const name = `server${number}`;
    const folder = join(root, name);
    const settings = `${folder}.yaml`;
    const [port, restPort] = [await freePort(), await freePort()];
    // JSON is YAML.
    await writeFile(
      settings,
      JSON.stringify({
        scope: 'signet',
        name,
        restapi: { listen: `${local}:${restPort}`, connect_address: `${local}:${restPort}` },
        // Not `etcd3`: Patroni 3.0 at times never learns there who the standby is, after a machine was frozen.
        etcd: { host: `${local}:${etcdPort}` },
        bootstrap: {
          dcs: {
            // The least that Patroni allows. A primary whose process was killed is not started again in its place.
            ttl: 20,
            loop_wait: 1,
            retry_timeout: 5,
            master_start_timeout: 0,
            primary_start_timeout: 0,
            synchronous_mode: true,
            postgresql: {
              use_pg_rewind: true,
              parameters: { max_connections: 200, wal_keep_size: '512MB' },
            },
          },
          initdb: [{ encoding: 'UTF8' }, 'no-locale', 'data-checksums'],
        },
        postgresql: {
          listen: `${local}:${port}`,
          connect_address: `${local}:${port}`,
          data_dir: folder,
          bin_dir: findPrograms(),
          pgpass: `${folder}.pgpass`,
          authentication: {
            superuser: { username: 'postgres', password: 'unused' },
            replication: { username: 'replicator', password: 'unused' },
          },
          pg_hba: [
            'host all all 127.0.0.1/32 trust',
            'host replication replicator 127.0.0.1/32 trust',
          ],
          parameters: { unix_socket_directories: root },
          remove_data_directory_on_rewind_failure: true,
          remove_data_directory_on_diverged_timelines: true,
        },
        watchdog: { mode: 'off' },
      }),
    );
    await own(settings);
    servers.push({ name, port, restPort, folder, settings, patroni: undefined, isFrozen: false });
  }
  const startServer = (server: Server) => {
    server.patroni = start('patroni', server.settings);
  };

  const proxySettings = join(root, 'haproxy.cfg');
  await writeFile(
    proxySettings,
    `global
  maxconn 1000
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 1s
listen primary
  bind ${local}:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.map(({ name, port, restPort }) => `  server ${name} ${local}:${port} check port ${restPort}\n`).join('')}`,
  );
  start('haproxy', '-db', '-f', proxySettings);

  const members = async (): Promise<readonly Member[]> => {
    for (const { restPort, patroni, isFrozen } of servers) {
      if (!patroni || isFrozen) continue;
      const answer = await fetch(`http://${local}:${restPort}/cluster`, {
        signal: AbortSignal.timeout(2_000),
      }).catch(() => undefined);
      if (answer?.ok) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  };

  const isWritable = async ({ port }: Server) => {
    const client = new pg.Client({
      connectionString: `postgres://postgres@${local}:${port}/postgres`,
      connectionTimeoutMillis: 1_000,
      query_timeout: 1_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ is: boolean }>(
        'SELECT NOT pg_is_in_recovery() AS "is"',
      );
      return rows[0]?.is === true;
    } finally {
      client.end().catch(() => undefined);
    }
  };

  const whole = async () => {
    await until('a primary with a synchronous standby', async () => {
      const found = await members();
      const has = (role: string) => found.some((member) => member.role === role);
      return (
        found.length === count &&
        has('leader') &&
        (count === 1 || has('sync_standby')) &&
        found.every(
          ({ role, state, lag = 0 }) =>
            /running|streaming/.test(state) && (role === 'leader' || lag === 0),
        )
      );
    });
  };

  const [first, ...others] = servers;
  if (!first) throw new Error('Patroni needs a server.');
  startServer(first);
  await until('the first primary', () => isWritable(first));
  others.forEach(startServer);
  await whole();

  const leader = async () => {
    const { name } = (await members()).find(({ role }) => role === 'leader') ?? {};
    const found = servers.find((server) => server.name === name);
    if (!found) throw new Error('There is no primary.');
    return found;
  };

  const takeAway: Readonly<Record<End, (server: Server) => Promise<unknown>>> = {
    kill: ({ folder }) => signalServer(folder, 'SIGKILL'),
    async die(server) {
      await end(server.patroni);
      server.patroni = undefined;
      await signalServer(server.folder, 'SIGKILL');
    },
    async freeze(server) {
      server.isFrozen = true;
      server.patroni?.kill('SIGSTOP');
      await signalServer(server.folder, 'SIGSTOP');
    },
    async switchOver({ name, settings }) {
      const run = start('patronictl', '-c', settings, 'switchover', '--leader', name, '--force');
      const [code] = await once(run, 'exit');
      if (code !== 0) throw new Error(`patronictl ended with ${code}.`);
    },
  };

  return {
    url: `postgres://postgres@${local}:${port}/postgres`,
    whole,
    async failOver(end) {
      const before = await leader();
      const taken = takeAway[end](before);
      const rest = servers.filter((server) => server !== before);
      await until('a promotion', async () =>
        (await Promise.all(rest.map((one) => isWritable(one).catch(() => false)))).includes(true),
      );
      await taken;
    },
    async mend() {
      for (const server of servers) {
        if (server.isFrozen) {
          await signalServer(server.folder, 'SIGCONT');
          server.patroni?.kill('SIGCONT');
          server.isFrozen = false;
        } else if (!server.patroni) startServer(server);
      }
      await whole();
    },
    async close() {
      for (const child of started) await end(child);
      // It may not run, or have no files yet.
      for (const { folder } of servers)
        await signalServer(folder, 'SIGKILL').catch(() => undefined);
      await rm(root, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
