import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { createDataDir } from './support/database.ts';

const dataDir = await createDataDir();

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
