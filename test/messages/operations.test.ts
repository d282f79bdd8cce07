import { expect, test } from 'vitest';
import { ask, graphql, payload, send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import {
  messageUntil,
  queue,
  readOutbox,
  useMailServer,
  useSmsSender,
} from '../support/people/messages.ts';
import { startService } from '../support/service.ts';
import { adminOf } from '../support/webhooks.ts';

const service = await startService();
const { services } = service.app;
const admin = await adminOf(service);
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const Senders = graphql(`
  query SendersForTest {
    messageSenders {
      channel kind
      smtp { host port secure username hasPassword from }
      http { url }
    }
  }
`);

const Test = graphql(`
  mutation SendTestMessageForTest($input: SendTestMessageInput!) {
    sendTestMessage(input: $input) {
      __typename
      ... on SendTestMessagePayload { testMessage { id status template recipient } }
      ... on InvalidInputError { issues { path } }
      ... on Error { code message }
    }
  }
`);

const RemoveEmail = graphql(`
  mutation RemoveEmailSenderForTest {
    removeEmailSender(input: {}) {
      ... on RemoveEmailSenderPayload { messageSender { kind } }
    }
  }
`);

test('shows senders without their secrets', async () => {
  expect((await ask(admin, Senders)).messageSenders).toEqual([]);
  await useMailServer(admin, { host: '8.8.8.8', port: 2525, username: 'acme', password: 'hidden' });
  await useSmsSender(admin, { url: 'https://8.8.8.8/sms', secret });
  const { messageSenders } = await ask(admin, Senders);
  expect(messageSenders).toEqual([
    {
      channel: 'EMAIL',
      kind: 'SMTP',
      smtp: {
        host: '8.8.8.8',
        port: 2525,
        secure: false,
        username: 'acme',
        hasPassword: true,
        from: 'Acme <no-reply@acme.example>',
      },
      http: null,
    },
    { channel: 'SMS', kind: 'HTTP', smtp: null, http: { url: 'https://8.8.8.8/sms' } },
  ]);
  const { body } = await callRest(admin, 'GET', '/message-senders');
  expect(body.messageSenders).toEqual(
    messageSenders.map((sender) => expect.objectContaining(sender)),
  );
  expect(JSON.stringify(body)).not.toContain('hidden');
});

test('removes a sender, and finds none a second time', async () => {
  await useMailServer(admin, { host: '8.8.8.8', port: 2525 });
  const removed = await ask(admin, RemoveEmail);
  expect(removed.removeEmailSender).toEqual({ messageSender: { kind: 'SMTP' } });
  expect((await ask(admin, RemoveEmail)).removeEmailSender).toEqual({ messageSender: null });
});

test('refuses a sender at a private address', async () => {
  const { body, status } = await callRest(admin, 'PUT', '/message-senders/sms', {
    http: { url: 'https://127.0.0.1/', secret },
  });
  expect({ status, issues: body.issues }).toMatchObject({
    status: 422,
    issues: [{ path: ['http', 'url'], message: 'must lead to a public address' }],
  });
});

test('sends a test message, and shows its outcome', async () => {
  await ask(admin, RemoveEmail);
  const input = { channel: 'EMAIL', recipient: 'ada@example.com' } as const;
  const { sendTestMessage } = await ask(admin, Test, { input });
  const { testMessage } = payload(sendTestMessage, 'SendTestMessagePayload');
  expect(testMessage).toMatchObject({ template: 'TEST', recipient: 'ada@example.com' });
  await messageUntil(services, testMessage.id, ({ status }) => status === 'SENT');
  const { data } = await send(
    admin,
    `{ node(id: "${testMessage.id}") { ... on Message { status error attemptCount sentAt } } }`,
  );
  expect(data).toMatchObject({ node: { status: 'SENT', error: null, attemptCount: 1 } });
  expect((await readOutbox(service)).at(-1)).toMatchObject({ template: 'TEST', code: null });
});

test('checks the recipient by the channel', async () => {
  const input = { channel: 'SMS', recipient: 'ada@example.com' } as const;
  expect((await ask(admin, Test, { input })).sendTestMessage).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['recipient'] }],
  });
});

test('shows no message without the required scope', async () => {
  const id = await queue(services);
  const token = await service.managementToken('users:write events:read');
  const { errors } = await send(
    { url: service.url, token },
    `{ node(id: "${id}") { ... on Message { recipient } } }`,
  );
  expect(errors?.[0]?.extensions).toEqual({
    code: 'FORBIDDEN',
    requiredScope: 'experience:read',
  });
});
