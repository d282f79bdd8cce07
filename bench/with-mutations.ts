import { fetchManagementToken } from '../test/support/client-credentials.ts';
import { createBenchDatabase } from './database.ts';
import { median } from './fire.ts';
import { type BenchServer, startServer } from './server.ts';

// Exchanges beside a burst of mutations, on pools of ten: neither may starve the other. CPU is that of the server's own
// process for one request, mutations and exchanges alike.

const count = 256;
const admin = {
  id: 'app_01h455vb4pex5vsknk084sn02q',
  secret: 'a secret of more than thirty-two characters',
};
const warmRounds = 5;
// Each figure is the median of the rounds.
const rounds = 5;

interface Result {
  readonly isGood: boolean;
  readonly ms: number;
}
const database = await createBenchDatabase();
let server: BenchServer | undefined;
if (database) {
  try {
    const started = await startServer('./server-signet.ts', {
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '10',
      TOKEN_POOL_SIZE: '10',
      SIGNET_SECRET: 'a secret for the bench alone, long enough',
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
    });
    server = started;
    const { url, path, headers, bodies } = started.load;
    const post = async (body: string) => {
      const start = performance.now();
      const response = await fetch(`${url}${path}`, { method: 'POST', headers, body });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      return { isGood: token !== undefined, ms: performance.now() - start };
    };
    const token = await fetchManagementToken({ url }, admin);
    const createUser = async (i: number) => {
      const start = performance.now();
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({
          query: `mutation ($input: CreateUserInput!) { createUser(input: $input) { __typename } }`,
          variables: { input: { username: `bench${i}` } },
        }),
      });
      const { data } = (await response.json()) as { data?: { createUser: { __typename: string } } };
      const isGood = data?.createUser.__typename === 'CreateUserPayload';
      return { isGood, ms: performance.now() - start };
    };
    let created = 0;
    const createAll = () =>
      Array.from({ length: count }, () => {
        created += 1;
        return createUser(created);
      });
    const exchangeAll = () =>
      Array.from({ length: count }, (_, i) => post(bodies[i % bodies.length] ?? ''));
    const both = () => Promise.all([Promise.all(createAll()), Promise.all(exchangeAll())]);
    // Warm: the code, and a socket for each request.
    for (let i = 0; i < warmRounds; i += 1) await both();

    const alone: Result[][] = [];
    const mutations: Result[][] = [];
    const exchanges: Result[][] = [];
    const cpusAlone: number[] = [];
    const cpusOfBoth: number[] = [];
    for (let i = 0; i < rounds; i += 1) {
      const before = await started.cpuMs();
      alone.push(await Promise.all(exchangeAll()));
      const between = await started.cpuMs();
      const [made, exchanged] = await both();
      cpusAlone.push((between - before) / count);
      cpusOfBoth.push(((await started.cpuMs()) - between) / (2 * count));
      mutations.push(made);
      exchanges.push(exchanged);
    }
    const report = (
      what: string,
      results: readonly (readonly Result[])[],
      cpus: readonly number[],
    ) => {
      const at = (part: number) => {
        const times = results.map((round) => {
          const sorted = round.map(({ ms }) => ms).toSorted((a, b) => a - b);
          return sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
        });
        return (times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0).toFixed(0);
      };
      const all = results.flat();
      const good = all.filter(({ isGood }) => isGood).length;
      process.stdout.write(
        `${what.padEnd(44)} ${good} of ${all.length} good, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, CPU ${median(cpus).toFixed(3)} ms each\n`,
      );
      if (good < all.length) process.exitCode = 1;
    };
    process.stdout.write('\n');
    report(`${count} exchanges at once`, alone, cpusAlone);
    report(`${count} exchanges beside ${count} mutations at once`, exchanges, cpusOfBoth);
    report(`${count} createUser mutations at once`, mutations, cpusOfBoth);
  } finally {
    await server?.stop();
    await database.drop();
  }
}
