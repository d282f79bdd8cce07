import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Services } from './auth/context.ts';
import { bootstrap } from './bootstrap.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { claimDataDir, readOrCreateSecret } from './db/data-dir.ts';
import { type Database, openPostgresql, useEmbedded } from './db/database.ts';
import { openEmbedded } from './db/embedded.ts';
import { assertReachable } from './db/postgresql.ts';
import { createResolver, type ResolveHost } from './dns.ts';
import { StartError } from './errors.ts';
import { purgeEvents } from './events/purge.ts';
import { adoptRestoredLog } from './events/restored.ts';
import { startSink } from './events/sinks/start.ts';
import { startTail } from './events/tail.ts';
import { registerSignIn } from './experience/sign-in.ts';
import { createGraphQLServer, registerGraphQL } from './http/graphql.ts';
import { registerGraphQLWebSocket } from './http/graphql-ws.ts';
import { registerOperational } from './http/operational.ts';
import { registerRest } from './http/rest.ts';
import { createHttp, listen } from './http/server.ts';
import { createConnections } from './http/subscriptions.ts';
import { createCipher } from './keys/cipher.ts';
import { canDecrypt, loadSigningKeys } from './keys/signing-keys.ts';
import { followExpiry } from './oidc/expiry.ts';
import { registerOidc } from './oidc/routes.ts';
import { startScheduler } from './scheduler.ts';
import { schema } from './schema.ts';
import { followSigningKeys } from './signing-keys/operations.ts';
import { startDispatcher } from './webhooks/dispatcher.ts';
import { purgeDeliveries } from './webhooks/purge.ts';

/** A running service. */
export interface App {
  /** Where it listens, on this machine. */
  readonly url: string;
  readonly services: Services;
  /** The admin application's credentials, where this start generated them. */
  readonly adminCredentials: { readonly id: string; readonly secret: string } | undefined;
  /** Takes no new connections, lets what is in flight end, and closes the database. */
  stop(): Promise<void>;
}

/** What a start can be given in place of the real thing. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly clock?: Clock;
  readonly resolveHost?: ResolveHost;
  /** A database that is open already, and its secret; it is not closed with the service. */
  readonly opened?: { readonly database: Database; readonly secret: string };
}

/**
 * Starts the service.
 *
 * @throws {StartError} saying in one line why it cannot start; nothing was written.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, clock = systemClock } = options;
  const closers: (() => Promise<void> | void)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const listener = await listen(config);
    closers.push(() => listener.close());
    const { database, secret } = options.opened ?? (await openDatabase(config, log, closers));
    const cipher = createCipher(secret);
    await assertSecretFits(database, cipher);
    const applied = await database.migrate();
    if (applied.length > 0) log.info({ migrations: applied }, 'migrations applied');
    await adoptRestoredLog(database, log);
    const adminCredentials = await bootstrap({ database, clock, cipher, config });
    const keys = await loadSigningKeys({ prisma: database.prisma, cipher, clock });

    const baseUrl = config.baseUrl ?? `http://localhost:${listener.port}`;
    const services: Services = {
      config,
      baseUrl,
      issuer: `${baseUrl}/oidc`,
      clock,
      log,
      database,
      cipher,
      keys,
      metrics: new Registry(),
      resolveHost: options.resolveHost ?? createResolver(),
    };
    closers.push(followSigningKeys(services));
    closers.push(followExpiry(services));
    const http = createHttp(listener, {
      log,
      trustProxy: config.trustProxy,
      isHttps: baseUrl.startsWith('https:'),
    });
    registerOperational(http, services);
    await registerOidc(http, services);
    await registerSignIn(http, services);
    const tail = await startTail(services);
    closers.push(() => tail.stop());
    closers.push(await startSink(services, tail));
    closers.push(
      startScheduler(services, [
        { name: 'purge-events', everyMs: 60_000, run: (tx) => purgeEvents(services, tx) },
        { name: 'purge-deliveries', everyMs: 60_000, run: (tx) => purgeDeliveries(services, tx) },
      ]),
    );
    const connections = createConnections(services);
    closers.push(() => connections.stop());
    const graphql = createGraphQLServer(services, connections, tail);
    registerGraphQL(http, graphql);
    const refuseUpgrades = registerGraphQLWebSocket(
      listener.server,
      services,
      graphql,
      connections,
    );
    await registerRest(http, services);
    const webhooks = await startDispatcher(services, schema, tail);
    closers.push(() => webhooks.stop());
    await http.ready();
    // The first thing to happen at a stop: whoever is connected may still need all the rest.
    closers.push(async () => {
      refuseUpgrades();
      const closed = listener.close();
      await connections.stop();
      await closed;
    });
    return {
      url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${listener.port}`,
      services,
      adminCredentials,
      stop: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function openDatabase(
  config: Config,
  log: Logger,
  closers: (() => Promise<void> | void)[],
): Promise<{ database: Database; secret: string }> {
  if (config.database.kind === 'postgresql') {
    const { url, poolSize, tokenPoolSize } = config.database;
    await assertReachable(url);
    const onError = (error: Error) => log.warn({ err: error }, 'a database connection broke');
    const database = openPostgresql({ url, poolSize, tokenPoolSize, onError });
    closers.push(() => database.close());
    if (!config.secret) throw new StartError('SIGNET_SECRET is required with DATABASE_URL');
    return { database, secret: config.secret };
  }
  const dataDir = await claimDataDir(config.database.dataDir);
  closers.push(() => dataDir.release());
  const database = useEmbedded(await openEmbedded({ dataDir: `${dataDir.path}/database` }));
  closers.push(() => database.close());
  return { database, secret: config.secret ?? (await readOrCreateSecret(dataDir)) };
}

async function assertSecretFits({ prisma }: Database, cipher: ReturnType<typeof createCipher>) {
  // Before the migrations: a database whose secret is another is not to be touched.
  const [row] = await prisma.$queryRaw<{ exists: boolean }[]>`
    SELECT to_regclass('"SigningKey"') IS NOT NULL AS "exists"`;
  if (!row?.exists) return;
  const key = await prisma.signingKey.findFirst({ select: { id: true, privateJwk: true } });
  if (key && !canDecrypt(cipher, key)) {
    throw new StartError(
      'SIGNET_SECRET is not the one that the keys in this database were encrypted with',
    );
  }
}
