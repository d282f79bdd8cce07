import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { systemClock } from '../src/clock.ts';
import { readConfig } from '../src/config.ts';
import { transaction } from '../src/db/transaction.ts';
import { encodePosition, readEnd } from '../src/events/log.ts';
import { recordEvents } from '../src/events/record.ts';
import { actor, serveBench, sharedNow } from './event-source.ts';

// The whole service as it starts in production, with logs at their default level. DATABASE_URL names its database;
// without it, the database is embedded.

const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
const app = await startApp({
  config: readConfig({ DATA_DIR: dataDir, ...process.env, PORT: '0' }),
  log: pino({ level: 'info' }, pino.destination('/dev/null')),
});
const { database, metrics } = app.services;
/** Rows in one INSERT. */
const chunk = 500;

serveBench({
  end: async () => encodePosition(await readEnd(database.prisma)),
  async subscribers() {
    const [sample] = (await metrics.getSingleMetric('signet_subscribers')?.get())?.values ?? [];
    return sample?.value ?? 0;
  },
  async write(events) {
    await transaction(database, async (tx) => {
      for (let i = 0; i < events.length; i += chunk) {
        const context = { actor, clock: systemClock, traceId: 'bench' };
        await recordEvents(tx, context, events.slice(i, i + chunk));
      }
    });
    return sharedNow();
  },
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
process.send?.({ result: { url: app.url, credentials: app.adminCredentials } });
