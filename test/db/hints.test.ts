import pg from 'pg';
import { expect, inject, test, vi } from 'vitest';
import { localHints, notifyingHints } from '../../src/db/hints.ts';
import { closeAtEnd } from '../support/cleanup.ts';
import { failOnError } from '../support/database.ts';
import { eventually } from '../support/wait.ts';

const postgresql = inject('postgresql');

test('a hint within a process reaches the listeners of its topic alone', () => {
  const hints = localHints();
  const [log, queues] = [vi.fn(), vi.fn()];
  hints.listen('log', log);
  const stop = hints.listen('queues', queues);
  hints.send('log');
  expect(log).toHaveBeenCalledTimes(1);
  expect(queues).not.toHaveBeenCalled();
  stop();
  hints.send('queues');
  expect(queues).not.toHaveBeenCalled();
});

test.runIf(postgresql)('a hint reaches other processes by its topic', async () => {
  const open = () => {
    const hints = notifyingHints(
      () => new pg.Client({ connectionString: postgresql as string }),
      failOnError,
    );
    closeAtEnd(() => hints.close());
    return hints;
  };
  const [here, there] = [open(), open()];
  const [log, queues] = [vi.fn(), vi.fn()];
  here.listen('log', () => undefined);
  there.listen('log', log);
  there.listen('queues', queues);
  // Once connected, each hears of both.
  await eventually(() => expect(queues).toHaveBeenCalled());
  await eventually(() => {
    here.send('log');
    expect(log.mock.calls.length).toBeGreaterThan(1);
  });
  const before = queues.mock.calls.length;
  const seen = log.mock.calls.length;
  here.send('log');
  await eventually(() => expect(log.mock.calls.length).toBeGreaterThan(seen));
  expect(queues).toHaveBeenCalledTimes(before);
  here.send('queues');
  await eventually(() => expect(queues).toHaveBeenCalledTimes(before + 1));
});
