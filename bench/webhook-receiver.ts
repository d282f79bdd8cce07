import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// An endpoint that accepts every message, and tells its parent when this many different ones have arrived.

const seen = new Set<string>();
let wanted = Number.POSITIVE_INFINITY;
let messages = 0;

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(204).end();
    messages += 1;
    seen.add(String(request.headers['webhook-id']));
    if (seen.size >= wanted) {
      process.send?.({ done: seen.size, messages });
      wanted = Number.POSITIVE_INFINITY;
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', (message: { wanted: number }) => {
  seen.clear();
  messages = 0;
  wanted = message.wanted;
  process.send?.({ ready: true });
});
process.once('SIGTERM', () => process.exit(0));
