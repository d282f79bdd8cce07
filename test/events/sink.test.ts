import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type LoggedEvent, readConsumer } from '../../src/events/log.ts';
import { forwardEvents, sinkName } from '../../src/events/sinks/forward.ts';
import { startTail } from '../../src/events/tail.ts';
import { raise, userEvent } from '../support/log.ts';
import { startService } from '../support/service.ts';

const patiently = { timeout: 20_000 };

test('records a slow sink’s position during a batch', async () => {
  const service = await startService();
  const services = { ...service.app.services, metrics: new Registry() };
  const { prisma } = services.database;
  const tail = await startTail(services);
  onTestFinished(() => tail.stop());

  const taken: LoggedEvent[] = [];
  const third = Promise.withResolvers<void>();
  const stop = await forwardEvents(services, tail, async () => ({
    async publish(event) {
      if (taken.length === 2) await third.promise;
      taken.push(event);
      service.clock.advance(1_000);
    },
    close: async () => undefined,
  }));
  await raise(
    services,
    ['one', 'two', 'three', 'four'].map((name) => userEvent(name)),
  );
  await vi.waitFor(async () => {
    expect(taken).toHaveLength(2);
    expect(await readConsumer(prisma, sinkName)).toEqual(taken[1]?.position);
  }, patiently);

  third.resolve();
  await vi.waitFor(() => expect(taken).toHaveLength(4), patiently);
  await stop();
  expect(await readConsumer(prisma, sinkName)).toEqual(taken[3]?.position);
  expect(taken.map(({ data }) => data['name'])).toEqual(['one', 'two', 'three', 'four']);
});
