import { pino } from 'pino';
import { afterAll } from 'vitest';
import { type App, type AppOptions, startApp } from '../../src/app.ts';
import type { Clock } from '../../src/clock.ts';
import { readConfig } from '../../src/config.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

/** A clock that a test can hold and move. */
export interface TestClock extends Clock {
  /** Moves the clock by so many milliseconds, from now on in step with the machine's. */
  advance(milliseconds: number): void;
}

/** A clock in step with the machine's until it is moved. */
export function createTestClock(): TestClock {
  let offset = 0;
  return {
    now: () => new Date(Date.now() + offset),
    advance(milliseconds) {
      offset += milliseconds;
    },
  };
}

/** A service that listens on a port of its own, with a database of its own. */
export interface TestService {
  readonly app: App;
  readonly url: string;
  readonly clock: TestClock;
  readonly testDatabase: TestDatabase;
  readonly admin: { readonly id: string; readonly secret: string };
  /** What was logged, one parsed line each. */
  readonly logged: Record<string, unknown>[];
  /** An access token for the management API, of the admin application where no other client is given. */
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
  options: Partial<Pick<AppOptions, 'log' | 'resolveHost'>> & { poolSize?: number } = {},
): Promise<TestService> {
  const testDatabase = await createTestDatabase(options.poolSize);
  const clock = createTestClock();
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug' },
    { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const app = await startApp({
    config: readConfig({ PORT: '0', ...environment }),
    log,
    clock,
    opened: { database: testDatabase.database, secret: 'a secret for tests only' },
    ...options,
  });
  const { adminCredentials: admin } = app;
  if (!admin) throw new Error('A fresh database gives new admin credentials.');
  const stop = async () => {
    await app.stop();
    await testDatabase.close();
  };
  afterAll(stop);
  return {
    app,
    url: app.url,
    clock,
    testDatabase,
    admin,
    logged,
    async managementToken(scope = 'all', client = admin) {
      const response = await fetch(`${app.url}/oidc/token`, {
        method: 'POST',
        headers: { authorization: basic(client.id, client.secret) },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          resource: 'urn:signet:management',
          scope,
        }),
      });
      const body = (await response.json()) as { access_token?: string };
      if (!body.access_token) throw new Error(`No management token: ${JSON.stringify(body)}`);
      return body.access_token;
    },
    stop,
  };
}

/** An `Authorization` header for HTTP Basic as OAuth has it (RFC 6749 §2.3.1). */
export const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
