// Exchanges with one worker and with two: how many a second, and the CPU time of all processes for each. The two take
// turns in short rounds, so that other load on the machine affects both alike.
import { readdir, readFile } from 'node:fs/promises';
import autocannon from 'autocannon';
import { newJti, signAccessToken } from '../src/auth/access-token.ts';
import { systemClock, toNumericDate } from '../src/clock.ts';
import { openPostgresql } from '../src/db/database.ts';
import { createSealing } from '../src/keys/cipher.ts';
import { loadSigningKeys } from '../src/keys/signing-keys.ts';
import { seedDirectory } from '../test/support/operations/directory.ts';
import { createBenchDatabase } from './database.ts';
import { userCount } from './server.ts';
import { type Service, startService } from './service-process.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 7);
const seconds = Number(process.env['BENCH_SECONDS'] ?? 4);
// Exchanges of each worker before it is measured: until then its code is not compiled.
const warm = Number(process.env['BENCH_WARM'] ?? 30_000);
const counts = (process.env['BENCH_WORKERS'] ?? '1,2').split(',').map(Number);
// Of each worker, so that each has as much to do.
const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 32);
const secret = 'a secret for the bench alone, long enough';
const baseUrl = 'http://localhost:3000';

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** The CPU time of a process and its children so far, in milliseconds. On Linux alone, which tells it in /proc. */
async function cpuMs({ pid }: Service): Promise<number> {
  const of = async (id: number | string) => {
    const fields = (await readFile(`/proc/${id}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
    // In ticks of a hundredth of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  };
  let sum = 0;
  for (const task of await readdir(`/proc/${pid}/task`)) {
    const children = await readFile(`/proc/${pid}/task/${task}/children`, 'utf8');
    for (const child of children.split(' ').filter(Boolean)) sum += await of(child);
  }
  return sum + (await of(pid));
}

const database = await createBenchDatabase();
const services = new Map<number, Service>();
if (database) {
  try {
    for (const workers of counts) {
      const environment = {
        DATABASE_URL: database.url,
        SIGNET_SECRET: secret,
        BASE_URL: baseUrl,
        WORKERS: String(workers),
        LOG_LEVEL: 'info',
      };
      services.set(workers, await startService(environment));
    }
    const own = openPostgresql({
      url: database.url,
      passwordFile: undefined,
      poolSize: 5,
      tokenPoolSize: 1,
      onError: console.error,
    });
    const directory = seedDirectory(own, systemClock);
    const orders = await directory.createResource(['read', 'write', 'refund']);
    const frontend = await directory.createClient({ type: 'SPA' });
    const backend = await directory.createClient({ type: 'TRADITIONAL', allowTokenExchange: true });
    const keys = await loadSigningKeys({
      prisma: own.prisma,
      cipher: createSealing(secret),
      clock: systemClock,
    });
    const bodies: string[] = [];
    const now = toNumericDate(systemClock.now());
    for (let i = 0; i < userCount; i += 1) {
      const user = await directory.createUser();
      await directory.allowUser(user, orders, ['read', 'write']);
      const subject_token = await signAccessToken(keys, {
        iss: `${baseUrl}/oidc`,
        sub: user.id,
        aud: 'https://gateway.example.com',
        client_id: frontend.id,
        scope: '',
        iat: now,
        exp: now + 86_400,
        jti: newJti(systemClock.now()),
      });
      const parameters = {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        resource: orders.indicator,
        scope: 'read write',
      };
      bodies.push(new URLSearchParams(parameters).toString());
    }
    await own.prisma.$executeRaw`ANALYZE`;
    await own.close();
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${backend.id}:${backend.secret}`).toString('base64')}`,
    };
    const fire = async (
      workers: number,
      service: Service,
      much: { readonly duration: number } | { readonly amount: number },
    ) => {
      const before = await cpuMs(service);
      const result = await autocannon({
        url: service.url,
        connections: connections * workers,
        ...much,
        requests: bodies.map((body) => ({ method: 'POST', path: '/oidc/token', headers, body })),
      });
      if (result.non2xx > 0 || result.errors > 0)
        throw new Error(`${result.non2xx} refusals and ${result.errors} errors.`);
      const { total } = result.requests;
      return { rate: total / result.duration, cpuMs: ((await cpuMs(service)) - before) / total };
    };
    for (const [workers, service] of services)
      await fire(workers, service, { amount: warm * workers });
    const found = new Map<number, { readonly rates: number[]; readonly cpus: number[] }>(
      counts.map((workers) => [workers, { rates: [], cpus: [] }]),
    );
    for (let round = 0; round < rounds; round += 1) {
      for (const [workers, service] of services) {
        const { rate, cpuMs: cpu } = await fire(workers, service, { duration: seconds });
        found.get(workers)?.rates.push(rate);
        found.get(workers)?.cpus.push(cpu);
      }
    }
    process.stdout.write('\nworkers  exchanges/s  CPU ms each  of the first\n');
    const first = median(found.get(counts[0] ?? 1)?.cpus ?? []);
    for (const [workers, { rates, cpus }] of found) {
      process.stdout.write(
        `${String(workers).padStart(7)} ${median(rates).toFixed(0).padStart(12)} ${median(cpus).toFixed(3).padStart(12)} ${(median(cpus) / first).toFixed(2).padStart(13)}\n`,
      );
    }
  } finally {
    for (const service of services.values()) await service.stop();
    await database.drop();
  }
}
