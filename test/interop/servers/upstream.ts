import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import { closeAtEnd } from '../../support/cleanup.ts';

const body = 'an order';

// What somebody would say of themselves who wants to be another.
const claimed = { 'x-user': 'somebody else', 'x-client': 'another', 'x-actors': 'nobody' };

/**
 * Starts an API that trusts the server before it: 200 if it is told what the token says, and gets the caller's body.
 *
 * @returns Its host and port.
 */
export async function startUpstream(): Promise<string> {
  const server = createServer(async (request, response) => {
    const [, token = ''] = request.headers.authorization?.split(' ') ?? [];
    let read = '';
    for await (const chunk of request) read += chunk;
    const { sub, client_id, act } = decodeJwt(token);
    const { 'x-user': user, 'x-client': client, 'x-actors': actors = '' } = request.headers;
    // One server passes on the whole chain, another the outermost.
    const isTold =
      user === sub && client === client_id && String(actors).includes((act as { sub: string }).sub);
    response.writeHead(isTold && read === body ? 200 : 500).end();
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

/** Calls an API, and returns the status of the answer. */
export async function call(url: string, token: string): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...claimed, authorization: `Bearer ${token}` },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}
