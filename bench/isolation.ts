// The cost of broken endpoints to a healthy one: the time from a mutation's answer to its event's arrival at a healthy
// webhook, alone and beside endpoints that hang, answer 500, close, stream without end, redirect, or have a certificate
// that nobody trusts.

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateSecret } from '../src/applications/secret.ts';
import { newId } from '../src/ids.ts';
import { fetchManagementToken } from '../test/support/client-credentials.ts';
import { ask, graphql, payload } from '../test/support/operations/graphql.ts';
import { selfSigned } from '../test/support/peers/self-signed.ts';
import { startProcess } from '../test/support/process.ts';
import { createBenchDatabase } from './database.ts';

const mutations = Number(process.env['BENCH_MUTATIONS'] ?? 400);
const everyMs = 25;

const arrivals = new Map<string, number>();
const healthy: RequestListener = (request, response) => {
  arrivals.set(String(request.headers['webhook-id']), performance.now());
  request.resume().on('end', () => response.writeHead(204).end());
};
const broken: Record<string, RequestListener> = {
  hangs: () => undefined,
  'answers 500': (_request, response) => response.writeHead(500).end('no'),
  closes: (request) => request.socket.destroy(),
  'streams without end': (request, response) => {
    const timer = setInterval(() => response.write('x'.repeat(4096)), 10);
    request.socket.on('close', () => clearInterval(timer));
  },
  redirects: (_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end(),
};

async function receive(listener: RequestListener, isTls = false): Promise<string> {
  const server = isTls ? createTlsServer(selfSigned, listener) : createServer(listener);
  // The other side reports a bad certificate.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as AddressInfo;
  return `${isTls ? 'https' : 'http'}://127.0.0.1:${port}/hook`;
}

const AddWebhook = graphql(`
  mutation BenchAddWebhook($input: CreateWebhookInput!) {
    createWebhook(input: $input) { __typename ... on CreateWebhookPayload { webhook { id } } }
  }
`);
const AddUser = graphql(`
  mutation BenchAddUser($input: CreateUserInput!) {
    createUser(input: $input) { __typename ... on CreateUserPayload { user { id } } }
  }
`);
const EventOf = graphql(`
  query BenchEventOf($id: ID!) { events(first: 1, subjectId: $id) { edges { node { id } } } }
`);

const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

async function measure(name: string, environment: Record<string, string>): Promise<void> {
  const admin = { id: newId('Application'), secret: generateSecret() };
  const service = startProcess({
    ...environment,
    SIGNET_SECRET: generateSecret(),
    ADMIN_CLIENT_ID: admin.id,
    ADMIN_CLIENT_SECRET: admin.secret,
    ALLOW_PRIVATE_WEBHOOKS: 'true',
  });
  const url = await service.ready;
  const endpoint = { url, token: await fetchManagementToken({ url }, admin) };
  const memory = async () =>
    Number(
      /process_resident_memory_bytes (\d+)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1],
    ) /
    2 ** 20;

  const addWebhook = async (name: string, address: Promise<string>) => {
    const { createWebhook } = await ask(endpoint, AddWebhook, {
      input: { name, url: await address },
    });
    payload(createWebhook, 'CreateWebhookPayload');
  };
  let users = 0;
  const run = async () => {
    const acknowledged = new Map<string, number>();
    for (let n = 0; n < mutations; n += 1) {
      users += 1;
      const { createUser } = await ask(endpoint, AddUser, { input: { username: `u${users}` } });
      acknowledged.set(payload(createUser, 'CreateUserPayload').user.id, performance.now());
      await delay(everyMs);
    }
    const latencies: number[] = [];
    for (const [id, at] of acknowledged) {
      const { events } = await ask(endpoint, EventOf, { id });
      const eventId = String(events.edges[0]?.node.id);
      while (!arrivals.has(eventId)) await delay(10);
      latencies.push(Math.max(0, (arrivals.get(eventId) ?? 0) - at));
    }
    return latencies;
  };

  await addWebhook('healthy', receive(healthy));
  await run();
  const alone = await run();
  const memoryAlone = await memory();
  for (const [called, listener] of Object.entries(broken)) {
    await addWebhook(called, receive(listener));
  }
  await addWebhook('has a bad certificate', receive(healthy, true));
  const beside = await run();
  const row = (label: string, values: readonly number[], megabytes: number) =>
    console.log(
      `| ${name}, ${label} | ${quantile(values, 0.5).toFixed(1)} | ${quantile(values, 0.99).toFixed(1)} | ${megabytes.toFixed(0)} |`,
    );
  row('alone', alone, memoryAlone);
  row(`beside ${Object.keys(broken).length + 1} broken ones`, beside, await memory());
  service.child.kill('SIGKILL');
  await service.ended;
}

console.log('| healthy endpoint | p50 ms | p99 ms | memory MB |\n| --- | --- | --- | --- |');
const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
await measure('embedded', { DATA_DIR: dataDir });
await rm(dataDir, { recursive: true, force: true });
const database = await createBenchDatabase();
if (database) {
  await measure('PostgreSQL', { DATABASE_URL: database.url });
  await database.drop();
}
process.exit(0);
