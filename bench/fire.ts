import autocannon from 'autocannon';
import type { BenchServer } from './server.ts';

/** Sends a server's requests in turn, over so many connections, for so many seconds. Each connection has its own. */
export function fire({ load }: Pick<BenchServer, 'load'>, connections: number, duration: number) {
  const requests = load.bodies.map((body) => ({
    method: 'POST',
    path: load.path,
    headers: load.headers,
    body,
  }));
  let connection = 0;
  return autocannon({
    url: load.url,
    connections,
    duration,
    requests,
    setupClient(client) {
      const own = requests.filter((_, i) => i % connections === connection % requests.length);
      client.setRequests(own);
      connection += 1;
    },
  });
}

/** The middle of some figures: of an even number of them, the higher of two. */
export const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
