import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type App, startApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { claimDeliveries, leaseMs } from '../../../src/webhooks/delivery/queue.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { startService, type TestService } from '../../support/service.ts';
import { adminOf, createUser, createWebhook } from '../../support/webhooks.ts';

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true', WEBHOOK_TIMEOUT_SECONDS: '600' };

/** Starts the service anew on the same database. */
const startAgain = ({ testDatabase, clock }: TestService): Promise<App> =>
  startApp({
    config: readConfig({ PORT: '0', ...environment }),
    log: pino({ level: 'silent' }),
    clock,
    opened: { database: testDatabase.database, secret: 'a secret for tests only' },
  });

test('delivers after a restart the deliveries put back', async () => {
  const service = await startService(environment);
  service.clock.freeze();
  const admin = await adminOf(service);
  const { prisma } = service.testDatabase.database;
  const receiver = await startReceiver();
  receiver.answerWith(() => undefined);
  await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  await receiver.arrived(1);
  await service.app.stop();
  expect(await prisma.delivery.findMany({ include: { attempts: true } })).toEqual([
    expect.objectContaining({
      status: 'PENDING',
      attemptCount: 0,
      attempts: [],
    }),
  ]);

  // A node claims it and dies: nobody else has it until the lease runs out.
  const claim = async (node: string) => {
    const { claimed } = await claimDeliveries(service.app.services.database, {
      node,
      now: service.clock.now(),
      underWay: {},
      webhookIds: undefined,
      room: 10,
    });
    return claimed;
  };
  expect(await claim('one that dies')).toHaveLength(1);
  receiver.answerWith(204);
  const app = await startAgain(service);
  app.services.database.hints.send('queues');
  expect(await claim('another')).toEqual([]);
  expect(receiver.received).toHaveLength(1);

  service.clock.advance(leaseMs);
  app.services.database.hints.send('queues');
  const [first, second] = await receiver.arrived(2);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  await app.stop();
  expect(await prisma.delivery.findMany({ include: { attempts: true } })).toEqual([
    expect.objectContaining({
      status: 'SUCCEEDED',
      attempts: [expect.objectContaining({ statusCode: 204 })],
    }),
  ]);
});

test('delivers events that were committed while no node ran', async () => {
  const service = await startService(environment);
  service.clock.freeze();
  const admin = await adminOf(service);
  const { database } = service.testDatabase;
  const receiver = await startReceiver();
  await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  await receiver.arrived(1);
  await service.app.stop();
  // The dispatcher stopped; the log grew.
  const [logged] = await database.prisma.event.findMany({ where: { type: 'User.Created' } });
  if (!logged) throw new Error('The log holds the first event.');
  const { position: _position, ...event } = logged;
  await database.prisma.event.create({
    data: { ...event, id: 'evt_01kb0000000000000000000000', actor: {}, data: { id: 'second' } },
  });
  const app = await startAgain(service);
  const messages = await receiver.until((received) =>
    received.some(({ json }) => json.data['id'] === 'second'),
  );
  expect(messages.length).toBeGreaterThanOrEqual(2);
  await app.stop();
});
