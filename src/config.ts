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

const environment = z
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
    SIGNET_SECRET: z.string().min(1).optional(),
    ADMIN_CLIENT_ID: z
      .string()
      .refine(
        (value) => kindOfId(value) === 'Application',
        'must be a TypeID that begins with app_',
      )
      .optional(),
    ADMIN_CLIENT_SECRET: z.string().min(32, 'must have at least 32 characters').optional(),
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
    TRUST_PROXY: flag,
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
    if (value.ADMIN_CLIENT_SECRET && !value.ADMIN_CLIENT_ID) {
      demand('ADMIN_CLIENT_ID', 'is required with ADMIN_CLIENT_SECRET');
    }
  });

/** The environment is not one to start in: one fault a variable, by name and never by value. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * Reads the environment.
 *
 * @throws {ConfigurationError} naming every variable at fault.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  // An empty variable is one that was not set: `PORT= npm start`, or a line left blank in a compose file.
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
    /** Absent: `http://localhost:` and the port it really listens on. */
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
    signingAlgorithm: variables.SIGNING_ALG,
    eventRetentionDays: variables.EVENT_RETENTION_DAYS,
    /** NATS JetStream, which gets every event; absent: none. */
    eventSinkUrl: variables.EVENT_SINK_URL,
    /** WebSockets and streams of server-sent events that this process holds open at a time. */
    maxConnections: variables.MAX_CONNECTIONS,
    allowPrivateWebhooks: variables.ALLOW_PRIVATE_WEBHOOKS,
    webhookTimeoutMs: variables.WEBHOOK_TIMEOUT_SECONDS * 1000,
    graphiql: variables.GRAPHIQL,
    introspection: variables.INTROSPECTION,
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

/** How the process was told to run. */
export type Config = Readonly<ReturnType<typeof readConfig>>;
