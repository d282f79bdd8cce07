import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'undici';
import { generateWebhookSecret, keyOf, signatureHeaders } from '../src/outbound/signature.ts';
import { fetchManagementToken } from '../test/support/client-credentials.ts';
import { createBenchDatabase } from './database.ts';
import { median } from './fire.ts';
import { cpuMsOf, msOf } from './server.ts';

// Deliveries a second to a receiver on this machine, in a separate process: by one node, by two, embedded, and by a
// bare loop that signs and posts. Measured from before the commit of the events to the arrival of the last one; each
// figure is the median of the rounds. The first round, while everything is cold, does not count. CPU is that of the
// nodes' own processes, without PostgreSQL's.

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const eventCount = Number(process.env['BENCH_EVENTS'] ?? 10_000);
const inFlight = Number(process.env['BENCH_IN_FLIGHT'] ?? 100);

type Message = Readonly<Record<string, unknown>>;
const children: ChildProcess[] = [];

async function start(
  module: string,
  env: Record<string, string> = {},
): Promise<[ChildProcess, Message]> {
  const child = fork(new URL(module, import.meta.url), {
    env: { ...process.env, ...env },
  });
  children.push(child);
  const [hello] = (await once(child, 'message')) as [Message];
  return [child, hello];
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function tell(child: ChildProcess, message: Message): Promise<Message> {
  const answer = once(child, 'message') as Promise<[Message]>;
  child.send(message);
  return (await answer)[0];
}

const [receiver, { port }] = await start('./webhook-receiver.ts');
const url = `http://127.0.0.1:${port}/hook`;

interface Figures {
  /** Deliveries a second. */
  readonly rate: number;
  /** The CPU time of each delivery, in milliseconds. */
  readonly cpuMs: number;
}

/**
 * Runs the rounds, which each send all events to the receiver.
 *
 * @param cpuMs The CPU time of all senders so far, in milliseconds.
 */
async function measure(
  give: () => Promise<unknown>,
  cpuMs: () => Promise<number>,
): Promise<Figures> {
  const rates: number[] = [];
  const cpus: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await tell(receiver, { wanted: eventCount });
    const done = once(receiver, 'message');
    const before = await cpuMs();
    const startedAt = performance.now();
    await give();
    await done;
    const elapsedMs = performance.now() - startedAt;
    if (round === 0) continue;
    rates.push(eventCount / (elapsedMs / 1000));
    cpus.push(((await cpuMs()) - before) / eventCount);
  }
  return { rate: median(rates), cpuMs: median(cpus) };
}

const cpuMsOfAll = async (nodes: readonly ChildProcess[]) =>
  (await Promise.all(nodes.map(cpuMsOf))).reduce((sum, one) => sum + one, 0);

async function bareLoop(): Promise<void> {
  const agent = new Agent();
  const key = keyOf(generateWebhookSecret());
  let next = 0;
  const work = async () => {
    while (next < eventCount) {
      next += 1;
      const id = `evt_${String(next).padStart(26, '0')}`;
      const body = Buffer.from(
        JSON.stringify({ id, type: 'User.Created', timestamp: new Date(), data: filler }),
      );
      const timestamp = Math.floor(Date.now() / 1000);
      const headers = {
        'content-type': 'application/json',
        ...signatureHeaders([key], { id, timestamp, body }),
      };
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  await agent.close();
}
const filler = { text: 'x'.repeat(400) };

async function createWebhook({ url: service, credentials }: Message): Promise<void> {
  const admin = credentials as { id: string; secret: string };
  const token = await fetchManagementToken({ url: String(service) }, admin);
  const answer = await fetch(`${service}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      query: `mutation ($input: CreateWebhookInput!) {
        createWebhook(input: $input) { ... on CreateWebhookPayload { webhook { id } } } }`,
      variables: { input: { name: 'Bench', url, maxInFlight: inFlight } },
    }),
  });
  const text = await answer.text();
  if (!text.includes('hook_')) throw new Error(text);
}

let written = 1;
const write = (child: ChildProcess) => async () => {
  await tell(child, { first: written, events: eventCount });
  written += eventCount;
};

const figures: Record<string, Figures> = {};

// Each case has its own database, so that none pays for the vacuum of another.
async function onPostgresql(name: string, count: number): Promise<void> {
  const database = await createBenchDatabase();
  if (!database) return;
  const env = {
    DATABASE_URL: database.url,
    SIGNET_SECRET: 'a secret for the bench alone, long enough',
  };
  const nodes: ChildProcess[] = [];
  try {
    const [first, about] = await start('./webhook-server.ts', env);
    nodes.push(first);
    await createWebhook(about);
    while (nodes.length < count) nodes.push((await start('./webhook-server.ts', env))[0]);
    figures[name] = await measure(write(first), () => cpuMsOfAll(nodes));
  } finally {
    await Promise.all(nodes.map(stop));
    await database.drop();
  }
}

try {
  figures['a bare loop'] = await measure(bareLoop, async () => msOf(process.cpuUsage()));
  const [embedded, about] = await start('./webhook-server.ts', { DATABASE_URL: '' });
  await createWebhook(about);
  figures['embedded'] = await measure(write(embedded), () => cpuMsOf(embedded));
  await stop(embedded);
  await onPostgresql('one node on PostgreSQL', 1);
  await onPostgresql('two nodes on PostgreSQL', 2);
  const bare = figures['a bare loop']?.rate ?? Number.NaN;
  console.table(
    Object.fromEntries(
      Object.entries(figures).map(([name, { rate, cpuMs }]) => [
        name,
        {
          'deliveries/s': Math.round(rate),
          'to the bare loop': (rate / bare).toFixed(2),
          'CPU ms each': cpuMs.toFixed(3),
        },
      ]),
    ),
  );
} finally {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL');
}
