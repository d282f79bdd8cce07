import { expect, test } from 'vitest';
import { callRest } from '../../support/operations/rest.ts';
import { type Received, startReceiver } from '../../support/peers/receiver.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import { adminOf, advance, createWebhook } from '../../support/webhooks.ts';
import { prepareReceiver, receivers } from './receiver-process.ts';

const receiver = receivers.find(({ file }) => file.endsWith('in-order.js'));

test.skipIf(!receiver?.isInstalled)(
  'a copy of the users stays right when an update comes after a later one',
  async () => {
    if (!receiver) throw new Error('There is no such receiver.');
    const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
    // A retry comes when the test moves the clock.
    service.clock.freeze();
    const admin = await adminOf(service);
    const { url, start, printed } = await prepareReceiver(receiver);
    const proxy = await startReceiver();
    const events = ['USER_CREATED', 'USER_DATA_UPDATED', 'USER_DELETED'] as const;
    const { secret } = await createWebhook(admin, { url: proxy.url, events: [...events] });
    await start(secret);

    const held = ({ json }: Received) => json.data['name'] === 'Second';
    const passed: Received[] = [];
    proxy.answerWith(async (response, message) => {
      if (held(message) && !passed.some(held)) {
        passed.push(message);
        response.writeHead(503).end();
        return;
      }
      const headers = new Headers(message.headers as Record<string, string>);
      const answer = await fetch(url, { method: 'POST', headers, body: message.body });
      response.writeHead(answer.status).end();
      if (answer.status === 204) passed.push(message);
    });
    const rest = async (method: string, path: string, body: object) =>
      (await callRest(admin, method, path, body)).body.user;

    const { id } = await rest('POST', '/users', { username: 'ada', name: 'First' });
    await eventually(() => expect(printed()).toContain('User.Created First'));
    await rest('PATCH', `/users/${id}`, { name: 'Second' });
    await eventually(() => expect(passed.some(held)).toBe(true));
    await rest('PATCH', `/users/${id}`, { name: 'Third' });
    await eventually(() => expect(printed()).toContain('User.Data.Updated Third'));

    advance(service, 10_000);
    await eventually(() => expect(passed.filter(held)).toHaveLength(2));
    await rest('POST', '/users', { username: 'bob', name: 'Last' });
    await eventually(() => expect(printed()).toContain('User.Created Last'));
    expect(printed().match(/^User.*$/gm)).toEqual([
      'User.Created First',
      'User.Data.Updated Third',
      'User.Created Last',
    ]);
  },
);
