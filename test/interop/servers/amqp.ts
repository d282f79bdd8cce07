import { once } from 'node:events';
import { connect } from 'node:net';

const connectionClass = 10;
const methods = { start: 10, startOk: 11, tune: 30, tuneOk: 31, open: 40, openOk: 41, close: 50 };

const number = (bytes: 1 | 2 | 4, value: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const long = (text: string | Buffer): Buffer => {
  const content = Buffer.from(text);
  return Buffer.concat([number(4, content.length), content]);
};
const short = (text: string): Buffer => Buffer.concat([number(1, text.length), Buffer.from(text)]);

function frame(method: number, ...parts: readonly Buffer[]): Buffer {
  const payload = Buffer.concat([number(2, connectionClass), number(2, method), ...parts]);
  return Buffer.concat([Buffer.from([1, 0, 0]), long(payload), Buffer.from([0xce])]);
}

// Without it a broker leaves somebody who is refused waiting for some seconds.
const properties = long(
  Buffer.concat([
    short('capabilities'),
    Buffer.from('F'),
    long(Buffer.concat([short('authentication_failure_close'), Buffer.from('t\x01')])),
  ]),
);

/**
 * Opens a connection as AMQP 0-9-1 §4.2 says, with a token for a password.
 *
 * @returns 200; 401 if the broker knows nobody by it; 403 if it does, but nothing is theirs.
 */
export async function logIn(port: number, token: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  let read = Buffer.alloc(0);
  const chunks = socket[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const next = async (): Promise<{ method: number; body: Buffer }> => {
    while (read.length < 7 || read.length < read.readUInt32BE(3) + 8) {
      const { done, value } = await chunks.next();
      if (done) throw new Error('The broker closes the connection.');
      read = Buffer.concat([read, value]);
    }
    const end = read.readUInt32BE(3) + 7;
    const method = read.readUInt16BE(9);
    const body = read.subarray(11, end);
    read = read.subarray(end + 1);
    return { method, body };
  };
  const expectMethod = async (due: number): Promise<Buffer | undefined> => {
    const { method, body } = await next();
    if (method === due) return body;
    if (method === methods.close) return undefined;
    throw new Error(`The broker sends the method ${method}.`);
  };
  try {
    await once(socket, 'connect');
    socket.write('AMQP\x00\x00\x09\x01');
    await expectMethod(methods.start);
    const response = long(`\x00somebody\x00${token}`);
    socket.write(frame(methods.startOk, properties, short('PLAIN'), response, short('en_US')));
    const limits = await expectMethod(methods.tune);
    if (!limits) return 401;
    socket.write(frame(methods.tuneOk, limits));
    socket.write(frame(methods.open, short('/'), short(''), number(1, 0)));
    return (await expectMethod(methods.openOk)) ? 200 : 403;
  } finally {
    socket.destroy();
  }
}
