import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One address for several nodes, as a load balancer gives. */
export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Passes each request on to a node that is up, in turn. Each seems to come from another client, so that limits by
 * address (`TRUST_PROXY=1`) are those of many people. A request that a dying node leaves behind breaks here too.
 *
 * @param nodeOf The URL of a running node; waits for one.
 */
export async function startFront(nodeOf: (number: number) => Promise<string>): Promise<Front> {
  let count = 0;
  const server = createServer(async (near, answer) => {
    count += 1;
    const from = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
    const { method, url = '/', headers } = near;
    const far = send(new URL(url, await nodeOf(count)), {
      ...(method === undefined ? {} : { method }),
      headers: { ...headers, 'x-forwarded-for': from },
      agent: false,
    });
    far.on('error', () => answer.destroy());
    far.on('response', (response) => {
      response.on('error', () => answer.destroy());
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    near.pipe(far);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
