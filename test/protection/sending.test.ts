import { expect, test } from 'vitest';
import { transaction } from '../../src/db/transaction.ts';
import { takeSending } from '../../src/protection/sending.ts';
import { startSecondNode, startService, type TestService } from '../support/service.ts';

const service = await startService({}, { poolSize: 10 });
const { prisma } = service.app.services.database;

const policy = { sendLimit: 10, sendWindowSeconds: 600 };
const take = (recipient: string, action = 'SIGN_IN', at: TestService = service) => {
  const context = { ...at.app.services, traceId: 'test' };
  return transaction(context.database, (tx) =>
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

test('200 concurrent requests on two nodes: ten messages, one event', async () => {
  const recipient = 'Ada@example.com';
  const second = await startSecondNode(service);
  const decisions = await Promise.all(
    Array.from({ length: 200 }, (_, i) => take(recipient, 'SIGN_IN', i % 2 ? second : service)),
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
  const context = { ...service.app.services, traceId: 'test' };
  for (let i = 0; i < 12; i += 1) {
    const undone = transaction(context.database, async (tx) => {
      await takeSending(tx, context, { ...policy, sendLimit: 0 }, { action: 'LINK', recipient });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
  }
  expect(await limited(recipient)).toEqual([]);
  expect(await take(recipient, 'LINK')).toEqual({ allowed: true });
});
