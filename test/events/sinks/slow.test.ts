import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { readConsumer } from '../../../src/events/consumers.ts';
import type { LoggedEvent } from '../../../src/events/log.ts';
import { forwardEvents, sinkName } from '../../../src/events/sinks/forward.ts';
import { startTail } from '../../../src/events/tail.ts';
import { raise, userEvent } from '../../support/log.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const placeOf = (event: LoggedEvent | undefined) => ({
  xid: event?.position.xid,
  position: event?.position.position,
});

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
      return 0;
    },
    close: async () => undefined,
  }));
  await raise(
    services,
    ['one', 'two', 'three', 'four'].map((name) => userEvent(name)),
  );
  await eventually(async () => {
    expect(taken).toHaveLength(2);
    expect(await readConsumer(prisma, sinkName)).toMatchObject(placeOf(taken[1]));
  });

  third.resolve();
  await eventually(() => expect(taken).toHaveLength(4));
  await stop();
  expect(await readConsumer(prisma, sinkName)).toMatchObject(placeOf(taken[3]));
  expect(taken.map(({ data }) => data['name'])).toEqual(['one', 'two', 'three', 'four']);
});
