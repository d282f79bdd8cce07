import { expect, test } from 'vitest';
import { type Answer, startReceiver } from '../../support/peers/receiver.ts';
import { selfSigned } from '../../support/peers/self-signed.ts';
import { startService } from '../../support/service.ts';
import { lateBy } from '../../support/wait.ts';
import { adminOf, attempted, createUser, createWebhook } from '../../support/webhooks.ts';

const service = await startService({
  ALLOW_PRIVATE_WEBHOOKS: 'true',
  WEBHOOK_TIMEOUT_SECONDS: '5',
});
// A retry comes when the test moves the clock.
service.clock.freeze();

const faults: [string, Answer, object][] = [
  [
    'hangs',
    () => undefined,
    { statusCode: null, responseBody: null, error: 'no answer within 5 s' },
  ],
  [
    'answers 500',
    (response) => void response.writeHead(500).end('x'.repeat(100_000)),
    { statusCode: 500, responseBody: 'x'.repeat(4096), error: 'answered 500' },
  ],
  [
    'answers with more text than is kept, which ends within a character',
    (response) => void response.writeHead(500).end(`x${'é'.repeat(3000)}`),
    { statusCode: 500, responseBody: `x${'é'.repeat(2047)}`, error: 'answered 500' },
  ],
  [
    'does not speak HTTP',
    (response) => void response.socket?.end('SSH-2.0-x\r\n'),
    { statusCode: null, responseBody: null, error: 'the answer is not HTTP/1.1' },
  ],
  [
    'closes the connection',
    (response) => void response.destroy(),
    {
      statusCode: null,
      responseBody: null,
      error: 'the connection was closed before the answer',
    },
  ],
  [
    'hangs after the headers',
    (response) => void response.writeHead(500, { 'content-length': '9' }).flushHeaders(),
    { statusCode: 500, responseBody: '', error: 'answered 500' },
  ],
  [
    'sends interim answers first',
    (response) => {
      response.writeEarlyHints({ link: '</>; rel=preload' });
      response.writeHead(500).end('late');
    },
    { statusCode: 500, responseBody: 'late', error: 'answered 500' },
  ],
  [
    'sends NUL',
    (response) => void response.writeHead(500).end('a\0b'),
    { statusCode: 500, responseBody: 'a\u{fffd}b', error: 'answered 500' },
  ],
  [
    'redirects to a private address',
    (response) =>
      void response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end(),
    { statusCode: 302, responseBody: '', error: 'answered 302: redirects are not followed' },
  ],
];

test.each(faults)('records why when an endpoint %s', async (_what, answer, attempt) => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  receiver.answerWith(answer);
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const { delivery } = await attempted(admin, id);
  expect(delivery).toMatchObject({
    status: 'PENDING',
    nextAttemptAt: expect.any(String),
    attempts: [attempt],
  });
});

const breaks: [string, Answer, string][] = [
  [
    'hangs after the headers',
    (response) => response.flushHeaders(),
    'no end of the answer within 5 s',
  ],
  [
    'trickles',
    async (response) => {
      while (!response.destroyed) {
        response.write('x');
        await lateBy(200);
      }
    },
    'no end of the answer within 5 s',
  ],
  [
    'is reset',
    (response) => {
      response.flushHeaders();
      response.write('x', () => response.socket?.resetAndDestroy());
    },
    'the answer broke off: the connection failed: ECONNRESET',
  ],
  [
    'is cut short',
    (response) => {
      response.writeHead(200, { 'content-length': '9' });
      response.write('x', () => response.socket?.end());
    },
    'the answer broke off: the connection was closed before the answer',
  ],
];

test.each(breaks)('counts a 2xx as success although its answer %s', async (_how, answer, error) => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  receiver.answerWith(answer);
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const { delivery } = await attempted(admin, id);
  expect(delivery).toMatchObject({ status: 'SUCCEEDED', attempts: [{ statusCode: 200, error }] });
  // The next message does not wait for what is left of it.
  receiver.answerWith(204);
  await createUser(admin);
  await receiver.arrived(2);
});

test('refuses a certificate that nobody trusts', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver({ tls: selfSigned });
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  const { delivery } = await attempted(admin, id);
  expect(delivery?.attempts[0]).toMatchObject({
    statusCode: null,
    error: 'the certificate is refused: DEPTH_ZERO_SELF_SIGNED_CERT',
  });
  expect(receiver.received).toEqual([]);
});

test.each([
  ['as fast as it is read', true, 'the answer is longer than 64 KiB: the rest was not read'],
  ['slowly', false, 'no end of the answer within 5 s'],
])('counts a 2xx as success despite an endless %s answer', async (_how, isFast, error) => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  receiver.answerWith((response) => {
    response.writeHead(200).flushHeaders();
    response.on('close', closed.resolve);
    const chunk = 'x'.repeat(16 * 1024);
    const write = () => {
      sent += chunk.length;
      if (response.destroyed) return;
      if (response.write(chunk)) setImmediate(write);
      else response.once('drain', write);
    };
    if (isFast) write();
    else response.write('x'.repeat(5000));
  });
  const { id } = await createWebhook(admin, { url: receiver.url });
  await createUser(admin);
  await closed.promise;
  const { delivery } = await attempted(admin, id);
  expect(delivery).toMatchObject({
    status: 'SUCCEEDED',
    attempts: [{ statusCode: 200, responseBody: 'x'.repeat(4096), error }],
  });
  // What sockets on both sides hold comes on top of what is read.
  expect(sent).toBeLessThan(16 * 1024 * 1024);
});
