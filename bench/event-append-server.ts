import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { TransactionConnection } from '../src/db/connections/transaction-connection.ts';
import { openPostgresql, useEmbedded } from '../src/db/database.ts';
import { openEmbedded } from '../src/db/embedded/open.ts';
import type { PrismaClient } from '../src/generated/prisma/client.ts';

// The whole service. BENCH_APPEND=off leaves out only the insert of a mutation's event: the payload is still built and
// the hint still sent. So the difference is the insert, and the tail that reads it.

const { DATABASE_URL, BENCH_APPEND } = process.env;
const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
const config = readConfig({
  ...process.env,
  DATA_DIR: dataDir,
  SIGNET_SECRET: 'a secret for the bench alone, long enough',
  PORT: '0',
});
const database = DATABASE_URL
  ? openPostgresql({
      url: DATABASE_URL,
      poolSize: 10,
      tokenPoolSize: 10,
      onError: (error) => console.error(error),
    })
  : useEmbedded(await openEmbedded({ dataDir: join(dataDir, 'database') }));
const isOff = BENCH_APPEND === 'off';
// On PostgreSQL by the driver.
const { send } = TransactionConnection.prototype;
TransactionConnection.prototype.send = function (this: TransactionConnection, name, ...statement) {
  if (!(isOff && name === 'record-events')) send.call(this, name, ...statement);
};
// Embedded by Prisma. Both cases go through the extension, so that its cost is in both.
const prisma = database.prisma.$extends({
  query: {
    $executeRawUnsafe: async ({ args, query }) =>
      isOff && String(args[0]).includes('INSERT INTO "Event"') ? 0 : query(args),
  },
});
const app = await startApp({
  config,
  log: pino({ level: 'info' }, pino.destination('/dev/null')),
  opened: {
    // The extension changes no method's type. Prisma gives the client another type, but it is used as the same.
    database: { ...database, prisma: prisma as unknown as PrismaClient },
    secret: 'a secret for the bench',
  },
});
process.once('SIGTERM', () => {
  app
    .stop()
    .then(() => database.close())
    .then(() => rm(dataDir, { recursive: true, force: true }))
    .then(
      () => process.exit(0),
      () => process.exit(1),
    );
});
process.send?.({ result: { url: app.url, credentials: app.adminCredentials } });
