import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import { closeAtEnd } from '../../support/cleanup.ts';

const body = 'an order';

/**
 * Starts an API that trusts the server before it: 200 if it is told the user of the token, and gets the caller's body.
 *
 * @returns Its host and port.
 */
export async function startUpstream(): Promise<string> {
  const server = createServer(async (request, response) => {
    const [, token = ''] = request.headers.authorization?.split(' ') ?? [];
    let read = '';
    for await (const chunk of request) read += chunk;
    const isTold = request.headers['x-user'] === decodeJwt(token).sub && read === body;
    response.writeHead(isTold ? 200 : 500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Calls an API as somebody would who wants to be another, and returns the status of the answer. */
export async function call(url: string, token: string): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'x-user': 'user_somebody_else' },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}
