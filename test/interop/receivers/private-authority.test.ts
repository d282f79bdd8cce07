import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { closeAtEnd } from '../../support/cleanup.ts';
import { fetchManagementToken } from '../../support/client-credentials.ts';
import { issuedPrivately } from '../../support/peers/self-signed.ts';
import { startProcess } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';
import {
  adminOf,
  attempted,
  createUser,
  createWebhook,
  type Endpoint,
} from '../../support/webhooks.ts';
import { prepareReceiver, receivers } from './receiver-process.ts';

const receiver = receivers.find(({ file }) => file === 'receive-webhooks.js');

test('a receiver whose certificate is of a private authority is trusted by NODE_EXTRA_CA_CERTS', async () => {
  if (!receiver) throw new Error('There is no such receiver.');
  const { url, start, taken } = await prepareReceiver(receiver);
  const https = await startTls(Number(new URL(url).port));
  const folder = await mkdtemp(join(tmpdir(), 'signet-authority-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, issuedPrivately.authority);

  const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
  const admin = await adminOf(service);
  const { id } = await createWebhook(admin, { url: https });
  await createUser(admin);
  const refused = await attempted(admin, id);
  expect(refused.delivery?.attempts[0]?.error).toMatch(/^the certificate is refused: /);

  const node = await startNode(join(folder, 'data'), authority);
  const webhook = await createWebhook(node, { url: https });
  await start(webhook.secret);
  const { username } = await createUser(node);
  const { delivery } = await attempted(node, webhook.id);
  expect(delivery).toMatchObject({ status: 'SUCCEEDED', attempts: [{ error: null }] });
  await eventually(() => expect(taken(username)).toBe(1));
});

/** An https address on this machine for a port, as of a proxy that has the certificate. */
async function startTls(port: number): Promise<string> {
  const server = createServer(issuedPrivately, (socket) => {
    const onward = connect(port, 'localhost');
    socket.pipe(onward).pipe(socket);
    socket.on('error', () => onward.destroy());
    onward.on('error', () => socket.destroy());
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  closeAtEnd(async () => void server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}/`;
}

/** Starts a service with a file of authorities that it trusts too; returns it with a token of its administrator. */
async function startNode(dataDir: string, authorities: string): Promise<Endpoint> {
  const client = { id: newId('Application'), secret: 'a secret of thirty-two characters' };
  const node = startProcess({
    DATA_DIR: dataDir,
    ALLOW_PRIVATE_WEBHOOKS: 'true',
    ADMIN_CLIENT_ID: client.id,
    ADMIN_CLIENT_SECRET: client.secret,
    NODE_EXTRA_CA_CERTS: authorities,
  });
  closeAtEnd(async () => {
    node.child.kill();
    await node.ended;
  });
  const url = await node.ready;
  return { url, token: await fetchManagementToken({ url }, client) };
}
