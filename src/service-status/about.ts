import { hostname } from 'node:os';
import type { Config } from '../config.ts';
import { version } from '../metrics/version.ts';
import type { Services } from '../services.ts';

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
  const { database, replicas, eventSinkUrl } = config;
  const values: Readonly<Record<string, unknown>> = {
    HOST: config.host,
    PORT: config.port,
    BASE_URL: baseUrl,
    TRUST_PROXY: trustOf(config),
    ...(database.kind === 'postgresql'
      ? {
          DATABASE_POOL_SIZE: database.poolSize,
          TOKEN_POOL_SIZE: database.tokenPoolSize,
          ...(replicas && { REPLICA_MAX_LAG_MS: replicas.maxLagMs }),
        }
      : { DATA_DIR: database.dataDir }),
    SIGNING_ALG: config.signingAlgorithm,
    SIGNING_KEY_LEAD_SECONDS: config.signingKeyLeadSeconds,
    EVENT_RETENTION_DAYS: config.eventRetentionDays,
    AUDIT_RETENTION_DAYS: config.auditRetentionDays,
    EVENT_SINK_URL: eventSinkUrl === undefined ? '' : withoutCredentials(eventSinkUrl),
    WORKERS: config.workers,
    MAX_CONNECTIONS: config.maxConnections,
    MAX_QUEUE_MS: config.maxQueueMs,
    SHUTDOWN_DELAY_MS: config.shutdownDelayMs,
    ALLOW_PRIVATE_WEBHOOKS: config.allowPrivateWebhooks,
    WEBHOOK_TIMEOUT_SECONDS: config.webhookTimeoutMs / 1000,
    GRAPHIQL: config.graphiql,
    INTROSPECTION: config.introspection,
    MCP: config.mcp,
    LOG_LEVEL: config.logLevel,
  };
  return Object.entries(values).map(([name, value]) => ({ name, value: String(value) }));
}

const trustOf = ({ trustProxy }: Config): string => [trustProxy].flat().join(',');

function withoutCredentials(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
