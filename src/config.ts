import { isIP } from 'node:net';
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
    DATABASE_URL: z
      .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' })
      .optional(),
    DATABASE_POOL_SIZE: count(10),
    TOKEN_POOL_SIZE: count(10),
    DATA_DIR: z.string().min(1).default('./data'),
    SIGNET_SECRET: secret.optional(),
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
    EVENT_RETENTION_DAYS: count(90),
    EVENT_SINK_URL: z
      .url({ protocol: /^(nats|tls)$/, error: 'must be a nats:// or tls:// URL' })
      .optional(),
    MAX_CONNECTIONS: count(10_000),
    ALLOW_PRIVATE_WEBHOOKS: flag,
    WEBHOOK_TIMEOUT_SECONDS: count(15),
    GRAPHIQL: z
      .enum(['true', 'false'])
      .default('true')
      .transform((value) => value === 'true'),
    INTROSPECTION: z
      .enum(['true', 'false'])
      .default('true')
      .transform((value) => value === 'true'),
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

/**
 * Reads the environment.
 *
 * @throws {ConfigurationError} naming every variable at fault.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  // An empty variable counts as not set: `PORT= npm start`, or a blank line in a compose file.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `${issue.path.join('.')} ${describeIssue(issue)}`,
    );
    throw new ConfigurationError(faults.join('; '));
  }
  const variables = parsed.data;
  return {
    host: variables.HOST,
    port: variables.PORT,
    /** Absent: `http://localhost:` and the port it listens on. */
    baseUrl: variables.BASE_URL,
    database: variables.DATABASE_URL
      ? {
          kind: 'postgresql' as const,
          url: variables.DATABASE_URL,
          poolSize: variables.DATABASE_POOL_SIZE,
          tokenPoolSize: variables.TOKEN_POOL_SIZE,
        }
      : { kind: 'embedded' as const, dataDir: variables.DATA_DIR },
    /** Absent: generated into the data folder. */
    secret: variables.SIGNET_SECRET,
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
    eventRetentionDays: variables.EVENT_RETENTION_DAYS,
    /** The NATS JetStream server that gets every event; absent: none. */
    eventSinkUrl: variables.EVENT_SINK_URL,
    /** The most WebSockets and server-sent event streams that this process holds open at once. */
    maxConnections: variables.MAX_CONNECTIONS,
    allowPrivateWebhooks: variables.ALLOW_PRIVATE_WEBHOOKS,
    webhookTimeoutMs: variables.WEBHOOK_TIMEOUT_SECONDS * 1000,
    graphiql: variables.GRAPHIQL,
    introspection: variables.INTROSPECTION,
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
