import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { mountAccountPages } from './account/forms/mount.ts';
import { purgeProofs } from './account/purge.ts';
import { bootstrap } from './bootstrap.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { createFirstAdministrator } from './console/administrator.ts';
import { hasAdministrator } from './console/built-in.ts';
import { offerSetup, type SetupFolder } from './console/setup-token.ts';
import { type Database, openPostgresql, useEmbedded } from './db/database.ts';
import { claimDataDir, readOrCreateSecret } from './db/embedded/data-dir.ts';
import { openEmbedded } from './db/embedded/open.ts';
import { assertReachable } from './db/postgresql.ts';
import { isUnreachable } from './db/unreachable.ts';
import { ConflictError, InvalidInputError, StartError } from './errors.ts';
import { purgeEvents } from './events/purge.ts';
import { adoptRestoredLog } from './events/restored.ts';
import { startSink } from './events/sinks/start.ts';
import { startTail } from './events/tail.ts';
import { mountPages } from './experience/forms/mount.ts';
import { purgeInteractions } from './experience/purge.ts';
import { purgeChallenges } from './factors/passkeys/challenges.ts';
import { purgeEnrollments } from './factors/purge.ts';
import { builtConsole, openConsoleFiles } from './http/console/files.ts';
import { mountConsoleGraphQL } from './http/console/graphql.ts';
import { mountConsole } from './http/console/mount.ts';
import { createGraphQLServer, mountGraphQL } from './http/graphql.ts';
import { listen, type Timeouts } from './http/listener.ts';
import { mountOperational } from './http/operational.ts';
import { mountAccount } from './http/people/account.ts';
import { mountExperience } from './http/people/experience.ts';
import { createHttp } from './http/server.ts';
import { createConnections } from './http/subscriptions/connections.ts';
import { mountGraphQLWebSocket } from './http/subscriptions/web-socket.ts';
import { mountWelcome } from './http/welcome.ts';
import { createCipher } from './keys/cipher.ts';
import { canDecrypt, loadSigningKeys } from './keys/signing-keys.ts';
import { purgeMessages } from './messages/purge.ts';
import { startMessages } from './messages/start.ts';
import { mountOidc } from './oidc/mount.ts';
import { followExpiry } from './oidc/provider/storage/expiry.ts';
import { createResolver, type ResolveHost } from './outbound/dns.ts';
import { mountApiDocs } from './rest/docs.ts';
import { mountRest } from './rest/mount.ts';
import { startScheduler } from './scheduler.ts';
import { schema } from './schema.ts';
import { noteStart } from './service-status/about.ts';
import { followFigures, purgeFigures } from './service-status/figures.ts';
import type { Services } from './services.ts';
import { followSigningKeys } from './signing-keys/operations.ts';
import { purgeSubjectTokens } from './subject-tokens/purge.ts';
import { purgeDeliveries } from './webhooks/delivery/purge.ts';
import { startDeliveries } from './webhooks/delivery/start.ts';

/** A running service. */
export interface App {
  /** The URL that it listens on, on this machine. */
  readonly url: string;
  readonly services: Services;
  /** The admin application's credentials, if this start generated them. */
  readonly adminCredentials: AdminCredentials | undefined;
  /** Takes no new connections, waits for running requests, and closes the database. */
  stop(): Promise<void>;
}

/** Credentials of the admin application. */
export interface AdminCredentials {
  readonly id: string;
  readonly secret: string;
}

/** The options of a start. Tests replace parts with them. */
export interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Called with the admin application's credentials as soon as they are written. They cannot be read again. */
  readonly onAdminCredentials?: (credentials: AdminCredentials) => void;
  /** Told of the link with which the first administrator is made, while there is none. */
  readonly onSetupLink?: (url: string) => void;
  /** Where the console was built. */
  readonly consoleFolder?: string;
  readonly timeouts?: Partial<Timeouts>;
  readonly clock?: Clock;
  readonly resolveHost?: ResolveHost;
  /** An open database and its secret. The service does not close it. */
  readonly opened?: { readonly database: Database; readonly secret: string };
}

/**
 * Starts the service.
 *
 * @throws {StartError} with the reason in one line.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, clock = systemClock } = options;
  // Parts close in reverse order. A part that fails to close does not keep the others open; it is reported at the end.
  const opened = new AsyncDisposableStack();
  try {
    const listener = await listen(config, options.timeouts);
    opened.defer(() => listener.close());
    const { database, secret } = options.opened ?? (await openDatabase(config, log, opened));
    // On PostgreSQL the folder may be another on each node, and gone tomorrow.
    const setupFolder = options.opened ? undefined : dataDirOf(config);
    const cipher = createCipher(secret);
    await assertSecretFits(database, cipher);
    const applied = await database.migrate();
    if (applied.length > 0) log.info({ migrations: applied }, 'migrations applied');
    await adoptRestoredLog(database, log);
    const adminCredentials = await bootstrap({ database, clock, cipher, config });
    // Reported at once, because a later failure of the start would lose them.
    if (adminCredentials) options.onAdminCredentials?.(adminCredentials);
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
    opened.defer(followSigningKeys(services));
    opened.defer(followExpiry(services));
    noteStart(services);
    opened.defer(followFigures(services));
    const { http, open } = createHttp(listener, {
      log,
      trustProxy: config.trustProxy,
      baseUrl,
    });
    mountOperational(http, services);
    const files = openConsoleFiles(options.consoleFolder ?? builtConsole);
    mountWelcome(http, services, files);
    await mountOidc(http, services);
    await mountPages(http, services);
    await mountAccountPages(http, services);
    await mountConsole(http, services, { files, setupFolder });
    const tail = await startTail(services);
    opened.defer(() => tail.stop());
    opened.defer(await startSink(services, tail));
    opened.defer(
      startScheduler(services, [
        { name: 'purge-events', everyMs: 60_000, run: (tx) => purgeEvents(services, tx) },
        { name: 'purge-deliveries', everyMs: 60_000, run: (tx) => purgeDeliveries(services, tx) },
        {
          name: 'purge-interactions',
          everyMs: 60_000,
          run: (tx) => purgeInteractions(services, tx),
        },
        { name: 'purge-proofs', everyMs: 60_000, run: (tx) => purgeProofs(services, tx) },
        { name: 'purge-enrollments', everyMs: 60_000, run: (tx) => purgeEnrollments(services, tx) },
        {
          name: 'purge-passkey-challenges',
          everyMs: 60_000,
          run: (tx) => purgeChallenges(services, tx),
        },
        { name: 'purge-messages', everyMs: 60_000, run: (tx) => purgeMessages(services, tx) },
        {
          name: 'purge-subject-tokens',
          everyMs: 60_000,
          run: (tx) => purgeSubjectTokens(services, tx),
        },
        { name: 'purge-figures', everyMs: 60_000, run: (tx) => purgeFigures(services, tx) },
      ]),
    );
    const connections = createConnections(services);
    opened.defer(() => connections.stop());
    const graphql = createGraphQLServer(services, connections, tail);
    mountGraphQL(http, services, graphql);
    mountConsoleGraphQL(http, services, graphql);
    await mountExperience(http, services);
    await mountAccount(http, services);
    await mountRest(http, services);
    if (config.introspection) mountApiDocs(http, services);
    opened.defer(await startDeliveries(services, schema, tail));
    opened.defer(startMessages(services));
    const setupLink = await prepareSetup(services, setupFolder);
    await open();
    if (setupLink !== undefined) options.onSetupLink?.(setupLink);
    const refuseUpgrades = mountGraphQLWebSocket(listener.server, services, graphql, connections);
    // Registered last and so closed first: open connections may still need every other part.
    opened.defer(async () => {
      refuseUpgrades();
      const closed = listener.close();
      await connections.stop();
      await closed;
    });
    return {
      url: `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${listener.port}`,
      services,
      adminCredentials,
      stop: () => closeAll(opened),
    };
  } catch (error) {
    await closeAll(opened).catch((err: unknown) => log.error({ err }, 'the stop failed'));
    if (error instanceof StartError || !isUnreachable(error)) throw error;
    throw new StartError('the database went away meanwhile', { cause: error });
  }
}

/** Makes the first administrator whom the configuration names, or the link to a page where one is made. */
async function prepareSetup(services: Services, folder: SetupFolder): Promise<string | undefined> {
  const { administrator } = services.config;
  if (administrator && !(await hasAdministrator(services.database.prisma))) {
    try {
      await createFirstAdministrator(services, administrator, async () => true);
    } catch (cause) {
      if (!(cause instanceof InvalidInputError || cause instanceof ConflictError)) throw cause;
      throw new StartError(
        `ADMIN_USERNAME and ADMIN_PASSWORD cannot be used for the first administrator: ${cause.message}`,
        { cause },
      );
    }
  }
  const token = await offerSetup(services, folder);
  return token === undefined ? undefined : `${services.baseUrl}/console/setup?token=${token}`;
}

async function closeAll(opened: AsyncDisposableStack): Promise<void> {
  try {
    await opened.disposeAsync();
  } catch (error) {
    // The log would not show the errors inside a SuppressedError.
    throw new AggregateError(faultsIn(error), 'Not every part could stop.');
  }
}

const faultsIn = (error: unknown): unknown[] =>
  error instanceof SuppressedError
    ? [...faultsIn(error.suppressed), ...faultsIn(error.error)]
    : [error];

const dataDirOf = ({ database }: Config) =>
  database.kind === 'embedded' ? database.dataDir : undefined;

async function openDatabase(
  config: Config,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<{ database: Database; secret: string }> {
  if (config.database.kind === 'postgresql') {
    const { url, poolSize, tokenPoolSize } = config.database;
    await assertReachable(url);
    const onError = (error: Error) => log.warn({ err: error }, 'a database connection broke');
    const database = openPostgresql({ url, poolSize, tokenPoolSize, onError });
    opened.defer(() => database.close());
    if (!config.secret) throw new StartError('SIGNET_SECRET is required with DATABASE_URL');
    return { database, secret: config.secret };
  }
  const dataDir = await claimDataDir(config.database.dataDir);
  opened.defer(() => dataDir.release());
  const database = useEmbedded(await openEmbedded({ dataDir: `${dataDir.path}/database` }));
  opened.defer(() => database.close());
  return { database, secret: config.secret ?? (await readOrCreateSecret(dataDir)) };
}

async function assertSecretFits({ prisma }: Database, cipher: ReturnType<typeof createCipher>) {
  // Checked before the migrations, so that a database with another secret is left unchanged.
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
