import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { startReceiver } from '../../support/peers/receiver.ts';
import { startService } from '../../support/service.ts';
import {
  adminOf,
  createUser,
  createWebhook,
  readWebhook,
  webhookUntil,
} from '../../support/webhooks.ts';

// No attempt that hangs ends while the test runs.
const service = await startService({
  ALLOW_PRIVATE_WEBHOOKS: 'true',
  WEBHOOK_TIMEOUT_SECONDS: '600',
});
// Nor is one repeated after its lease.
service.clock.freeze();

test('delivers to a healthy endpoint while others hang', async () => {
  const admin = await adminOf(service);
  const hung = await startReceiver();
  hung.answerWith(() => undefined);
  const hanging = await Promise.all(
    Array.from({ length: 5 }, () => createWebhook(admin, { url: hung.url, maxInFlight: 3 })),
  );
  for (let count = 1; count <= 4; count += 1) await createUser(admin);
  await hung.arrived(15);

  const healthy = await startReceiver();
  await createWebhook(admin, { url: healthy.url });
  for (let count = 1; count <= 12; count += 1) await createUser(admin);
  await healthy.arrived(12);
  expect(hung.received).toHaveLength(15);
  for (const { id } of hanging) {
    const { deliveries } = await readWebhook(admin, id);
    expect(deliveries.map(({ status, attempts }) => [status, attempts.length])).toEqual(
      Array.from({ length: 16 }, () => ['PENDING', 0]),
    );
  }
});

test.runIf(inject('postgresql'))(
  'delivers to a healthy endpoint while another webhook is locked',
  async () => {
    const admin = await adminOf(service);
    const [failing, healthy] = [await startReceiver(), await startReceiver()];
    failing.answerWith(500);
    const { id } = await createWebhook(admin, { url: failing.url });
    const { id: other } = await createWebhook(admin, { url: healthy.url, maxInFlight: 1 });
    const release = Promise.withResolvers<void>();
    healthy.answerWith((response) => {
      release.promise.then(() => response.writeHead(204).end());
    });
    const holder = new pg.Client({ connectionString: service.testDatabase.url });
    await holder.connect();
    try {
      for (let count = 1; count <= 12; count += 1) await createUser(admin);
      // An open transaction holds up what is not in the line of deliveries yet, whatever it is about.
      await webhookUntil(admin, other, ({ deliveries }) => deliveries.length === 12);
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM "Webhook" WHERE "id" = $1 FOR NO KEY UPDATE', [id]);
      release.resolve();
      await healthy.arrived(12);
    } finally {
      await holder.end();
    }
  },
);
