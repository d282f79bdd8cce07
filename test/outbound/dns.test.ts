import { createSocket, type Socket } from 'node:dgram';
import { afterAll, expect, test } from 'vitest';
import { createResolver } from '../../src/outbound/dns.ts';

const servers: Socket[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** A name server on this machine, which gives the answer to each question that comes. */
async function nameServer(answer: (question: Buffer) => Buffer | undefined) {
  const server = createSocket('udp4');
  servers.push(server);
  let asked = 0;
  server.on('message', (question, { port }) => {
    asked += 1;
    const message = answer(question);
    if (message) server.send(message, port);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  return {
    servers: [`127.0.0.1:${server.address().port}`],
    asked: () => asked,
  };
}

/** A message with the question, its header's flags, and one address for a question of type A (RFC 1035 §4). */
function answerTo(question: Buffer, flags: number, address?: string): Buffer {
  const name = question.subarray(12, question.indexOf(0, 12) + 1);
  const asked = question.subarray(12, 12 + name.length + 4);
  const isA = asked.readUInt16BE(name.length) === 1;
  const header = Buffer.alloc(12);
  header.set(question.subarray(0, 2));
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(address && isA ? 1 : 0, 6);
  if (!address || !isA) return Buffer.concat([header, asked]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
  return Buffer.concat([header, asked, record, Buffer.from(address.split('.').map(Number))]);
}

const found = 0x8180;
const noSuchName = 0x8183;

test('finds names through a name server', async () => {
  const { servers: here } = await nameServer((question) =>
    answerTo(question, found, '93.184.216.34'),
  );
  expect(await createResolver({ servers: here })('hooks.example.com')).toEqual(['93.184.216.34']);
});

test('finds the machine’s own names without a request', async () => {
  const { servers: here, asked } = await nameServer(() => undefined);
  expect(await createResolver({ servers: here })('LOCALHOST')).toContain('127.0.0.1');
  expect(asked()).toBe(0);
});

test('an unknown name fails', async () => {
  const { servers: here } = await nameServer((question) => answerTo(question, noSuchName));
  await expect(createResolver({ servers: here })('nowhere.invalid')).rejects.toThrow('nowhere');
});

test('names with a silent server delay no others', async () => {
  const silent = await nameServer(() => undefined);
  const resolveSilent = createResolver({ servers: silent.servers });
  const dead = Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => resolveSilent(`dead${n}.example.com`)),
  );
  let areDone = false;
  dead.then(() => {
    areDone = true;
  });
  const { servers: here } = await nameServer((question) => answerTo(question, found, '1.1.1.1'));
  expect(await createResolver({ servers: here })('hooks.example.com')).toEqual(['1.1.1.1']);
  expect(areDone).toBe(false);
  expect((await dead).map(({ status }) => status)).not.toContain('fulfilled');
});
