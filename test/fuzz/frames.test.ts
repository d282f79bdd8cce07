import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { fuzz, type Gen, numberBelow, pick, rarely } from './drawing/fuzz.ts';
import { damaged, hostileJson, hostileText } from './drawing/values.ts';
import { closeCodes, expectDocumented, expectQuietLog } from './oracle.ts';
import { freshAddress } from './send.ts';
import { createWorld } from './world.ts';

const { service, admin, secrets } = await createWorld();

const init = { type: 'connection_init', payload: { authorization: `Bearer ${admin}` } };
const subscribe = (query: string, id: unknown = 'a', variables: unknown = {}) => ({
  id,
  type: 'subscribe',
  payload: { query, variables },
});
const following = 'subscription ($after: String) { events(after: $after) { id cursor } }';

const good: readonly unknown[] = [
  init,
  { type: 'ping' },
  { type: 'pong', payload: {} },
  subscribe('{ __typename }'),
  subscribe('{ users { totalCount } }', 'b'),
  subscribe(following, 'c'),
  subscribe('mutation { nothing }', 'd'),
  { id: 'c', type: 'complete' },
];

function frame(g: Gen): string {
  const message = pick(g, good) as Record<string, unknown>;
  switch (numberBelow(g, 6)) {
    case 0:
      return JSON.stringify(message);
    case 1:
      return JSON.stringify({ ...message, [pick(g, ['id', 'type', 'payload'])]: hostileJson(g) });
    case 2:
      return damaged(g, JSON.stringify(message));
    case 3:
      return JSON.stringify(subscribe(following, hostileText(g), { after: hostileJson(g) }));
    case 4:
      return JSON.stringify(subscribe(hostileText(g), 'e', hostileJson(g)));
    default:
      return rarely(g, 2) ? hostileText(g) : JSON.stringify(hostileJson(g));
  }
}

/** Sends one or more frames, well-formed or not. */
function play(g: Gen, socket: WebSocket): void {
  const { _socket: stream } = socket as unknown as { _socket: Socket };
  if (socket.readyState !== socket.OPEN) return;
  const ignore = () => undefined;
  switch (numberBelow(g, 10)) {
    case 5:
      socket.send(Buffer.from(frame(g)), { binary: true }, ignore);
      break;
    case 6: {
      const text = frame(g);
      const at = numberBelow(g, text.length + 1);
      socket.send(text.slice(0, at), { fin: false }, ignore);
      if (!rarely(g, 4)) socket.send(text.slice(at), { fin: true }, ignore);
      break;
    }
    case 7: {
      const text = frame(g);
      for (let left = pick(g, [2, 50, 400]); left > 0; left -= 1) socket.send(text, ignore);
      break;
    }
    case 8:
      // Control frames that are too long or masked wrongly, reserved bits, text that is not UTF-8.
      stream.write(
        Buffer.from(
          pick(g, [
            '89fe0100',
            'ff8000000000',
            '8182000000 00c080'.replace(' ', ''),
            '0181',
            '88817788990000',
            '82ff7fffffffffffffff00000000',
            '8105616263',
          ]),
          'hex',
        ),
      );
      break;
    case 9:
      socket.ping(Buffer.alloc(numberBelow(g, 125)), undefined, ignore);
      break;
    default:
      socket.send(frame(g), ignore);
  }
}

interface Message {
  readonly type: string;
  readonly payload?: unknown;
}

function expectMessage(text: string): void {
  const { type, payload } = JSON.parse(text) as Message;
  expect(['connection_ack', 'ping', 'pong', 'next', 'error', 'complete']).toContain(type);
  if (type === 'error') expectDocumented({ errors: payload as [] });
  if (type === 'next') expectDocumented(payload as object);
}

const openSocket = (path: string, protocol: string) =>
  new WebSocket(`${service.url.replace('http', 'ws')}${path}`, protocol, {
    headers: { 'x-forwarded-for': freshAddress(), origin: service.app.services.baseUrl },
    autoPong: true,
  });

/** Plays frames, says goodbye, and returns the code that the socket closed with. */
async function converse(g: Gen): Promise<number> {
  const path = rarely(g, 8) ? '/console/graphql' : '/graphql';
  const socket = openSocket(path, 'graphql-transport-ws');
  const received: string[] = [];
  socket.on('message', (data) => received.push(String(data)));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  await Promise.race([once(socket, 'open'), closed]);
  if (!rarely(g, 4)) socket.send(JSON.stringify(init), () => undefined);
  const count = 1 + numberBelow(g, 6);
  for (let i = 0; i < count; i += 1) play(g, socket);
  socket.close(1000);
  const [code] = (await closed) as [number];
  for (const text of received) expectMessage(text);
  return code;
}

/** Follows the protocol once, to show that the service still answers. */
async function expectAnswer(): Promise<void> {
  const socket = openSocket('/graphql', 'graphql-transport-ws');
  const answered = new Promise<Message>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify(init)));
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as Message;
      if (message.type === 'connection_ack')
        socket.send(JSON.stringify(subscribe('{ __typename }')));
      if (message.type === 'next') resolve(message);
    });
  });
  expect(await answered).toMatchObject({ payload: { data: { __typename: 'Query' } } });
  const closed = once(socket, 'close');
  socket.close(1000);
  await closed;
}

// What RFC 6455 §7.4.1 defines, and what the protocol of the messages does, beside the documented ones.
const standard = [1000, 1002, 1003, 1005, 1006, 1007, 1009, 4401, 4409];

fuzz('a socket takes hostile frames, or closes with a documented code', 20, async (g) => {
  service.logged.length = 0;
  const code = await converse(g);
  expect([...standard.map(String), ...closeCodes]).toContain(String(code));
  expect(code).not.toBe(1011);
  expectQuietLog(service, secrets);
  await expectAnswer();
});
