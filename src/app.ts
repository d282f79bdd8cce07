import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { mountAccountPages } from './account/site/mount.ts';
import { measurePressure } from './admission/pressure.ts';
import { type Pressure, Turns } from './admission/turns.ts';
import { mountProtectedResources } from './auth/protected-resource.ts';
import { mountAuthZen } from './authzen/mount.ts';
import { bootstrap } from './bootstrap.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { createFirstAdministrator } from './console/administrator.ts';
import { hasAdministrator } from './console/roles.ts';
import { offerSetup, type SetupFolder } from './console/setup-token.ts';
import { connectionsBeside, type PoolSizes, poolsWithin } from './db/connections/fitness.ts';
import { type Database, openEmbeddedDatabase, openPostgresql } from './db/database.ts';
import { claimDataDir, readOrCreateSecret } from './db/embedded/data-dir.ts';
import { spellDomains } from './db/migrations/domain-spellings.ts';
import { liftSequences } from './db/migrations/sequences.ts';
import { assertReachable } from './db/postgresql.ts';
import { isUnreachable } from './db/unreachable.ts';
import { ConflictError, InvalidInputError, StartError } from './errors.ts';
import { adoptRestoredLog, followRestores } from './events/restored.ts';
import { startTail } from './events/tail.ts';
import { mountPages } from './experience/site/mount.ts';
import { builtConsole, openConsoleFiles } from './http/console/files.ts';
import { mountConsoleGraphQL } from './http/console/graphql.ts';
import { mountConsole } from './http/console/mount.ts';
import { createGraphQLServer, mountGraphQL } from './http/graphql.ts';
import { type Accepted, addressOf, listen, type Timeouts } from './http/listener.ts';
import { mountOperational } from './http/operational.ts';
import { mountAccount } from './http/people/account.ts';
import { mountExperience } from './http/people/experience.ts';
import { createHttp } from './http/server.ts';
import { createConnections } from './http/subscriptions/connections.ts';
import { mountGraphQLWebSocket } from './http/subscriptions/web-socket.ts';
import { mountWelcome } from './http/welcome.ts';
import { createSealing } from './keys/cipher.ts';
import { openKeptKeys } from './keys/kept-keys.ts';
import { loadSigningKeys } from './keys/signing-keys.ts';
import { mountMcp } from './mcp/mount.ts';
import { mountOidc } from './oidc/mount.ts';
import { createResolver, type ResolveHost } from './outbound/dns.ts';
import { startRefusals } from './protection/refusals/start.ts';
import { placeSpellings } from './resources/spellings.ts';
import { mountApiDocs } from './rest/docs.ts';
import { mountRest } from './rest/mount.ts';
import { assertNothingNeedsAnother, assertSecretFits } from './secret-rotation/fits.ts';
import { noteUse } from './secret-rotation/use.ts';
import { noteStart } from './service-status/about.ts';
import { followClock } from './service-status/clock.ts';
import { followFigures } from './service-status/figures.ts';
import { joinNodes } from './service-status/nodes.ts';
import type { PasswordCost, Services } from './services.ts';
import { followSigningKeys } from './signing-keys/operations.ts';
import { shareHashQueue } from './users/hash-queue.ts';
import { standardPasswordCost } from './users/password.ts';
import { createBackground } from './workers/background.ts';

/** A running service. */
export interface App {
  /** The URL that it listens on, on this machine. */
  readonly url: string;
  readonly services: Services;
  /** The admin application's credentials, if this start generated them. */
  readonly adminCredentials: AdminCredentials | undefined;
  /** Does the work that no request waits for, from now on. */
  startBackground(): Promise<void>;
  /** Says that it is not ready any more, and answers requests as before: load balancers need time to notice. */
  retire(): void;
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
  /** Replaces the database's clock. */
  readonly clock?: Clock;
  readonly passwordCost?: PasswordCost;
  readonly resolveHost?: ResolveHost;
  /** What requests wait by; absent: as it is measured. */
  readonly pressure?: Pressure;
  /** The time between two writes about refusals; by default a second. */
  readonly refusalsEveryMs?: number;
  /** Takes these connections instead of listening. */
  readonly accepted?: Accepted;
  /** Reads what `GET /metrics` shows; absent: the metrics of this process. */
  readonly readMetrics?: () => Promise<string>;
  /** Whether it is the first process of its node, which makes the first administrator or the link; by default it is. */
  readonly isFirst?: boolean;
  /** Whether it does the work that no request waits for; by default it does. */
  readonly isBackground?: boolean;
  /** An open database and its secret. The service does not close it. */
  readonly opened?: { readonly database: Database; readonly secret: string };
}

/**
 * Starts the service.
 *
 * @throws {StartError} with the reason in one line.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, log, isFirst = true, isBackground = true } = options;
  // Parts close in reverse order. A part that fails to close does not keep the others open; it is reported at the end.
  const opened = new AsyncDisposableStack();
  try {
    const listener = await listen(config, options.timeouts, options.accepted);
    opened.defer(() => listener.close());
    const { database, secret } = options.opened ?? (await openDatabase(config, log, opened));
    // On PostgreSQL the folder may be another on each node, and gone tomorrow.
    const setupFolder = options.opened ? undefined : dataDirOf(config);
    const sealing = createSealing(secret, config.previousSecret);
    await assertSecretFits(database, sealing);
    const applied = await database.migrate();
    if (applied.length > 0) log.info({ migrations: applied }, 'migrations applied');
    await assertNothingNeedsAnother(database, sealing);
    const lifted = await liftSequences(database);
    if (lifted.length > 0)
      log.warn({ sequences: lifted }, 'sequences were behind their tables, and are lifted');
    await adoptRestoredLog(database, log);
    const metrics = new Registry();
    const followed = await followClock({ database, log, metrics });
    opened.defer(() => followed.close());
    // A test's clock stands still for as long as the test likes.
    if (options.clock) await followed.close();
    const clock = options.clock ?? followed;
    const cipher = await openKeptKeys(database, sealing, clock);
    const adminCredentials = await bootstrap({ database, clock, cipher, config });
    // Reported at once, because a later failure of the start would lose them.
    if (adminCredentials) options.onAdminCredentials?.(adminCredentials);
    const twins = await placeSpellings(database);
    if (twins.length > 0 && isFirst)
      log.warn({ twins }, 'resources are registered in several spellings of one indicator');
    const unread = isFirst ? await spellDomains(database) : [];
    if (unread.length > 0)
      log.warn({ addresses: unread.length }, 'addresses are there in two spellings of one domain');
    const keys = await loadSigningKeys({ prisma: database.prisma, cipher, clock });

    const baseUrl = config.baseUrl ?? `http://localhost:${listener.port}`;
    shareHashQueue(config.workers);
    const pressure = options.pressure ?? measurePressure(database);
    const services: Services = {
      config,
      baseUrl,
      issuer: `${baseUrl}/oidc`,
      clock,
      log,
      database,
      cipher,
      keys,
      metrics,
      turns: new Turns({
        maxWaitMs: config.maxQueueMs,
        pressure,
        metrics,
        onOverload: (kind) => log.warn({ kind }, 'there is too much to do: requests are refused'),
      }),
      passwordCost: options.passwordCost ?? standardPasswordCost,
      resolveHost: options.resolveHost ?? createResolver(),
    };
    await noteUse(services);
    opened.defer(followSigningKeys(services));
    opened.defer(followRestores(services));
    noteStart(services);
    opened.defer(await joinNodes(services));
    opened.defer(followFigures(services));
    opened.defer(startRefusals(services, options.refusalsEveryMs));
    const { http, open } = createHttp(listener, {
      log,
      trustProxy: config.trustProxy,
      baseUrl,
      turns: services.turns,
    });
    let isRetired = false;
    mountOperational(http, services, {
      isRetired: () => isRetired,
      readMetrics: options.readMetrics ?? (() => metrics.metrics()),
    });
    const files = openConsoleFiles(options.consoleFolder ?? builtConsole);
    mountWelcome(http, services, files);
    mountProtectedResources(http, services);
    await mountOidc(http, services);
    await mountPages(http, services);
    await mountAccountPages(http, services);
    await mountConsole(http, services, { files, setupFolder });
    const tail = await startTail(services);
    opened.defer(() => tail.stop());
    const background = createBackground(services, tail);
    opened.defer(() => background.stop());
    const connections = createConnections(services);
    opened.defer(() => connections.stop());
    const graphql = createGraphQLServer(services, connections, tail);
    mountGraphQL(http, services, graphql);
    mountConsoleGraphQL(http, services, graphql);
    await mountExperience(http, services);
    await mountAccount(http, services);
    await mountRest(http, services);
    await mountAuthZen(http, services);
    if (config.mcp) await mountMcp(http, services, graphql);
    if (config.introspection) mountApiDocs(http, services);
    if (isBackground) await background.start();
    const setupLink = isFirst ? await prepareSetup(services, setupFolder) : undefined;
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
      url: addressOf(config.host, listener.port),
      services,
      adminCredentials,
      startBackground: () => background.start(),
      retire() {
        isRetired = true;
      },
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

/** The sizes of the pools, smaller than configured if the role may not have so many connections. */
function fittingPools(
  { database, replicas, workers }: Config,
  connections: number,
  log: Logger,
): PoolSizes | undefined {
  // A pooler in front has the connections.
  if (database.kind !== 'postgresql' || database.directUrl !== undefined) return undefined;
  const beside = connectionsBeside + (replicas ? 1 : 0);
  const sizes = poolsWithin(connections, database, workers, beside);
  if ('least' in sizes) {
    throw new StartError(
      `DATABASE_URL allows the role ${connections} connections, and the service needs ${sizes.least} at least: raise the limit of the role, the database or the server`,
    );
  }
  if (sizes.poolSize + sizes.tokenPoolSize < database.poolSize + database.tokenPoolSize) {
    log.warn({ connections, ...sizes }, 'the role may have few connections: the pools are smaller');
  }
  return sizes;
}

const dataDirOf = ({ database }: Config) =>
  database.kind === 'embedded' ? database.dataDir : undefined;

async function openDatabase(
  config: Config,
  log: Logger,
  opened: AsyncDisposableStack,
): Promise<{ database: Database; secret: string }> {
  if (config.database.kind === 'postgresql') {
    const { connections } = await assertReachable(config.database);
    const pools = fittingPools(config, connections, log);
    const onError = (error: Error) => log.warn({ err: error }, 'a database connection broke');
    const replicas = config.replicas && {
      ...config.replicas,
      onChange: (replica: number, isUsed: boolean) => {
        if (isUsed) log.info({ replica }, 'a replica is read');
        else log.warn({ replica }, 'a replica lags or does not answer: it is not read');
      },
    };
    const database = openPostgresql({ ...config.database, ...pools, replicas, onError });
    opened.defer(() => database.close());
    if (!config.secret) throw new StartError('SIGNET_SECRET is required with DATABASE_URL');
    return { database, secret: config.secret };
  }
  const dataDir = await claimDataDir(config.database.dataDir);
  opened.defer(() => dataDir.release());
  const database = await openEmbeddedDatabase({
    dataDir: `${dataDir.path}/database`,
    onError: (error) => log.error({ err: error }, 'the embedded database has a fault'),
  });
  opened.defer(() => database.close());
  return { database, secret: config.secret ?? (await readOrCreateSecret(dataDir)) };
}
