import { pino, stdSerializers } from 'pino';
import { startApp } from './app.ts';
import { ConfigurationError, readConfig } from './config.ts';
import { StartError } from './errors.ts';

async function main() {
  const config = readConfig(process.env);
  const log = pino({
    level: config.logLevel,
    base: { service: 'signet' },
    serializers: { err: stdSerializers.errWithCause },
    redact: ['*.authorization', '*.password', '*.secret', '*.token'],
  });
  const starting = startApp({ config, log });
  // Before the start has ended, so that a signal that comes meanwhile does not cut it off between
  // making the admin application and showing its secret.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      log.info({ signal }, 'stopping');
      // A start that fails ends the process itself.
      const app = await starting.catch(() => undefined);
      await app?.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the stop failed');
          process.exit(1);
        },
      );
    });
  }
  const app = await starting;
  if (app.adminCredentials) {
    const { id, secret } = app.adminCredentials;
    process.stdout.write(
      `\nThe admin application, shown this once:\n  ADMIN_CLIENT_ID=${id}\n  ADMIN_CLIENT_SECRET=${secret}\n\n`,
    );
  }
  log.info({ url: app.services.baseUrl, listening: app.url }, 'Signet is ready');
}

main().catch((error: unknown) => {
  const isExpected = error instanceof ConfigurationError || error instanceof StartError;
  process.stderr.write(
    isExpected
      ? `Signet cannot start: ${error.message.replaceAll('\n', ' ')}\n`
      : `Signet cannot start: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
});
