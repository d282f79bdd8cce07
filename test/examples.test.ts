import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { connectMcp } from './support/mcp/client.ts';
import { signInByMcp } from './support/mcp/sign-in.ts';
import { callRest } from './support/operations/rest.ts';
import { createSignInFixture } from './support/people/sign-in-fixture.ts';
import { startService } from './support/service.ts';
import { eventually } from './support/wait.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const token = await service.managementToken();
const folder = await mkdtemp(join(tmpdir(), 'signet-examples-'));
const running = new Set<ChildProcessByStdio<null, Readable, null>>();
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

/** Starts an example as its reader would, and waits for lines that it prints. */
function startExample(name: string, environment: Record<string, string>) {
  const path = fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [path], {
    cwd: folder,
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  return {
    soFar: () => printed,
    async printed(pattern: RegExp): Promise<string> {
      while (!pattern.test(printed)) await once(child.stdout, 'data');
      return printed;
    },
    async kill() {
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
      running.delete(child);
    },
  };
}

const addUser = (username: string) =>
  callRest({ url: service.url, token }, 'POST', '/users', { username });

const seenIn = (printed: string) =>
  [...printed.matchAll(/"username":"(\w+)"/g)].map(([, name]) => name);

test('follow-events.js continues after a kill', async () => {
  const environment = {
    SIGNET: service.url,
    CLIENT_ID: service.admin.id,
    CLIENT_SECRET: service.admin.secret,
  };
  await addUser('before');
  const first = startExample('follow-events.js', environment);
  // It follows what is new alone, and nothing shows when it has begun.
  let early = 0;
  await eventually(async () => {
    early += 1;
    await addUser(`early${early}`);
    expect(first.soFar()).toMatch(/early/);
  }, 200);
  await addUser('alice');
  const before = seenIn(await first.printed(/"alice"/));
  await first.kill();

  await addUser('bob');
  const second = startExample('follow-events.js', environment);
  await second.printed(/"bob"/);
  await addUser('carol');
  const after = seenIn(await second.printed(/"carol"/));
  // At most the event that was dealt with and not noted is seen twice.
  expect([...new Set([...before, ...after])].slice(-3)).toEqual(['alice', 'bob', 'carol']);
  expect(after.length).toBeLessThanOrEqual(3);
});

test('receive-webhooks.js accepts only messages that Signet signed', async () => {
  const { body: early } = await callRest({ url: service.url, token }, 'POST', '/webhooks', {
    name: 'Examples',
    url: 'http://127.0.0.1:9/',
    events: ['USER_CREATED'],
  });
  const port = await freePort();
  const receiver = startExample('receive-webhooks.js', {
    WEBHOOK_SECRET: early.secret,
    PORT: String(port),
  });
  await receiver.printed(/listens/);
  const url = `http://localhost:${port}/`;
  const forged = await fetch(url, { method: 'POST', body: '{"id":"evt","type":"User.Created"}' });
  expect(forged.status).toBe(401);
  await callRest({ url: service.url, token }, 'PATCH', `/webhooks/${early.webhook.id}`, { url });
  await addUser('dave');
  expect(seenIn(await receiver.printed(/"dave"/))).toEqual(['dave']);
});

test('mcp-server.ts is used by a client that registers itself, for the person who signs in', async () => {
  const port = await freePort();
  const serverUrl = `http://localhost:${port}/mcp`;
  const fixture = await createSignInFixture(service);
  const resource = await fixture.directory.createResource(['notes:read'], { indicator: serverUrl });
  await fixture.directory.allowUser(fixture.user, resource, ['notes:read']);
  await callRest({ url: service.url, token }, 'PATCH', '/service-settings', {
    clientRegistration: { dynamic: 'OPEN' },
  });
  const { issuer } = service.app.services;
  const server = startExample('mcp-server.ts', { ISSUER: issuer, PORT: String(port) });
  await server.printed(/listens/);
  expect((await fetch(serverUrl, { method: 'POST', body: '{}' })).status).toBe(401);
  const elsewhere = await fixture.signIn({ resource: fixture.resource.indicator });
  const refused = await fetch(serverUrl, {
    method: 'POST',
    headers: { authorization: `Bearer ${elsewhere.access_token}` },
    body: '{}',
  });
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');

  const { tokens } = await signInByMcp(service, {
    serverUrl,
    metadata: { application_type: 'web' },
    username: 'Ada',
  });
  const { call } = await connectMcp({ url: `http://localhost:${port}` }, tokens.access_token);
  expect(await call('whoami', {})).toEqual({ isError: false, result: fixture.user.id });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
