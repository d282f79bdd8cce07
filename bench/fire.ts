import autocannon from 'autocannon';
import type { BenchServer } from './server.ts';

/** Sends a server's requests in turn, over so many connections, for so many seconds. */
export const fire = ({ load }: Pick<BenchServer, 'load'>, connections: number, duration: number) =>
  autocannon({
    url: load.url,
    connections,
    duration,
    requests: load.bodies.map((body) => ({
      method: 'POST',
      path: load.path,
      headers: load.headers,
      body,
    })),
  });

/** The middle of some figures: of an even number of them, the higher of two. */
export const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
