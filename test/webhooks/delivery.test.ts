import { expect, test } from 'vitest';
import { startReceiver, verify } from '../support/receiver.ts';
import { startService } from '../support/service.ts';
import { createUser, createWebhook } from '../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const admin = { url: service.url, token: await service.managementToken() };

test('posts an event that the standardwebhooks package verifies', async () => {
  const receiver = await startReceiver();
  const { secret } = await createWebhook(admin, { url: receiver.url });
  const user = await createUser(admin, 'ada');

  const [message] = await receiver.arrived(1);
  expect(message && verify(secret, message)).toMatchObject({
    type: 'User.Created',
    actor: { type: 'APPLICATION', id: service.admin.id },
    data: { id: user.id, username: 'ada' },
  });
  expect(message?.headers).toMatchObject({
    'webhook-id': message?.json.id,
    'content-type': 'application/json',
  });
});
