import { fetchManagementToken } from '../test/support/client-credentials.ts';
import { createBenchDatabase } from './database.ts';
import { type BenchServer, startServer } from './server.ts';

// Exchanges beside a burst of mutations, on pools of ten: neither may starve the other.

const count = 256;
const admin = {
  id: 'app_01h455vb4pex5vsknk084sn02q',
  secret: 'a secret of more than thirty-two characters',
};
const database = await createBenchDatabase();
let server: BenchServer | undefined;
if (database) {
  try {
    server = await startServer('./server-signet.ts', {
      DATABASE_URL: database.url,
      DATABASE_POOL_SIZE: '10',
      TOKEN_POOL_SIZE: '10',
      SIGNET_SECRET: 'a secret for the bench alone, long enough',
      ADMIN_CLIENT_ID: admin.id,
      ADMIN_CLIENT_SECRET: admin.secret,
    });
    const { url, path, headers, bodies } = server.load;
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
    const all = Array.from({ length: count }, (_, i) => i);
    const exchangeAll = () => all.map((i) => post(bodies[i % bodies.length] ?? ''));
    await Promise.all(exchangeAll());
    await createUser(count);

    const alone = await Promise.all(exchangeAll());
    const [mutations, exchanges] = await Promise.all([
      Promise.all(all.map(createUser)),
      Promise.all(exchangeAll()),
    ]);
    const report = (what: string, results: readonly { isGood: boolean; ms: number }[]) => {
      const times = results.map(({ ms }) => ms).toSorted((a, b) => a - b);
      const at = (part: number) => (times[Math.ceil(times.length * part) - 1] ?? 0).toFixed(0);
      const good = results.filter(({ isGood }) => isGood).length;
      process.stdout.write(
        `${what.padEnd(44)} ${good} of ${results.length} good, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`,
      );
      if (good < results.length) process.exitCode = 1;
    };
    process.stdout.write('\n');
    report(`${count} exchanges at once`, alone);
    report(`${count} exchanges beside ${count} mutations at once`, exchanges);
    report(`${count} createUser mutations at once`, mutations);
  } finally {
    await server?.stop();
    await database.drop();
  }
}
