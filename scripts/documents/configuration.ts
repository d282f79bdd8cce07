import { environment, signingAlgorithms } from '../../src/config.ts';
import { code, codes, table } from './markdown.ts';

type Variable = keyof typeof environment.shape;

/** The meaning of each variable. The compiler refuses a missing or an unknown one. */
const meanings: Readonly<Record<Variable, string>> = {
  HOST: 'the address it listens on; `0.0.0.0` for all',
  PORT: 'the port it listens on',
  BASE_URL: 'the public URL; the issuer is this URL followed by `/oidc`',
  TRUST_PROXY:
    'the number of trusted proxies in front, or a list of their networks; the client’s address is the one that the outermost of them reports',
  DATABASE_URL: 'PostgreSQL, 15 or later; absent: an embedded PostgreSQL in `DATA_DIR`',
  DATABASE_DIRECT_URL:
    'past the pooler, if `DATABASE_URL` leads through one: for listening, locks and migrations',
  DATABASE_REPLICA_URLS:
    'streaming replicas that [queries may read](docs/operating.md#read-replicas), separated by commas',
  REPLICA_MAX_LAG_MS:
    'how far behind a replica may be, in milliseconds; beyond that it is not read',
  DATABASE_PASSWORD_FILE:
    'a file with the password for these URLs, read again for each connection; a newline at its end is left out',
  DATABASE_POOL_SIZE: 'connections for the management API, of each worker',
  TOKEN_POOL_SIZE: 'connections for the token endpoint, of each worker',
  DATA_DIR: 'the embedded database and the generated secret; one process at a time',
  SIGNET_SECRET:
    'the key to all secrets at rest, the same on every node; 32 characters or more. Required with `DATABASE_URL`',
  SIGNET_SECRET_PREVIOUS:
    'while you [change the secret](docs/operating.md#change-a-secret): the one before, or on the way there the coming one. What it encrypted can be read, and is encrypted anew with `SIGNET_SECRET`. Without it, there is one secret',
  ADMIN_CLIENT_ID:
    'the id of the admin application, `app_…`. Set id and secret together, to choose them or to replace lost ones',
  ADMIN_CLIENT_SECRET: 'the secret of the admin application, 32 characters or more',
  ADMIN_USERNAME:
    'the user name of the first administrator, created at a start while there is none. Set name and password together',
  ADMIN_PASSWORD: 'the password of that administrator',
  SIGNING_ALG: `${codes(signingAlgorithms)}: the algorithm of new signing keys`,
  SIGNING_KEY_LEAD_SECONDS:
    'how long a new signing key is published before it signs, in seconds, so that verifiers know it by then',
  EVENT_RETENTION_DAYS: 'how long events are kept',
  AUDIT_RETENTION_DAYS:
    'how long events of the [audit](docs/event-types.md) are kept; not less than `EVENT_RETENTION_DAYS`. Raise it once every node has this version',
  EVENT_SINK_URL: '`nats://…`: publishes every event to NATS JetStream; the same on every node',
  WORKERS:
    'processes that answer requests on the port; `auto`: as many as there are cores. More than 1 needs `DATABASE_URL`',
  MAX_QUEUE_MS:
    'the longest that a request waits for its turn, in milliseconds; after that it is refused with 503',
  SHUTDOWN_DELAY_MS:
    'how long requests are still taken after SIGTERM, in milliseconds, while `/readyz` answers 503',
  MAX_CONNECTIONS:
    'WebSockets and streams of server-sent events that one process holds open at a time',
  ALLOW_PRIVATE_WEBHOOKS:
    'whether webhooks, senders and identity providers may use http and private addresses',
  WEBHOOK_TIMEOUT_SECONDS: 'how long one attempt to deliver may take',
  EMAIL_CODES_PER_MINUTE:
    'codes by e-mail that the whole service sends, averaged over ten minutes; the same on every node',
  SMS_CODES_PER_MINUTE: 'the same by SMS',
  GRAPHIQL: 'whether GraphiQL is offered',
  INTROSPECTION: 'whether the schema, `/api/openapi.json` and `/api/docs` are offered',
  MCP: 'whether programs that use tools are served at [`/mcp`](docs/mcp.md) (Model Context Protocol)',
  LOG_LEVEL: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
};

/** Defaults that are not in the environment's schema. */
const computed: Readonly<Partial<Record<Variable, string>>> = {
  BASE_URL: code('http://localhost:$PORT'),
  AUDIT_RETENTION_DAYS: code('$EVENT_RETENTION_DAYS'),
  SIGNET_SECRET: 'generated into `DATA_DIR/secret`',
  ADMIN_CLIENT_ID: 'generated, printed at the first start',
  ADMIN_CLIENT_SECRET: 'generated, printed at the first start',
};

/** Every variable with its default and its meaning. */
export function configurationTable(): string {
  const defaults = environment.parse({}) as Readonly<Record<Variable, unknown>>;
  return table(
    ['variable', 'default', 'meaning'],
    (Object.keys(meanings) as Variable[]).map((variable) => {
      const value = defaults[variable];
      const shown = computed[variable] ?? (value === undefined ? 'none' : code(String(value)));
      return [code(variable), shown, meanings[variable]];
    }),
  );
}
