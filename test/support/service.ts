import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type App, type AppOptions, startApp } from '../../src/app.ts';
import type { Clock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { openPostgresql } from '../../src/db/database.ts';
import type { PasswordCost } from '../../src/services.ts';
import { closeAtEnd } from './cleanup.ts';
import { fetchManagementToken } from './client-credentials.ts';
import { createTestDatabase, failOnError, type TestDatabase, throughPooler } from './database.ts';
import { observeStatements } from './statements.ts';

const secret = 'a secret for tests only';

/** On a busy machine a burst may take its time. Tests of overload set what they try. */
const patient = { MAX_QUEUE_MS: '600000' };

/** The least that Argon2 allows: most tests try what becomes of a password, and not its digest. */
const cheapPasswords: PasswordCost = { memoryCost: 8, timeCost: 1 };

// Many tests make one refusal after another, and wait for the event of each.
const refusalsEveryMs = 20;

/** A clock that a test can move. */
export interface TestClock extends Clock {
  /** Moves the clock forward. */
  advance(milliseconds: number): void;
  /**
   * Stops the clock: from then on only {@link advance} moves it, so nothing becomes due on its own.
   *
   * @returns Lets it go on.
   */
  freeze(): () => void;
}

/** A clock that runs with the machine's until it is moved or stopped. */
export function createTestClock(): TestClock {
  let offset = 0;
  let stoppedAt: number | undefined;
  return {
    now: () => new Date((stoppedAt ?? Date.now()) + offset),
    advance(milliseconds) {
      offset += milliseconds;
    },
    freeze() {
      stoppedAt ??= Date.now();
      return () => {
        stoppedAt = undefined;
      };
    },
  };
}

/** A running service with its own port and database. */
export interface TestService {
  readonly app: App;
  readonly url: string;
  /** Its clock. */
  readonly clock: TestClock;
  readonly testDatabase: TestDatabase;
  /** The data folder, which holds the outbox. */
  readonly dataDir: string;
  readonly admin: { readonly id: string; readonly secret: string };
  /** The variables it was started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** The link with which the first administrator is made, if the start offered one. */
  readonly setupLink: string | undefined;
  /** The log, one parsed line each. */
  readonly logged: Record<string, unknown>[];
  /** Every executed statement, in the order of sending, if the service was started with `isObserved`. */
  readonly executed: readonly string[];
  /** An access token for the management API; by default the admin application's. */
  managementToken(scope?: string, client?: { id: string; secret: string }): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts the whole service for a test file; it stops after the file's last test.
 *
 * @param environment Variables as the operator would set them.
 */
export async function startService(
  environment: Record<string, string> = {},
  options: Partial<
    Pick<
      AppOptions,
      'log' | 'passwordCost' | 'resolveHost' | 'timeouts' | 'consoleFolder' | 'pressure'
    >
  > & {
    poolSize?: number;
    isObserved?: boolean;
    databaseSettings?: Readonly<Record<string, string>>;
    databaseOrigin?: string;
  } = {},
): Promise<TestService> {
  const testDatabase = await createTestDatabase(
    options.poolSize,
    options.databaseSettings,
    options.databaseOrigin,
  );
  const observed = options.isObserved ? await observeStatements(testDatabase) : undefined;
  const clock = createTestClock();
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const dataDir = await mkdtemp(join(tmpdir(), 'signet-service-'));
  let setupLink: string | undefined;
  const app = await startApp({
    config: readConfig({ PORT: '0', DATA_DIR: dataDir, ...patient, ...environment }),
    log,
    clock,
    passwordCost: cheapPasswords,
    refusalsEveryMs,
    opened: {
      database: observed?.database ?? testDatabase.database,
      secret: environment['SIGNET_SECRET'] ?? secret,
    },
    // Whether or not somebody has built it here.
    consoleFolder: join(dataDir, 'no-console'),
    onSetupLink: (url) => {
      setupLink = url;
    },
    ...options,
  });
  const { adminCredentials: admin } = app;
  if (!admin) throw new Error('A fresh database gives new admin credentials.');
  const stopOnce = async () => {
    try {
      await app.stop();
    } finally {
      await observed?.close();
      await testDatabase.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopOnce();
    return stopped;
  };
  closeAtEnd(stop);
  return {
    app,
    dataDir,
    url: app.url,
    clock,
    testDatabase,
    admin,
    environment,
    setupLink,
    logged,
    executed: observed?.executed ?? [],
    managementToken: (scope, client = admin) => fetchManagementToken(app, client, scope),
    stop,
  };
}

/**
 * Starts another node of a service on the same database; on PostgreSQL with its own connections.
 *
 * @param environment Variables that differ from the first node's.
 */
export async function startSecondNode(
  service: TestService,
  environment: Record<string, string> = {},
  { consoleFolder = join(service.dataDir, 'no-console') }: Pick<AppOptions, 'consoleFolder'> = {},
): Promise<TestService> {
  const { database, url } = service.testDatabase;
  const options = { poolSize: 5, tokenPoolSize: 5, onError: failOnError };
  let setupLink: string | undefined;
  const own =
    url === undefined ? undefined : openPostgresql({ ...throughPooler(new URL(url)), ...options });
  const app = await startApp({
    config: readConfig({
      PORT: '0',
      ...patient,
      DATA_DIR: service.dataDir,
      BASE_URL: service.app.services.baseUrl,
      ...service.environment,
      ...environment,
    }),
    log: pino({ level: 'silent' }),
    clock: service.clock,
    passwordCost: service.app.services.passwordCost,
    refusalsEveryMs,
    opened: {
      database: own ?? database,
      secret: environment['SIGNET_SECRET'] ?? service.environment['SIGNET_SECRET'] ?? secret,
    },
    consoleFolder,
    onSetupLink: (url) => {
      setupLink = url;
    },
  }).catch(async (error: unknown) => {
    await own?.close();
    throw error;
  });
  const stopOnce = async () => {
    await app.stop();
    await own?.close();
  };
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopOnce();
    return stopped;
  };
  closeAtEnd(stop);
  return { ...service, app, url: app.url, setupLink, stop };
}
