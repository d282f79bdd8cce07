import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Config } from '../config.ts';
import type { Services } from '../services.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

/** A variable of the configuration, as it may be shown. */
export interface ConfigurationValue {
  readonly name: string;
  readonly value: string;
}

/** The process that answers. */
export const thisNode = {
  version,
  id: `${hostname()}-${process.pid}`,
  nodeVersion: process.versions.node,
} as const;

const startedAt = new WeakMap<Services['metrics'], Date>();

/** Notes when the service started. */
export function noteStart({ metrics, clock }: Pick<Services, 'metrics' | 'clock'>): void {
  startedAt.set(metrics, clock.now());
}

/** When the service started. */
export const startOf = ({ metrics, clock }: Pick<Services, 'metrics' | 'clock'>): Date =>
  startedAt.get(metrics) ?? clock.now();

/** The database's kind and version. */
export async function readDatabaseVersion({ database }: Pick<Services, 'database'>) {
  const [row] = await database.prisma.$queryRaw<{ version: string }[]>`
    SELECT current_setting('server_version') AS "version"`;
  return row?.version ?? '';
}

/** The configuration without its secrets: no database address, no keys, no names or passwords of administrators. */
export function configurationOf({
  config,
  baseUrl,
}: Pick<Services, 'config' | 'baseUrl'>): ConfigurationValue[] {
  const { database, eventSinkUrl } = config;
  const values: Readonly<Record<string, unknown>> = {
    HOST: config.host,
    PORT: config.port,
    BASE_URL: baseUrl,
    TRUST_PROXY: trustOf(config),
    ...(database.kind === 'postgresql'
      ? { DATABASE_POOL_SIZE: database.poolSize, TOKEN_POOL_SIZE: database.tokenPoolSize }
      : { DATA_DIR: database.dataDir }),
    SIGNING_ALG: config.signingAlgorithm,
    EVENT_RETENTION_DAYS: config.eventRetentionDays,
    EVENT_SINK_URL: eventSinkUrl === undefined ? '' : withoutCredentials(eventSinkUrl),
    MAX_CONNECTIONS: config.maxConnections,
    ALLOW_PRIVATE_WEBHOOKS: config.allowPrivateWebhooks,
    WEBHOOK_TIMEOUT_SECONDS: config.webhookTimeoutMs / 1000,
    GRAPHIQL: config.graphiql,
    INTROSPECTION: config.introspection,
    LOG_LEVEL: config.logLevel,
  };
  return Object.entries(values).map(([name, value]) => ({ name, value: String(value) }));
}

const trustOf = ({ trustProxy }: Config): string => [trustProxy].flat().join(',');

function withoutCredentials(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
