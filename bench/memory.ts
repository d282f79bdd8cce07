import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { WebSocket } from 'ws';
import { createBenchDatabase } from './database.ts';
import {
  admin,
  adminToken,
  type Memory,
  memoryOf,
  type Service,
  startService,
} from './service-process.ts';

// Memory and CPU of the service in a process of its own, started as `npm start` does: at its start, after a minute of
// mixed load, and at rest. On Linux alone, which tells them in /proc.

const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 14);
const loadSeconds = Number(process.env['BENCH_LOAD_SECONDS'] ?? 60);
const restSeconds = Number(process.env['BENCH_REST_SECONDS'] ?? 300);
const idleSeconds = Number(process.env['BENCH_IDLE_SECONDS'] ?? 60);
// What only the start needed is given back shortly after it.
const settleMs = 3_000;

const setUp = fileURLToPath(new URL('../examples/set-up.sh', import.meta.url));
/** The CPU time that a process has used, in seconds. */
async function cpuOf({ pid }: Service): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // utime and stime, in hundredths of a second on Linux.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Makes two APIs, a service and a signed-in user, and returns an exchange. */
async function setUpExchange(url: string): Promise<() => Promise<Response>> {
  const { stdout } = await promisify(execFile)(setUp, [url], {
    env: { ...process.env, ADMIN_CLIENT_ID: admin.id, ADMIN_CLIENT_SECRET: admin.secret },
  });
  const variable = (name: string) => new RegExp(`${name}=(\\S+)`).exec(stdout)?.[1] ?? '';
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    client_id: variable('SERVICE_ID'),
    client_secret: variable('SERVICE_SECRET'),
    subject_token: variable('SUBJECT_TOKEN'),
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: 'https://orders.example.com',
    scope: 'orders:read',
  });
  return () => fetch(`${url}/oidc/token`, { method: 'POST', body });
}

/** Sends exchanges, mutations and queries until the time is over; a webhook and a subscriber get the events. */
async function applyLoad({ url }: Service): Promise<Readonly<Record<string, number>>> {
  const token = await adminToken(url);
  const authorization = `Bearer ${token}`;
  const done = { exchanges: 0, mutations: 0, queries: 0, events: 0, deliveries: 0 };
  const post = (query: string, variables: object = {}) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ query, variables }),
    });

  const receiver = createServer((request, response) => {
    done.deliveries += 1;
    request.resume().once('end', () => response.end());
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  await post(
    `mutation ($url: URL!) { createWebhook(input: { name: "Bench", url: $url }) { __typename } }`,
    { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook` },
  );
  const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization } }));
  await once(socket, 'message');
  socket.on('message', () => {
    done.events += 1;
  });
  const query = 'subscription { events { id cursor name data } }';
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query } }));

  const exchange = await setUpExchange(url);
  const endsAt = performance.now() + loadSeconds * 1000;
  let number = 0;
  const repeat = async (
    name: 'exchanges' | 'mutations' | 'queries',
    send: () => Promise<Response>,
  ) => {
    while (performance.now() < endsAt) {
      const response = await send();
      const text = await response.text();
      if (!response.ok || text.includes('"errors"')) throw new Error(`${name}: ${text}`);
      done[name] += 1;
    }
  };
  const several = (
    share: number,
    name: 'exchanges' | 'mutations' | 'queries',
    send: () => Promise<Response>,
  ) => Array.from({ length: Math.round(connections * share) }, () => repeat(name, send));
  await Promise.all([
    ...several(8 / 14, 'exchanges', exchange),
    ...several(4 / 14, 'mutations', () => {
      number += 1;
      return post(
        `mutation ($input: CreateUserInput!) {
          createUser(input: $input) { ... on CreateUserPayload { user { id } } }
        }`,
        { input: { username: `bench_${number}` } },
      );
    }),
    ...several(2 / 14, 'queries', () =>
      post(
        '{ users(first: 20) { edges { node { id username roles(first: 5) { edges { node { name } } } } } } }',
      ),
    ),
  ]);
  socket.close();
  receiver.closeAllConnections();
  receiver.close();
  return done;
}

async function restCpu(service: Service): Promise<string> {
  const before = await cpuOf(service);
  await delay(idleSeconds * 1000);
  return `${((((await cpuOf(service)) - before) / idleSeconds) * 100).toFixed(2)} % of a core`;
}

async function run(name: string, environment: Record<string, string>): Promise<void> {
  const print = (what: string, { rss, pss, peak }: Memory, more = '') =>
    process.stdout.write(
      `${name.padEnd(12)} ${what.padEnd(22)} ${rss.toFixed(0).padStart(6)} ${pss.toFixed(0).padStart(6)} ${peak.toFixed(0).padStart(6)}  ${more}\n`,
    );
  const first = await startService(environment);
  try {
    await delay(settleMs);
    print('first start', await memoryOf(first));
  } finally {
    await first.stop();
  }
  const service = await startService(environment);
  try {
    await delay(settleMs);
    print('start', await memoryOf(service), await restCpu(service));
    const done = await applyLoad(service);
    const counts = Object.entries(done).map(([what, count]) => `${count} ${what}`);
    print(`${loadSeconds} s by ${connections}`, await memoryOf(service), counts.join(', '));
    await delay(restSeconds * 1000);
    print(`${restSeconds} s after it`, await memoryOf(service), await restCpu(service));
  } finally {
    await service.stop();
  }
}

process.stdout.write(`\n${'MB'.padEnd(35)}    RSS    PSS   peak\n`);
const dataDir = await mkdtemp(join(tmpdir(), 'signet-bench-'));
const database = await createBenchDatabase();
try {
  if (database) await run('PostgreSQL', { DATABASE_URL: database.url });
  await run('embedded', { DATA_DIR: dataDir });
} finally {
  await database?.drop();
  await rm(dataDir, { recursive: true, force: true });
}
