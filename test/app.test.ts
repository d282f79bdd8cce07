import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';

const dataDir = await mkdtemp(join(tmpdir(), 'signet-app-'));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const start = () =>
  startApp({
    config: readConfig({ PORT: '0', DATA_DIR: dataDir }),
    log: pino({ level: 'silent' }),
  });

test('stops every part although one fails to stop', async () => {
  const broken = await start();
  await broken.services.database.close();
  await expect(broken.stop()).rejects.toThrow('Not every part could stop.');
  await expect(fetch(broken.url)).rejects.toThrow();

  // The data folder is free again.
  const next = await start();
  await next.stop();
});
