import { expect, test } from 'vitest';
import { quietTransaction } from '../../src/db/transaction.ts';
import {
  addressShares,
  serviceShare,
  takeSending,
  takeSendingFrom,
} from '../../src/protection/sending.ts';
import { testCall } from '../support/log.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';

const service = await startService({}, { poolSize: 10 });
// A window ends when the test moves the clock.
service.clock.freeze();
const { prisma } = service.app.services.database;

const policy = { sendLimit: 10, sendWindowSeconds: 600 };
const take = (recipient: string, action = 'SIGN_IN', at: TestService = service) => {
  const context = { ...at.app.services, ...testCall };
  return quietTransaction(context.database, (tx) =>
    takeSending(tx, context, policy, { action, recipient }),
  );
};
const limited = async (recipient: string) =>
  prisma.event.findMany({
    where: {
      type: 'Message.RateLimited',
      data: { path: ['recipient'], equals: recipient },
    },
    select: { data: true, actor: true },
  });

test('24 concurrent requests on two nodes: ten messages, one event', async () => {
  const recipient = 'Ada@example.com';
  const second = await startSecondNode(service);
  const decisions = await Promise.all(
    Array.from({ length: 24 }, (_, i) => take(recipient, 'SIGN_IN', i % 2 ? second : service)),
  );
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(10);
  expect(await limited(recipient)).toEqual([
    { data: { action: 'SIGN_IN', recipient }, actor: { type: 'SYSTEM', id: null } },
  ]);
});

test('each window raises its own event', async () => {
  const recipient = '+4915112345678';
  for (let window = 1; window <= 2; window += 1) {
    for (let i = 0; i < 10; i += 1) expect(await take(recipient)).toEqual({ allowed: true });
    for (let i = 0; i < 3; i += 1) {
      const decision = await take(recipient);
      expect(decision).toMatchObject({ allowed: false });
      expect('retryAfterSeconds' in decision && decision.retryAfterSeconds).toBeGreaterThan(590);
    }
    expect(await limited(recipient)).toHaveLength(window);
    service.clock.advance(600_000);
  }
});

test('spellings of an address share a counter; actions do not', async () => {
  for (let i = 0; i < 5; i += 1) {
    await take('shared@example.com');
    await take(' Shared@EXAMPLE.com');
  }
  expect(await take('shared@example.com')).toMatchObject({ allowed: false });
  expect(await take('shared@example.com', 'RESET_PASSWORD')).toEqual({ allowed: true });
});

test('a transaction that rolls back counts and raises nothing', async () => {
  const recipient = 'undone@example.com';
  const context = { ...service.app.services, ...testCall };
  for (let i = 0; i < 12; i += 1) {
    const undone = quietTransaction(context.database, async (tx) => {
      await takeSending(tx, context, { ...policy, sendLimit: 0 }, { action: 'LINK', recipient });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
  }
  expect(await limited(recipient)).toEqual([]);
  expect(await take(recipient, 'LINK')).toEqual({ allowed: true });
});

const takeFrom = (ip: string, channel: 'EMAIL' | 'SMS', at: TestService = service) => {
  const context = { ...at.app.services, ...testCall };
  return quietTransaction(context.database, (tx) => takeSendingFrom(tx, context, { channel, ip }));
};

test('an address has its share for each channel, on all nodes together', async () => {
  const second = await startSecondNode(service);
  const most = addressShares.SMS;
  const decisions = await Promise.all(
    Array.from({ length: 2 * most }, (_, i) =>
      // One client has the whole /64 network.
      takeFrom(`2001:db8::${i}`, 'SMS', i % 2 ? second : service),
    ),
  );
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(most);
  expect(decisions.find(({ allowed }) => !allowed)).toMatchObject({
    retryAfterSeconds: addressShares.windowSeconds,
  });
  expect(await takeFrom('2001:db8::1', 'EMAIL')).toEqual({ allowed: true });
  expect(await takeFrom('198.51.100.1', 'SMS')).toEqual({ allowed: true });
  // What was refused to the address did not count for the service.
  const counts = await prisma.sendingCount.findMany({ where: { action: 'SMS' } });
  expect(counts.map(({ count }) => count).sort((a, b) => a - b)).toEqual([1, most + 1, most + 1]);
  service.clock.advance(addressShares.windowSeconds * 1000);
  expect(await takeFrom('2001:db8::1', 'SMS')).toEqual({ allowed: true });
});

test('the service has its share, whatever the addresses', async () => {
  service.clock.advance(addressShares.windowSeconds * 1000);
  await takeFrom('198.51.100.2', 'SMS');
  await prisma.sendingCount.updateMany({
    where: { action: 'SMS' },
    data: { count: serviceShare(service.app.services.config, 'SMS') - 1 },
  });
  expect(await takeFrom('198.51.100.3', 'SMS')).toEqual({ allowed: true });
  expect(await takeFrom('198.51.100.4', 'SMS')).toMatchObject({ allowed: false });
  expect(await takeFrom('198.51.100.4', 'EMAIL')).toEqual({ allowed: true });
});
