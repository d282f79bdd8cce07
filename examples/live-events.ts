// Live events from end to end, with real clients, in one terminal: `npm run demo:events`. It has a receiver of webhooks
// and a subscriber, to copy from. The exit code is 0 only if every step succeeded.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient } from 'graphql-ws';
import { Webhook } from 'standardwebhooks';
import { WebSocket } from 'ws';
import { ask, graphql, payload } from '../test/support/operations/graphql.ts';
import { startProcess } from '../test/support/process.ts';
import { allHeld, show, step } from './narration.ts';

interface Message {
  readonly id: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
}

/** An endpoint for webhooks. It verifies messages, and accepts each one once. */
const inbox = new Map<string, Message>();
const arrivals = new EventEmitter();
const secrets: string[] = [];
const receiver = createServer(async (request, response) => {
  const body = await text(request);
  const headers = request.headers as Record<string, string>;
  try {
    const secret = secrets.at(-1) ?? '';
    const message = new Webhook(secret).verify(body, headers) as Message;
    assert.throws(() => new Webhook(secret).verify(body.replace('{', '{ '), headers));
    response.writeHead(204).end();
    // Delivery is at least once; the id shows a repetition.
    inbox.set(headers['webhook-id'] as string, message);
    arrivals.emit('message', headers);
  } catch {
    response.writeHead(401).end();
  }
});
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;

const dataDir = await mkdtemp(join(tmpdir(), 'signet-demo-'));
const environment = { DATA_DIR: dataDir, ALLOW_PRIVATE_WEBHOOKS: 'true' };
let service = startProcess(environment);

try {
  step('The service starts, allowed to post to this machine');
  const url = await service.ready;
  const [, adminId, adminSecret] =
    /ADMIN_CLIENT_ID=(\S+)\s+ADMIN_CLIENT_SECRET=(\S+)/.exec(service.stdout()) ?? [];
  const getToken = async () => {
    const response = await fetch(`${url}/oidc/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${adminId}:${adminSecret}`)}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        resource: 'urn:signet:management',
        scope: 'all',
      }),
    });
    return ((await response.json()) as { access_token: string }).access_token;
  };
  const admin = { url, token: await getToken() };
  show('url', url);

  step('A subscriber, over WebSocket: it keeps its cursor, and comes back with it');
  const seen: { name: string; data: Record<string, unknown> }[] = [];
  const sightings = new EventEmitter();
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: async () => ({ authorization: `Bearer ${await getToken()}` }),
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
  });
  // The client sends these variables again when it reconnects, with the last cursor.
  const variables = { after: null as string | null };
  const unsubscribe = client.subscribe<{
    events: { cursor: string; name: string; data: Record<string, unknown> };
  }>(
    {
      query: 'subscription ($after: String) { events(after: $after) { cursor name data } }',
      variables,
    },
    {
      next({ data }) {
        if (!data) return;
        variables.after = data.events.cursor;
        seen.push(data.events);
        sightings.emit('event');
      },
      error: (error) => sightings.emit('error', error),
      complete: () => undefined,
    },
  );
  await new Promise<void>((resolve) => client.on('connected', () => resolve()));
  show('socket', 'connected');

  step('A webhook: users alone, signed as Standard Webhooks has it');
  const { createWebhook } = await ask(
    admin,
    graphql(`
      mutation DemoAddWebhook($url: URL!) {
        createWebhook(input: { name: "Demo", url: $url, events: [USER_CREATED] }) {
          __typename
          ... on CreateWebhookPayload { secret webhook { id url events } }
        }
      }
    `),
    { url: receiverUrl },
  );
  const { webhook, secret } = payload(createWebhook, 'CreateWebhookPayload');
  secrets.push(secret);
  show('webhook', webhook);

  const AddUser = graphql(`
    mutation DemoAddSomebody($username: String!) {
      createUser(input: { username: $username }) {
        __typename
        ... on CreateUserPayload { user { id username } }
      }
    }
  `);
  const addUser = async (username: string) =>
    payload((await ask(admin, AddUser, { username })).createUser, 'CreateUserPayload').user;
  const arrived = async (count: number) => {
    while (inbox.size < count) await once(arrivals, 'message');
  };
  const sighted = async (count: number) => {
    while (seen.length < count) await once(sightings, 'event');
  };

  step('A user is created: both are told');
  const [headers] = await Promise.all([
    once(arrivals, 'message').then(([first]) => first as Record<string, string>),
    addUser('alice'),
  ]);
  // The subscriber hears of the webhook too.
  await sighted(2);
  show('headers', {
    'webhook-id': headers['webhook-id'],
    'webhook-timestamp': headers['webhook-timestamp'],
    'webhook-signature': headers['webhook-signature'],
  });
  show('webhook', [...inbox.values()][0]);
  show('socket', seen[1]);

  step('The secret is rotated: for a day messages carry both signatures');
  const { rotateWebhookSecret } = await ask(
    admin,
    graphql(`
      mutation DemoRotate($id: ID!) {
        rotateWebhookSecret(input: { id: $id }) {
          __typename
          ... on RotateWebhookSecretPayload { secret }
        }
      }
    `),
    { id: webhook.id },
  );
  const [both] = await Promise.all([
    once(arrivals, 'message').then(([second]) => second as Record<string, string>),
    addUser('bob'),
  ]);
  show('signature', (both['webhook-signature'] as string).split(' '));
  assert.equal(both['webhook-signature']?.split(' ').length, 2);
  secrets.push(payload(rotateWebhookSecret, 'RotateWebhookSecretPayload').secret);
  await Promise.all([addUser('carol'), once(arrivals, 'message')]);
  show('verified', 'with the old secret, then with the new one');

  step('Fifty users, and kill -9 in the middle; the service starts again');
  let acknowledged = 3;
  for (let n = 1; n <= 50; n += 1) {
    // A mutation without an answer is not acknowledged, so it does not count.
    if (await addUser(`user${n}`).catch(() => undefined)) acknowledged += 1;
    if (n === 25) {
      service.child.kill('SIGKILL');
      await service.ended;
      service = startProcess({ ...environment, PORT: new URL(url).port });
      await service.ready;
    }
  }
  const ofTheWebhook = ['Webhook.Created', 'Webhook.Secret.Rotated'];
  await Promise.all([arrived(acknowledged), sighted(acknowledged + ofTheWebhook.length)]);
  show('outcome', { acknowledged, inTheInbox: inbox.size, seenBySubscriber: seen.length });
  assert.deepEqual(
    seen.map(({ name }) => name).filter((name) => name !== 'User.Created'),
    ofTheWebhook,
  );
  const names = seen
    .filter(({ name }) => name === 'User.Created')
    .map(({ data }) => data['username']);
  assert.equal(acknowledged, 53);
  assert.deepEqual(names, [
    'alice',
    'bob',
    'carol',
    ...Array.from({ length: 50 }, (_, n) => `user${n + 1}`),
  ]);
  assert.deepEqual(
    new Set([...inbox.values()].map(({ data }) => data['username'])),
    new Set(names),
  );

  unsubscribe();
  await client.dispose();
  allHeld();
} finally {
  service.child.kill('SIGTERM');
  await service.ended;
  receiver.close();
  receiver.closeAllConnections();
  await rm(dataDir, { recursive: true, force: true });
}
