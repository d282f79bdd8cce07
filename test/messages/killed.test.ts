import { expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { fetchManagementToken } from '../support/client-credentials.ts';
import { createProcessDatabase } from '../support/database.ts';
import { callRest } from '../support/operations/rest.ts';
import { startMailServer } from '../support/peers/mail-server.ts';
import { startProcess } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const database = await createProcessDatabase();

const admin = { id: newId('Application'), secret: 'a secret of thirty-two characters' };

async function start() {
  const { child, ready, ended } = startProcess({
    ...database,
    SIGNET_SECRET: 'a secret for tests only, and a long one',
    ALLOW_PRIVATE_WEBHOOKS: 'true',
    ADMIN_CLIENT_ID: admin.id,
    ADMIN_CLIENT_SECRET: admin.secret,
  });
  const url = await ready;
  const token = await fetchManagementToken({ url }, admin);
  return { child, ended, endpoint: { url, token } };
}

test('sends a message again after a kill during sending', async () => {
  const server = await startMailServer();
  const first = await start();
  // The mail is there in full; the process dies before the server says so.
  server.answerWith(async () => {
    first.child.kill('SIGKILL');
    await first.ended;
    return undefined;
  });
  const set = await callRest(first.endpoint, 'PUT', '/message-senders/email', {
    smtp: { host: '127.0.0.1', port: server.port, from: 'no-reply@acme.example' },
  });
  expect(set).toMatchObject({ status: 200 });
  // The answer may be cut off.
  await callRest(first.endpoint, 'POST', '/messages/test', {
    channel: 'EMAIL',
    recipient: 'ada@example.com',
  }).catch(() => undefined);
  expect(await first.ended).toBe('SIGKILL');

  server.answerWith(() => undefined);
  const second = await start();
  const [mail, again] = await server.arrived(2);
  expect(again?.mail.messageId).toBe(mail?.mail.messageId);
  const id = mail?.mail.messageId?.replace(/^<|@.*$/g, '');
  await eventually(async () => {
    const { body } = await callRest(second.endpoint, 'GET', `/messages/${id}`);
    expect(body.message).toMatchObject({ status: 'SENT', nextAttemptAt: null });
  });
  second.child.kill('SIGTERM');
  expect(await second.ended).toBe(0);
  expect(server.received).toHaveLength(2);
});
