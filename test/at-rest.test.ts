import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { closeAtEnd } from './support/cleanup.ts';
import { createTestDatabase } from './support/database.ts';
import { observeStatements } from './support/statements.ts';
import { eventually } from './support/wait.ts';

const testDatabase = await createTestDatabase();
closeAtEnd(testDatabase.close);

test.runIf(testDatabase.embedded)(
  'asks an embedded database nothing while nothing happens',
  async () => {
    const { database, executed } = await observeStatements(testDatabase);
    vi.useFakeTimers({
      toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout', 'performance'],
    });
    closeAtEnd(async () => void vi.useRealTimers());
    const app = await startApp({
      config: readConfig({ PORT: '0' }),
      log: pino({ level: 'silent' }),
      opened: { database, secret: 'a secret for tests only' },
    });
    closeAtEnd(() => app.stop());
    // Each minute has some work.
    await eventually(async () => {
      const before = executed.length;
      await vi.advanceTimersByTimeAsync(20_000);
      expect(executed.slice(before)).toEqual([]);
    });
    const before = executed.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(executed.length).toBeGreaterThan(before);
  },
);
