import type pg from 'pg';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import {
  type Address,
  createEndpoint,
  identityOf,
  sharesBackends,
  stateOf,
} from '../../db/connections/endpoint.ts';
import {
  connectionsBeside,
  type Fitness,
  fitnessOf,
  type Lack,
  lacksOfHolding,
  lacksOfMigrating,
} from '../../db/connections/fitness.ts';
import { sessionSettings } from '../../db/postgresql.ts';
import { allowedMs } from '../../service-status/clock.ts';
import { isOfThisMachine } from './configuration.ts';
import { type Findings, patienceMs, whyNot } from './finding.ts';

type Settings = Extract<Config['database'], { kind: 'postgresql' }>;

const refusals: Readonly<Record<string, readonly [string, string]>> = {
  '28P01': ['it refuses the password', 'Correct the password, or that of DATABASE_PASSWORD_FILE.'],
  '28000': ['it lets this role not in from here', 'Allow it in pg_hba.conf, or name another role.'],
  '3D000': ['it has no such database', 'Create it: CREATE DATABASE signet OWNER signet.'],
  '53300': ['all its connections are taken', 'Raise max_connections, or lower the pools.'],
};

/**
 * Looks at a PostgreSQL, and the way to it.
 *
 * @returns Whether it can be worked with.
 */
export async function checkPostgresql(
  findings: Findings,
  { url, directUrl, passwordFile, poolSize, tokenPoolSize }: Settings,
  replicaUrls: readonly string[] = [],
): Promise<boolean> {
  const pooled = { url, passwordFile };
  const direct = directUrl === undefined ? undefined : { url: directUrl, passwordFile };
  const ways = [
    ['DATABASE_URL', pooled] as const,
    ...(direct ? [['DATABASE_DIRECT_URL', direct] as const] : []),
  ];
  const identities: string[] = [];
  let cluster: Cluster | undefined;
  const following = replicaUrls.length > 0 ? 1 : 0;
  let isUsable = true;
  for (const [variable, address] of ways) {
    const isLast = variable === ways.at(-1)?.[0];
    const client = await connect(findings, variable, address);
    if (!client) return false;
    try {
      const state = await stateOf(client);
      if (state !== 'ready') {
        findings.fault(
          variable,
          `It leads to a database that is ${state}.`,
          'Let it lead to the primary; name all hosts, with target_session_attrs=read-write.',
        );
        return false;
      }
      findings.ok(variable, 'It answers, and takes writes.');
      identities.push(await identityOf(client));
      if (isLast && following > 0) cluster = await clusterOf(client);
      await checkEncryption(findings, variable, client, address);
      // What is asked of the session is asked past the pooler.
      if (isLast)
        isUsable = await checkServer(findings, client, poolSize + tokenPoolSize + following);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  if (new Set(identities).size > 1) {
    findings.fault(
      'pooler',
      'DATABASE_URL and DATABASE_DIRECT_URL lead to different databases.',
      'Both must lead to the same one, once through the pooler and once past it.',
    );
  } else await checkPooler(findings, pooled, direct);
  for (const [i, url] of replicaUrls.entries())
    await checkReplica(findings, `replica ${i + 1}`, { url, passwordFile }, cluster);
  return isUsable;
}

interface Cluster {
  /** The same for a primary and its replicas. */
  readonly identifier: string;
  readonly isStandby: boolean;
}

async function clusterOf(client: pg.Client): Promise<Cluster> {
  const { rows } = await client.query<Cluster>(
    `SELECT system_identifier::text AS "identifier", pg_is_in_recovery() AS "isStandby"
       FROM pg_control_system()`,
  );
  const [row] = rows;
  if (!row) throw new Error('The function gives one row.');
  return row;
}

async function checkReplica(
  findings: Findings,
  check: string,
  address: Address,
  primary: Cluster | undefined,
): Promise<void> {
  const client = await connect(findings, check, address);
  if (!client) return;
  try {
    const { identifier, isStandby } = await clusterOf(client);
    if (primary && identifier !== primary.identifier) {
      findings.fault(
        check,
        'It is a copy of another database, and never read.',
        'Let DATABASE_REPLICA_URLS lead to streaming replicas of the one of DATABASE_URL.',
      );
    } else if (isStandby) findings.ok(check, 'It answers, and is a standby of the database.');
    else {
      findings.warn(
        check,
        'It is no standby, and so not read.',
        'Leave it out of DATABASE_REPLICA_URLS, or name the standby of today.',
      );
    }
    await checkEncryption(findings, check, client, address);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function connect(
  findings: Findings,
  variable: string,
  address: Address,
): Promise<pg.Client | undefined> {
  const client = new (createEndpoint(address).Client)({
    application_name: 'signet doctor',
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    const [why, advice] = refusals[(error as { code?: string }).code ?? ''] ?? [
      whyNot(error),
      'Correct the URL, or start the database; ask from this machine, with these variables: psql "$DATABASE_URL".',
    ];
    findings.fault(variable, `It cannot be reached: ${why}.`, advice);
    client.end().catch(() => undefined);
    return undefined;
  }
}

async function checkEncryption(
  findings: Findings,
  variable: string,
  client: pg.Client,
  { url }: Address,
): Promise<void> {
  const { host } = client;
  const isNear = host.startsWith('/') || isOfThisMachine(host) || host === '';
  // What `pg` was told; behind a pooler the server would tell of the pooler's connection.
  const { ssl } = client as unknown as { readonly ssl?: unknown };
  if (isNear || ssl || /[?&]sslmode=(require|verify)/.test(url)) return;
  findings.warn(
    variable,
    'The connection is not encrypted, and the database is on another machine.',
    'Add sslmode=verify-full to the URL, unless the network between is yours alone.',
  );
}

interface About {
  readonly used: number;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly megabytes: number;
}

async function checkServer(
  findings: Findings,
  client: pg.Client,
  connections: number,
): Promise<boolean> {
  const fitness = await fitnessOf(client);
  const { rows } = await client.query<About>(`
    SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS "used",
           current_setting('fsync') AS "fsync",
           current_setting('synchronous_commit') AS "synchronousCommit",
           (pg_database_size(current_database()) / 1048576)::int AS "megabytes"`);
  const [about] = rows;
  if (!about) throw new Error('A SELECT without FROM has one row.');
  checkFitness(findings, fitness, about);
  checkAbout(findings, about, fitness, connections);
  await checkSettings(findings, client);
  await checkClock(findings, client);
  return lacksOfHolding(fitness).length === 0;
}

function checkFitness(findings: Findings, fitness: Fitness, { megabytes }: About): void {
  const { versionText, trigram } = fitness;
  const lacks = [...lacksOfHolding(fitness), ...lacksOfMigrating(fitness)];
  const told: Readonly<Record<Lack['of'], { check: string; fine?: string }>> = {
    version: {
      check: 'database version',
      fine: `PostgreSQL ${versionText}, ${megabytes} MB.`,
    },
    encoding: { check: 'database encoding' },
    schema: { check: 'database schema' },
    rights: { check: 'rights', fine: 'The role may migrate the database.' },
    extensions: {
      check: 'extensions',
      fine: trigram === null ? 'The first start installs pg_trgm.' : `pg_trgm ${trigram} is there.`,
    },
  };
  for (const [of, { check, fine }] of Object.entries(told)) {
    const lack = lacks.find((one) => one.of === of);
    if (lack) findings.fault(check, lack.message, lack.advice);
    else if (fine !== undefined) findings.ok(check, fine);
  }
}

function checkAbout(findings: Findings, about: About, fitness: Fitness, connections: number): void {
  const needed = connections + connectionsBeside;
  const free = fitness.connections - about.used;
  if (needed <= free) {
    findings.ok('connections', `A node takes up to ${needed}; ${free} are free.`);
  } else {
    findings.warn(
      'connections',
      `A node takes up to ${needed} connections, and of ${fitness.connections} only ${free} are free (those of running nodes are taken already).`,
      'Raise max_connections, lower DATABASE_POOL_SIZE and TOKEN_POOL_SIZE, or put a pooler in front.',
    );
  }
  if (about.fsync === 'off' || about.synchronousCommit === 'off') {
    findings.fault(
      'durability',
      `${about.fsync === 'off' ? 'fsync' : 'synchronous_commit'} is off: a crash loses what was acknowledged.`,
      'Switch it on.',
    );
  }
}

/** Other names of UTC. */
const universal = /^(Etc\/)?(UTC|UCT|GMT|Zulu|Universal|Greenwich|GMT[+-]?0)$/;
/** Limits in time that the service has of its own; 0 is none. */
const isLimit = (name: string) => name.endsWith('_timeout');

async function checkSettings(findings: Findings, client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; value: string }>(
    `SELECT "name", current_setting("name") AS "value"
       FROM unnest($1::text[]) WITH ORDINALITY AS "asked" ("name", "at") ORDER BY "at"`,
    [Object.keys(sessionSettings)],
  );
  const own: Readonly<Record<string, string>> = sessionSettings;
  const differing = rows.filter(({ name, value }) => {
    if (isLimit(name)) return value !== '0' && value !== own[name];
    return value !== own[name] && !(name === 'TimeZone' && universal.test(value));
  });
  if (differing.length === 0) {
    findings.ok('settings', 'The database’s sessions begin with what the service relies on.');
    return;
  }
  const list = differing.map(({ name, value }) => `${name} = ${value}`).join(', ');
  findings.ok(
    'settings',
    `The server, the database or the role sets ${list}; the service states its own in each session.`,
  );
}

async function checkClock(findings: Findings, client: pg.Client): Promise<void> {
  const before = systemClock.now().getTime();
  const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS "now"');
  const middle = (before + systemClock.now().getTime()) / 2;
  const driftMs = (rows[0]?.now.getTime() ?? middle) - middle;
  if (Math.abs(driftMs) <= allowedMs) {
    findings.ok('clock', 'This machine and the database have the same time.');
    return;
  }
  const seconds = (Math.abs(driftMs) / 1_000).toFixed(1);
  findings.fault(
    'clock',
    `The database’s clock is ${seconds} s ${driftMs > 0 ? 'ahead of' : 'behind'} this machine’s.`,
    'Let both follow a time server (chrony, systemd-timesyncd): codes, sessions and ID tokens would end too early or too late.',
  );
}

async function checkPooler(
  findings: Findings,
  pooled: Address,
  direct: Address | undefined,
): Promise<void> {
  const isShared = await sharesBackends(createEndpoint(pooled));
  if (!direct) {
    if (isShared) {
      findings.fault(
        'pooler',
        'DATABASE_URL leads through a pooler in transaction mode, which neither listens nor holds a lock.',
        'Set DATABASE_DIRECT_URL to the database itself, past the pooler.',
      );
    } else {
      findings.ok('pooler', 'There is none that shares sessions; statements are prepared by name.');
    }
    return;
  }
  if (await sharesBackends(createEndpoint(direct))) {
    findings.fault(
      'pooler',
      'DATABASE_DIRECT_URL leads through a pooler in transaction mode too.',
      'Let it lead to the database itself.',
    );
  } else if (isShared) {
    findings.ok(
      'pooler',
      'DATABASE_URL leads through one, DATABASE_DIRECT_URL past it; statements have no names.',
    );
  } else {
    findings.warn(
      'pooler',
      'DATABASE_DIRECT_URL is set, and DATABASE_URL does not seem to lead through a pooler in transaction mode.',
      'Without a pooler leave DATABASE_DIRECT_URL out: statements are then prepared, which costs less.',
    );
  }
}
