import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { closeAtEnd } from '../../support/cleanup.ts';
import { selfSigned } from '../../support/peers/self-signed.ts';

/**
 * Starts HTTPS in front of a service, for a server that reads no keys by plain HTTP. Its certificate is `selfSigned`.
 *
 * @returns Its origin.
 */
export async function startHttpsFront(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer(selfSigned, (socket) => {
    const onwards = connect(Number(port), hostname);
    socket.pipe(onwards).pipe(socket);
    socket.on('error', () => onwards.destroy());
    onwards.on('error', () => socket.destroy());
    closeAtEnd(async () => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  closeAtEnd(async () => void server.close());
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}
