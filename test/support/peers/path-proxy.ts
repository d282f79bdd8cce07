import { createServer, request as forward, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeAtEnd } from '../cleanup.ts';

/** A proxy in front of a service whose public address has a path: it takes the path off. */
export interface PathProxy {
  /** The public address, with the path. */
  readonly url: string;
  /** Passes requests on to the service at this address from now on. */
  leadTo(url: string): void;
}

/** Starts a proxy for one path, such as `/identity`. It takes WebSockets too, and stops with the test, or with its file. */
export async function startPathProxy(path: string): Promise<PathProxy> {
  let target = '';
  const onwards = ({ url = '', method, headers }: IncomingMessage) =>
    forward(new URL(url.slice(path.length) || '/', target), { method, headers });
  const server = createServer((incoming, answer) => {
    if (!incoming.url?.startsWith(path)) return void answer.writeHead(404).end();
    const outgoing = onwards(incoming);
    outgoing.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    return void incoming.pipe(outgoing);
  });
  server.on('upgrade', (incoming, socket) => {
    const outgoing = onwards(incoming);
    outgoing.on('upgrade', ({ headers }, other) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
      other.pipe(socket).pipe(other);
      other.on('error', () => socket.destroy());
      socket.on('error', () => other.destroy());
    });
    outgoing.on('error', () => socket.destroy());
    outgoing.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}${path}`,
    leadTo(url) {
      target = url;
    },
  };
}
