import { once } from 'node:events';
import { WebSocket } from 'ws';
import { sharedNow } from './event-source.ts';

// Subscribers over WebSocket (graphql-transport-ws), in a separate process. Frames are not parsed as JSON: the clients
// share the machine with the server, so they must cost little.

/** A request of the bench to the clients. */
export type ClientRequest =
  | {
      readonly kind: 'connect';
      readonly url: string;
      readonly token: string;
      readonly count: number;
      readonly after: string;
    }
  /** Answered with the time of the last event, once each client has this many. */
  | { readonly kind: 'expect'; readonly events: number }
  | { readonly kind: 'received' }
  /** Answered with the milliseconds from then to the receipt: the median and the 99th percentile. */
  | { readonly kind: 'latency'; readonly committedAt: readonly number[] }
  | { readonly kind: 'disconnect' };

let sockets: WebSocket[] = [];
let expected = 0;
let arrivals: { readonly number: number; readonly at: number }[] = [];
let allReceived = Promise.withResolvers<number>();

function onFrame(text: string): void {
  const number = /"name":"(\d+)"/.exec(text)?.[1];
  if (number === undefined) throw new Error(text);
  arrivals.push({ number: Number(number), at: sharedNow() });
  if (arrivals.length === expected * sockets.length) allReceived.resolve(sharedNow());
}

async function connect(request: Extract<ClientRequest, { kind: 'connect' }>): Promise<void> {
  const { url, token, count, after } = request;
  for (let i = 0; i < count; i += 1) {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', {
      perMessageDeflate: false,
    });
    await once(socket, 'open');
    const payload = token ? { authorization: `Bearer ${token}` } : {};
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await once(socket, 'message');
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      // The ping and pong of the protocol are not used by these servers.
      onFrame(text);
    });
    socket.once('close', (code) => {
      if (sockets.includes(socket)) throw new Error(`A subscriber was closed with ${code}.`);
    });
    const query = `subscription ($after: String) { events(after: $after) { id cursor name data } }`;
    const variables = after ? { after } : {};
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables } }));
    sockets.push(socket);
  }
}

async function answer(request: ClientRequest): Promise<unknown> {
  switch (request.kind) {
    case 'connect':
      return connect(request);
    case 'expect':
      expected = request.events;
      arrivals = [];
      allReceived = Promise.withResolvers();
      return undefined;
    case 'received':
      return allReceived.promise;
    case 'latency': {
      const { committedAt } = request;
      const took = Float64Array.from(
        arrivals.map(({ number, at }) => at - (committedAt[number] ?? Number.NaN)),
      ).sort();
      const at = (part: number) => took[Math.ceil(took.length * part) - 1] ?? Number.NaN;
      return { p50: at(0.5), p99: at(0.99) };
    }
    case 'disconnect': {
      const closing = sockets;
      sockets = [];
      await Promise.all(
        closing.map((socket) => {
          socket.close();
          return once(socket, 'close');
        }),
      );
      return undefined;
    }
    default:
      return request satisfies never;
  }
}

process.on('message', (request: ClientRequest) => {
  answer(request).then(
    (result) => process.send?.({ result: result ?? null }),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.send?.({ result: null });
