import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createBenchDatabase } from './database.ts';
import { median } from './fire.ts';
import { fire, operations, type Round } from './mutation-load.ts';
import { type BenchServer, startServer } from './server.ts';

// Mutations and queries, beside a bare server that writes and reads the same rows. The two take turns in short rounds,
// so that other load on the machine affects both alike. CPU is that of the server's own process.

const warmSeconds = Number(process.env['BENCH_WARM_SECONDS'] ?? 30);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 5);
const connectionCounts = (process.env['BENCH_CONNECTIONS'] ?? '1,16,64,256').split(',').map(Number);
const only = process.env['BENCH_ONLY']?.split(',');
const profile = process.env['BENCH_PROFILE'];

async function measure(servers: ReadonlyMap<string, BenchServer>, what: string, name: string) {
  for (const connections of connectionCounts) {
    const all = new Map<string, Round[]>([...servers.keys()].map((key) => [key, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [key, server] of servers) {
        all.get(key)?.push(await fire(server, name, connections, seconds));
      }
    }
    const of = (key: string, figure: keyof Round) =>
      median((all.get(key) ?? []).map((round) => round[figure]));
    for (const key of servers.keys()) {
      process.stdout.write(
        `${[
          what.padEnd(26),
          key.padEnd(7),
          String(connections).padStart(11),
          of(key, 'rate').toFixed(0).padStart(7),
          of(key, 'p50').toFixed(0).padStart(7),
          of(key, 'p99').toFixed(0).padStart(7),
          of(key, 'cpuMs').toFixed(2).padStart(12),
          (of(key, 'rate') / of('bare', 'rate')).toFixed(2).padStart(8),
        ].join(' ')}\n`,
      );
    }
  }
}

async function addWebhook({ load: { url, path, headers } }: BenchServer, port: number) {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      query: `mutation ($input: CreateWebhookInput!) {
        createWebhook(input: $input) { ... on CreateWebhookPayload { webhook { id } } } }`,
      variables: { input: { name: 'Bench', url: `http://127.0.0.1:${port}/hook` } },
    }),
  });
  const text = await answer.text();
  if (!text.includes('hook_')) throw new Error(text);
}

const databases = [await createBenchDatabase(), await createBenchDatabase()] as const;
const servers = new Map<string, BenchServer>();
let receiver: ChildProcess | undefined;
try {
  const [signets, bares] = databases;
  if (signets && bares) {
    const signet = await startServer('./server-mutations.ts', {
      DATABASE_URL: signets.url,
      SIGNET_SECRET: 'a secret for the bench alone, long enough',
      ...(profile ? { BENCH_PROFILE: profile } : {}),
    });
    servers.set('Signet', signet);
    servers.set(
      'bare',
      await startServer('./server-mutations-bare.ts', { DATABASE_URL: bares.url }),
    );
    const isWanted = (what: string) => only?.includes(what) ?? true;
    for (const server of servers.values()) {
      for (const name of Object.keys(operations)) {
        if (isWanted(name)) await fire(server, name, 16, Math.ceil(warmSeconds / 4));
      }
    }
    process.stdout.write(
      `\n${'operation'.padEnd(26)} server  connections   req/s  p50 ms  p99 ms  CPU ms each  of bare\n`,
    );
    for (const name of Object.keys(operations)) {
      if (isWanted(name)) await measure(servers, name, name);
    }
    if (isWanted('webhook')) {
      receiver = fork(new URL('./webhook-receiver.ts', import.meta.url), {
        execArgv: ['--disable-warning=ExperimentalWarning'],
      });
      const [{ port }] = (await once(receiver, 'message')) as [{ port: number }];
      await addWebhook(signet, port);
      for (const name of ['createUser', 'updateUser']) {
        await measure(servers, `${name}, with a webhook`, name);
      }
    }
  }
} finally {
  receiver?.kill('SIGTERM');
  for (const server of servers.values()) await server.stop();
  for (const database of databases) await database?.drop();
}
