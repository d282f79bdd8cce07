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
  DATABASE_POOL_SIZE: 'connections for the management API',
  TOKEN_POOL_SIZE: 'connections for the token endpoint',
  DATA_DIR: 'the embedded database and the generated secret; one process at a time',
  SIGNET_SECRET:
    'the key to all secrets at rest, the same on every node; 32 characters or more. Required with `DATABASE_URL`',
  ADMIN_CLIENT_ID:
    'the id of the admin application, `app_…`. Set id and secret together, to choose them or to replace lost ones',
  ADMIN_CLIENT_SECRET: 'the secret of the admin application, 32 characters or more',
  ADMIN_USERNAME:
    'the user name of the first administrator, created at a start while there is none. Set name and password together',
  ADMIN_PASSWORD: 'the password of that administrator',
  SIGNING_ALG: `${codes(signingAlgorithms)}: the algorithm of new signing keys`,
  EVENT_RETENTION_DAYS: 'how long events are kept',
  EVENT_SINK_URL: '`nats://…`: publishes every event to NATS JetStream; the same on every node',
  MAX_CONNECTIONS:
    'WebSockets and streams of server-sent events that one process holds open at a time',
  ALLOW_PRIVATE_WEBHOOKS: 'whether webhooks may use http and private addresses',
  WEBHOOK_TIMEOUT_SECONDS: 'how long one attempt to deliver may take',
  GRAPHIQL: 'whether GraphiQL is offered',
  INTROSPECTION: 'whether the schema, `/api/openapi.json` and `/api/docs` are offered',
  LOG_LEVEL: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
};

/** Defaults that are not in the environment's schema. */
const computed: Readonly<Partial<Record<Variable, string>>> = {
  BASE_URL: code('http://localhost:$PORT'),
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
