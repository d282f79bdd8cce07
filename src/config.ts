import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { kindOfId } from './ids.ts';

/** Algorithms that a signing key can be made for (RFC 7518 §3.1, RFC 8037). */
export const signingAlgorithms = ['ES256', 'ES384', 'EdDSA', 'RS256', 'PS256'] as const;

/** One of the algorithms that a signing key can be made for. */
export type SigningAlgorithm = (typeof signingAlgorithms)[number];

const flag = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true');
const count = (fallback: number, least = 1) => z.coerce.number().int().min(least).default(fallback);

// An address, or a network of them in CIDR notation.
function isNetwork(text: string): boolean {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    length === undefined ||
    (/^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128))
  );
}

const trustedProxies = z
  .string()
  .default('false')
  .transform((value, context): false | number | string[] => {
    const fault = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    const text = value.trim();
    if (text === 'false') return false;
    if (text === 'true') {
      return fault(
        'must not be true, which would take the address that a client claims for its own: give how many proxies are in front, or their networks',
      );
    }
    if (/^\d{1,2}$/.test(text)) return Number(text) || false;
    const networks = text.split(',').map((network) => network.trim());
    return networks.every(isNetwork)
      ? networks
      : fault(
          'must be false, a number of proxies up to 99, or a list of addresses and networks such as 10.0.0.0/8,::1',
        );
  });

const leastSecretLength = 32;
// 32 random hexadecimal digits hold fewer than that once in ten million.
const leastSecretVariety = 8;
const secret = z
  .string()
  .min(leastSecretLength, `must have at least ${leastSecretLength} characters`)
  .refine(
    (value) => new Set(value).size >= leastSecretVariety && !/^(.{1,8})\1+$/s.test(value),
    'must be random: it repeats too few characters',
  );

const urlParts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;
const wantedHost = 'target_session_attrs';

/**
 * The URLs of a database, one for each host that its URL names, as libpq reads it: `postgres://a:5432,b:5432/signet`.
 * `target_session_attrs` may only be `read-write`, and is left out: nothing else can be meant.
 *
 * @returns Undefined if it is not such a URL.
 */
export function urlsOfHosts(url: string): readonly [string, ...string[]] | undefined {
  const [, start, hosts, rest] = urlParts.exec(url) ?? [];
  if (start === undefined || hosts === undefined || rest === undefined) return undefined;
  const urls = hosts.split(',').map((host) => {
    const text = `${start}${host}${rest}`;
    const parsed = URL.parse(text);
    const wanted = parsed?.searchParams.get(wantedHost);
    if (!parsed || (!host && hosts)) return undefined;
    if (wanted == null) return text;
    parsed.searchParams.delete(wantedHost);
    return wanted === 'read-write' ? parsed.href : undefined;
  });
  const [first, ...others] = urls;
  if (first === undefined || others.includes(undefined)) return undefined;
  return [first, ...(others as string[])];
}

const databaseUrl = z
  .string()
  .refine(
    (value) => urlsOfHosts(value) !== undefined,
    'must be a postgres:// URL; its target_session_attrs can only be read-write',
  )
  .optional();

const replicaUrls = z
  .string()
  .transform((value) => value.split(',').map((url) => url.trim()))
  .refine(
    (urls) =>
      urls.every(
        (url) => urlsOfHosts(url) !== undefined && !URL.parse(url)?.searchParams.has(wantedHost),
      ),
    'must be a comma-separated list of postgres:// URLs, with one host each and no target_session_attrs; a comma in a password is written as %2C',
  )
  .optional();

/** Every variable and its rules. */
export const environment = z
  .object({
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
    BASE_URL: z
      .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
      .refine((value) => !/[?#]/.test(value), 'must have neither a query nor a fragment')
      .transform((value) => value.replace(/\/+$/, ''))
      .optional(),
    DATABASE_URL: databaseUrl,
    DATABASE_DIRECT_URL: databaseUrl,
    DATABASE_REPLICA_URLS: replicaUrls,
    REPLICA_MAX_LAG_MS: count(1_000),
    DATABASE_PASSWORD_FILE: z.string().optional(),
    DATABASE_POOL_SIZE: count(10),
    TOKEN_POOL_SIZE: count(10),
    DATA_DIR: z.string().min(1).default('./data'),
    SIGNET_SECRET: secret.optional(),
    SIGNET_SECRET_PREVIOUS: secret.optional(),
    ADMIN_CLIENT_ID: z
      .string()
      .refine(
        (value) => kindOfId(value) === 'Application',
        'must be a TypeID that begins with app_',
      )
      .optional(),
    ADMIN_CLIENT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
    ADMIN_USERNAME: z.string().max(128).optional(),
    ADMIN_PASSWORD: z.string().max(256).optional(),
    SIGNING_ALG: z.enum(signingAlgorithms).default('ES256'),
    // A week: some verifiers hold the key set for as long.
    SIGNING_KEY_LEAD_SECONDS: z.coerce.number().int().min(0).max(604_800).default(60),
    EVENT_RETENTION_DAYS: count(90),
    AUDIT_RETENTION_DAYS: z.coerce.number().int().min(1).optional(),
    EVENT_SINK_URL: z
      .url({ protocol: /^(nats|tls)$/, error: 'must be a nats:// or tls:// URL' })
      .optional(),
    WORKERS: z
      .union([z.literal('auto'), z.coerce.number().int().min(1)], {
        error: 'must be a whole number of at least 1, or auto',
      })
      .default(1),
    MAX_CONNECTIONS: count(10_000),
    MAX_QUEUE_MS: count(1_000),
    SHUTDOWN_DELAY_MS: count(0, 0),
    ALLOW_PRIVATE_WEBHOOKS: flag,
    WEBHOOK_TIMEOUT_SECONDS: count(15),
    EMAIL_CODES_PER_MINUTE: count(1_000),
    SMS_CODES_PER_MINUTE: count(100),
    GRAPHIQL: z
      .enum(['true', 'false'])
      .default('true')
      .transform((value) => value === 'true'),
    INTROSPECTION: z
      .enum(['true', 'false'])
      .default('true')
      .transform((value) => value === 'true'),
    MCP: flag,
    TRUST_PROXY: trustedProxies,
    LOG_LEVEL: z
      .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
      .default('info'),
  })
  .superRefine((value, context) => {
    const demand = (variable: string, message: string) =>
      context.addIssue({ code: 'custom', path: [variable], message });
    if (value.DATABASE_URL && !value.SIGNET_SECRET) {
      demand('SIGNET_SECRET', 'is required with DATABASE_URL: every node must use the same one');
    }
    if (value.SIGNET_SECRET_PREVIOUS && value.SIGNET_SECRET_PREVIOUS === value.SIGNET_SECRET) {
      demand('SIGNET_SECRET_PREVIOUS', 'must be another one than SIGNET_SECRET');
    }
    if ((value.AUDIT_RETENTION_DAYS ?? Number.POSITIVE_INFINITY) < value.EVENT_RETENTION_DAYS) {
      demand('AUDIT_RETENTION_DAYS', 'must be at least EVENT_RETENTION_DAYS');
    }
    for (const variable of [
      'DATABASE_DIRECT_URL',
      'DATABASE_REPLICA_URLS',
      'DATABASE_PASSWORD_FILE',
    ] as const) {
      if (value[variable] && !value.DATABASE_URL) {
        demand('DATABASE_URL', `is required with ${variable}`);
      }
    }
    if (value.ADMIN_CLIENT_ID && !value.ADMIN_CLIENT_SECRET) {
      demand('ADMIN_CLIENT_SECRET', 'is required with ADMIN_CLIENT_ID');
    }
    if (value.ADMIN_USERNAME && !value.ADMIN_PASSWORD) {
      demand('ADMIN_PASSWORD', 'is required with ADMIN_USERNAME');
    }
    if (value.ADMIN_PASSWORD && !value.ADMIN_USERNAME) {
      demand('ADMIN_USERNAME', 'is required with ADMIN_PASSWORD');
    }
    if (value.ADMIN_CLIENT_SECRET && !value.ADMIN_CLIENT_ID) {
      demand('ADMIN_CLIENT_ID', 'is required with ADMIN_CLIENT_SECRET');
    }
  });

/** The environment has faults: one for each variable, by name and never by value. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The variables that are set. An empty one is not: `PORT= npm start`, or a blank line in a compose file. */
export const withoutEmpty = (
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));

/** The faults of variables, by name and never by value. */
export const describeFaults = ({ issues }: z.core.$ZodError): string =>
  issues.map((issue) => `${issue.path.join('.')} ${describeIssue(issue)}`).join('; ');

/**
 * Reads the environment.
 *
 * @param machine.cores How many workers `auto` means.
 * @throws {ConfigurationError} naming every variable at fault.
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  { cores = availableParallelism() }: { readonly cores?: number } = {},
) {
  const parsed = environment.safeParse(withoutEmpty(env));
  if (!parsed.success) throw new ConfigurationError(describeFaults(parsed.error));
  const variables = parsed.data;
  const workers = variables.WORKERS === 'auto' ? cores : variables.WORKERS;
  if (workers > 1 && !variables.DATABASE_URL) {
    throw new ConfigurationError(
      'WORKERS must be 1 with the embedded database, which one process opens; DATABASE_URL names a PostgreSQL',
    );
  }
  return {
    host: variables.HOST,
    port: variables.PORT,
    /** Absent: `http://localhost:` and the port it listens on. */
    baseUrl: variables.BASE_URL,
    database: variables.DATABASE_URL
      ? {
          kind: 'postgresql' as const,
          url: variables.DATABASE_URL,
          /** Past the pooler; absent: there is none. */
          directUrl: variables.DATABASE_DIRECT_URL,
          passwordFile: variables.DATABASE_PASSWORD_FILE,
          poolSize: variables.DATABASE_POOL_SIZE,
          tokenPoolSize: variables.TOKEN_POOL_SIZE,
        }
      : { kind: 'embedded' as const, dataDir: variables.DATA_DIR },
    /** The replicas that queries may read; absent: the primary alone. */
    replicas: variables.DATABASE_REPLICA_URLS && {
      urls: variables.DATABASE_REPLICA_URLS,
      maxLagMs: variables.REPLICA_MAX_LAG_MS,
    },
    /** Absent: generated into the data folder. */
    secret: variables.SIGNET_SECRET,
    /** The secret of before, or the coming one: it still decrypts. */
    previousSecret: variables.SIGNET_SECRET_PREVIOUS,
    adminClient:
      variables.ADMIN_CLIENT_ID && variables.ADMIN_CLIENT_SECRET
        ? { id: variables.ADMIN_CLIENT_ID, secret: variables.ADMIN_CLIENT_SECRET }
        : undefined,
    /** Who becomes the first administrator at the start, while there is none. */
    administrator:
      variables.ADMIN_USERNAME && variables.ADMIN_PASSWORD
        ? { username: variables.ADMIN_USERNAME, password: variables.ADMIN_PASSWORD }
        : undefined,
    signingAlgorithm: variables.SIGNING_ALG,
    /** How long a new signing key is published before it signs, in seconds. */
    signingKeyLeadSeconds: variables.SIGNING_KEY_LEAD_SECONDS,
    eventRetentionDays: variables.EVENT_RETENTION_DAYS,
    auditRetentionDays: variables.AUDIT_RETENTION_DAYS ?? variables.EVENT_RETENTION_DAYS,
    /** The NATS JetStream server that gets every event; absent: none. */
    eventSinkUrl: variables.EVENT_SINK_URL,
    /** How many processes answer requests. */
    workers,
    /** How long a request waits for its turn before it is refused. */
    maxQueueMs: variables.MAX_QUEUE_MS,
    /** How long connections are taken after the service was told to stop. */
    shutdownDelayMs: variables.SHUTDOWN_DELAY_MS,
    /** The most WebSockets and server-sent event streams that this process holds open at once. */
    maxConnections: variables.MAX_CONNECTIONS,
    allowPrivateWebhooks: variables.ALLOW_PRIVATE_WEBHOOKS,
    webhookTimeoutMs: variables.WEBHOOK_TIMEOUT_SECONDS * 1000,
    /** The most codes that the whole service sends, by channel. */
    codesPerMinute: {
      EMAIL: variables.EMAIL_CODES_PER_MINUTE,
      SMS: variables.SMS_CODES_PER_MINUTE,
    },
    graphiql: variables.GRAPHIQL,
    introspection: variables.INTROSPECTION,
    /** Whether programs that use tools are served, at `/mcp`. */
    mcp: variables.MCP,
    /** The number of trusted proxies in front, or their networks. */
    trustProxy: variables.TRUST_PROXY,
    logLevel: variables.LOG_LEVEL,
  };
}

// Zod quotes what it received in some messages; a variable's value may be a secret.
function describeIssue(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`}`;
    case 'too_small':
      return issue.origin === 'number' ? `must be at least ${issue.minimum}` : issue.message;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    default:
      return issue.message;
  }
}

/** The configuration of the process. */
export type Config = Readonly<ReturnType<typeof readConfig>>;
