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
  const app = await startApp({ config, log });
  if (app.adminCredentials) {
    const { id, secret } = app.adminCredentials;
    process.stdout.write(
      `\nThe admin application, shown this once:\n  ADMIN_CLIENT_ID=${id}\n  ADMIN_CLIENT_SECRET=${secret}\n\n`,
    );
  }
  log.info({ url: app.services.baseUrl, listening: app.url }, 'Signet is ready');

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'stopping');
      app.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          log.error({ err: error }, 'the stop failed');
          process.exit(1);
        },
      );
    });
  }
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
