import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { startReceiver, verify } from '../../support/peers/receiver.ts';
import { messageUntil, queue, useSmsSender } from '../../support/people/messages.ts';
import { startService } from '../../support/service.ts';
import { adminOf, advance } from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// A retry comes when the test moves the clock.
service.clock.freeze();
const { services } = service.app;
const sms = { channel: 'SMS', recipient: '+4915112345678' } as const;

test('posts a message as Standard Webhooks defines', async () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const receiver = await startReceiver();
  await useSmsSender(await adminOf(service), { url: receiver.url, secret });
  const expiresAt = new Date(services.clock.now().getTime() + 300_000);
  const id = await queue(services, { ...sms, expiresAt });
  const [message] = await receiver.arrived(1);
  if (!message) throw new Error('A message has arrived.');
  expect(verify(secret, message, services.clock.now())).toEqual({
    ...sms,
    template: 'SIGN_IN',
    language: 'en',
    code: '123456',
    link: 'https://login.example.com/sign-in/link?token=secret-of-the-link',
    expiresAt: expiresAt.toISOString(),
  });
  expect(message.headers['webhook-id']).toBe(id);
  await messageUntil(services, id, ({ status }) => status === 'SENT');
});

test('keeps the id over retries, and respects Retry-After', async () => {
  const secret = randomBytes(24).toString('base64');
  const receiver = await startReceiver();
  receiver.answerWith((response) =>
    response.writeHead(503, { 'retry-after': '120' }).end('the code was 123456'),
  );
  await useSmsSender(await adminOf(service), { url: receiver.url, secret });
  const id = await queue(services, sms);
  const failed = await messageUntil(services, id, ({ attemptCount }) => attemptCount === 1);
  expect(failed.error).toBe('answered 503');
  const waits = Number(failed.nextAttemptAt) - services.clock.now().getTime();
  expect(waits).toBeGreaterThan(60_000);
  receiver.answerWith(204);
  advance(service, 121_000);
  const [first, second] = await receiver.arrived(2);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  await messageUntil(services, id, ({ status }) => status === 'SENT');
});
