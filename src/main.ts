import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, pino, stdSerializers } from 'pino';
import type { AdminCredentials, App } from './app.ts';
import { type Config, ConfigurationError, readConfig } from './config.ts';
import { StartError } from './errors.ts';
import { startTelemetry } from './tracing/start.ts';
import { WorkerFailed } from './workers/worker-failed.ts';

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

/** Stops at a signal: says that it is not ready, waits until load balancers have noticed, and ends. */
function stopAtSignal(
  { shutdownDelayMs }: Pick<Config, 'shutdownDelayMs'>,
  log: Logger,
  starting: Promise<{ retire(): void; stop(): Promise<unknown> }>,
): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, async () => {
      log.info({ signal }, 'stopping');
      // A failed start ends the process itself.
      const started = await starting.catch(() => undefined);
      started?.retire();
      await delay(started ? shutdownDelayMs : 0);
      await started?.stop().then(
        (isGood) => process.exit(isGood === false ? 1 : 0),
        (error: unknown) => {
          log.error({ err: error }, 'the stop failed');
          process.exit(1);
        },
      );
    });
  }
}

// A start leaves more garbage than the service later holds, and V8 would keep its room for long.
const collectGarbage = () =>
  globalThis.gc?.({ type: 'major', execution: 'async', flavor: 'last-resort' });

/** The service in this process alone. */
async function runAlone(config: Config, log: Logger) {
  // Loaded after the configuration is known to be sound: a mistake there is told at once.
  const { startApp } = await import('./app.ts');
  const telemetry = await startTelemetry(process.env, log);
  const starting = startApp({ config, log, onAdminCredentials: show, onSetupLink: showSetupLink });
  const stop = (app: App) => app.stop().then(() => telemetry?.stop());
  // Registered before the start ends, so that a signal during the start does not cut it off.
  stopAtSignal(
    config,
    log,
    starting.then((app) => ({ retire: () => app.retire(), stop: () => stop(app) })),
  );
  const app = await starting;
  telemetry?.sendMetrics(app.services.metrics);
  log.info({ url: app.services.baseUrl, listening: app.url }, 'Signet is ready');
  await collectGarbage();
}

/** The process in front of several that answer requests. */
async function runPrimary(config: Config, log: Logger) {
  const { startWorkers } = await import('./workers/primary.ts');
  const { addressOf } = await import('./http/listener.ts');
  const starting = startWorkers({ config, log });
  stopAtSignal(config, log, starting);
  const { port } = await starting;
  const url = config.baseUrl ?? `http://localhost:${port}`;
  const listening = addressOf(config.host, port);
  log.info({ url, listening, workers: config.workers }, 'Signet is ready');
}

/** One of several processes that answer requests. The primary process alone hears the signals. */
async function runWorker(config: Config, log: Logger) {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  const { connectToPrimary } = await import('./workers/worker.ts');
  const channel = await connectToPrimary();
  const { startApp } = await import('./app.ts');
  const telemetry = await startTelemetry(process.env, log);
  const starting = startApp({
    config,
    log,
    onAdminCredentials: show,
    onSetupLink: showSetupLink,
    accepted: channel.accepted,
    isFirst: channel.begin.isFirst,
    isBackground: channel.begin.isBackground,
    readMetrics: channel.readAllMetrics,
  });
  const started = starting.catch(() => undefined);
  channel.follow({
    background: () =>
      void started
        .then((app) => app?.startBackground())
        .catch((error: unknown) => {
          log.fatal({ err: error }, 'the background work could not be started');
          process.exit(1);
        }),
    retire: () => void started.then((app) => app?.retire()),
    stop: () =>
      void started
        .then((app) => app?.stop())
        .then(() => telemetry?.stop())
        .then(
          () => process.exit(0),
          (error: unknown) => {
            log.error({ err: error }, 'the stop failed');
            process.exit(1);
          },
        ),
  });
  const { services } = await starting;
  telemetry?.sendMetrics(services.metrics);
  channel.ready(() => services.metrics.getMetricsAsJSON());
  await collectGarbage();
}

async function main() {
  const config = readConfig(process.env);
  const [, , role, number] = process.argv;
  const isWorker = role === 'worker' && process.send !== undefined;
  const log = pino({
    level: config.logLevel,
    base: { service: 'signet', ...(isWorker ? { worker: Number(number) } : {}) },
    serializers: { err: stdSerializers.errWithCause },
    redact: ['*.authorization', '*.password', '*.secret', '*.token'],
  });
  if (isWorker) await runWorker(config, log);
  else if (config.workers > 1) await runPrimary(config, log);
  else await runAlone(config, log);
}

main().catch((error: unknown) => {
  // It has said why itself.
  if (error instanceof WorkerFailed) process.exit(error.exitCode);
  const isExpected = error instanceof ConfigurationError || error instanceof StartError;
  process.stderr.write(
    isExpected
      ? `Signet cannot start: ${error.message.replaceAll('\n', ' ')}\n`
      : `Signet cannot start: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
});
