import { pino, stdSerializers } from 'pino';
import type { AdminCredentials } from './app.ts';
import { ConfigurationError, readConfig } from './config.ts';
import { StartError } from './errors.ts';

function show({ id, secret }: AdminCredentials): void {
  process.stdout.write(
    `\nThe admin application, shown this once:\n  ADMIN_CLIENT_ID=${id}\n  ADMIN_CLIENT_SECRET=${secret}\n\n`,
  );
}

function showSetupLink(url: string): void {
  process.stdout.write(
    `\nMake the first administrator here, within an hour:\n  Console: ${url}\n\n`,
  );
}

async function main() {
  const config = readConfig(process.env);
  // Loaded after the configuration is known to be sound: a mistake there is told at once.
  const { startApp } = await import('./app.ts');
  const log = pino({
    level: config.logLevel,
    base: { service: 'signet' },
    serializers: { err: stdSerializers.errWithCause },
    redact: ['*.authorization', '*.password', '*.secret', '*.token'],
  });
  const starting = startApp({ config, log, onAdminCredentials: show, onSetupLink: showSetupLink });
  // Registered before the start ends, so that a signal during the start does not cut it off.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      log.info({ signal }, 'stopping');
      // A failed start ends the process itself.
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
  log.info({ url: app.services.baseUrl, listening: app.url }, 'Signet is ready');
  // A start leaves more garbage than the service later holds, and V8 would keep its room for long.
  await globalThis.gc?.({ type: 'major', execution: 'async', flavor: 'last-resort' });
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
