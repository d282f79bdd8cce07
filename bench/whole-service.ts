import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type App, startApp } from '../src/app.ts';
import { newJti, signAccessToken } from '../src/auth/access-token.ts';
import { managementIndicator } from '../src/auth/scopes.ts';
import { systemClock, toNumericDate } from '../src/clock.ts';
import { readConfig } from '../src/config.ts';

/**
 * Starts the whole service as in production, with logs at their default level. It stops on SIGTERM. `DATABASE_URL`
 * names its database; without it, the database is embedded in a folder that is then deleted.
 */
export async function startWholeService(environment: Record<string, string> = {}): Promise<App> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
  const app = await startApp({
    // Without refusals, unless they are what is tried.
    config: readConfig({
      DATA_DIR: dataDir,
      MAX_QUEUE_MS: '600000',
      ...process.env,
      PORT: '0',
      ...environment,
    }),
    log: pino({ level: 'info' }, pino.destination('/dev/null')),
  });
  process.once('SIGTERM', () => {
    app
      .stop()
      .then(() => rm(dataDir, { recursive: true, force: true }))
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  });
  return app;
}

/** Signs a token with all rights in the management API, for eight hours. */
export function signManagementToken(
  { services: { keys, issuer } }: Pick<App, 'services'>,
  clientId: string,
): Promise<string> {
  const now = systemClock.now();
  return signAccessToken(keys, {
    iss: issuer,
    sub: clientId,
    aud: managementIndicator,
    client_id: clientId,
    scope: 'all',
    iat: toNumericDate(now),
    exp: toNumericDate(now) + 8 * 3600,
    jti: newJti(now),
  });
}
