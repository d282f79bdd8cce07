import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { OutgoingMessage } from '../../../src/messages/senders/sender.ts';
import { smtpSender, verifySmtp } from '../../../src/messages/senders/smtp.ts';
import { unrecordedSpan } from '../../../src/tracing/traceparent.ts';
import { type MailServer, reply, startMailServer } from '../../support/peers/mail-server.ts';
import { messageUntil, queue, useMailServer } from '../../support/people/messages.ts';
import { startService } from '../../support/service.ts';
import { adminOf, advance } from '../../support/webhooks.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
// A retry comes when the test moves the clock.
service.clock.freeze();
const { services } = service.app;

/** The mails that carried a message: those of earlier tests that wait go out with the next server too. */
const mailsOf = ({ received }: MailServer, id: string) =>
  received.filter(({ mail }) => mail.messageId === `<${id}@acme.example>`);

test('sends plain text and HTML over SMTP', async () => {
  const server = await startMailServer();
  await useMailServer(await adminOf(service), server);
  const id = await queue(services, { language: 'de' });
  await messageUntil(services, id, ({ status }) => status === 'SENT');
  const [received] = mailsOf(server, id);
  expect(received).toMatchObject({
    from: 'no-reply@acme.example',
    to: ['ada@example.com'],
    mail: {
      subject: 'Ihr Anmeldecode für Signet',
      from: { name: 'Acme', address: 'no-reply@acme.example' },
      to: [{ address: 'ada@example.com' }],
      messageId: `<${id}@acme.example>`,
      text: expect.stringContaining('123456'),
      html: expect.stringContaining('123456'),
    },
  });
  expect(received?.mail.headers).toContainEqual(
    expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
  );
  expect(await messageUntil(services, id, ({ status }) => status === 'SENT')).toMatchObject({
    content: null,
  });
});

test('logs in, over STARTTLS where the server offers it', async () => {
  const server = await startMailServer({
    onAuth({ username, password }, _session, done) {
      if (password !== 'the password of the mail server') return done(new Error('no'));
      return done(null, { user: username ?? '' });
    },
  });
  await useMailServer(await adminOf(service), {
    port: server.port,
    username: 'acme',
    password: 'the password of the mail server',
  });
  const id = await queue(services);
  await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect(mailsOf(server, id)).toMatchObject([{ user: 'acme', isEncrypted: true }]);
});

test('refuses an untrusted certificate when TLS is required', async () => {
  const server = await startMailServer({ secure: true });
  await useMailServer(await adminOf(service), { ...server, secure: true });
  const id = await queue(services);
  const { error } = await messageUntil(services, id, ({ attemptCount }) => attemptCount > 0);
  expect(error).toContain('certificate');
  expect(server.received).toEqual([]);
});

test('gives up a message that the server refuses for good', async () => {
  const server = await startMailServer({
    onRcptTo: ({ address }, _session, done) =>
      address === 'gone@example.com' ? done(reply(550, '5.1.1 No such user')) : done(),
  });
  await useMailServer(await adminOf(service), server);
  const id = await queue(services, { recipient: 'gone@example.com' });
  expect(await messageUntil(services, id, ({ status }) => status === 'FAILED')).toMatchObject({
    error: expect.stringMatching(/^(?!.*such user).*550/),
    content: null,
    nextAttemptAt: null,
  });
});

test('tries again when the server is busy', async () => {
  const server = await startMailServer();
  server.answerWith(() => reply(451, '4.3.0 Try later'));
  await useMailServer(await adminOf(service), server);
  const id = await queue(services);
  await messageUntil(services, id, ({ attemptCount }) => attemptCount === 1);
  server.answerWith(() => undefined);
  advance(service, 5_000);
  const sent = await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect(sent.attemptCount).toBe(2);
  expect(mailsOf(server, id)).toHaveLength(2);
});

test.each([
  ['a mail', 451, (server: MailServer) => server.answerWith(() => reply(451, 'said 123456'))],
])('stores nothing that the server says of %s', async (_what, code, prepare) => {
  const server = await startMailServer();
  prepare(server);
  await useMailServer(await adminOf(service), server);
  const id = await queue(services);
  const { error } = await messageUntil(services, id, ({ attemptCount }) => attemptCount === 1);
  expect(error).toContain(String(code));
  expect(error).not.toMatch(/said|123456/);
});

test.each([
  ['a greeting that refuses', '554 secret banner\r\n'],
  ['no SMTP', 'SSH-2.0-OpenSSH_secret\r\n'],
])('stores nothing of %s', async (_what, greeting) => {
  const other = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(greeting);
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  await useMailServer(await adminOf(service), other.address() as AddressInfo);
  const id = await queue(services);
  const { error } = await messageUntil(services, id, ({ attemptCount }) => attemptCount === 1);
  expect(error).toMatch(/./);
  expect(error).not.toMatch(/secret|SSH/);
});

test('no recipient can inject a header or a command', async () => {
  const server = await startMailServer();
  await useMailServer(await adminOf(service), server);
  const id = await queue(services, {
    recipient: 'a@example.com>\r\nRCPT TO:<b@example.com',
  });
  await messageUntil(services, id, ({ attemptCount }) => attemptCount > 0);
  const other = await queue(services, { recipient: 'c@example.com' });
  await messageUntil(services, other, ({ status }) => status === 'SENT');
  expect(mailsOf(server, other)).toMatchObject([{ to: ['c@example.com'] }]);
  expect(server.received.flatMap(({ to }) => to)).not.toContain('b@example.com');
});

const message: OutgoingMessage = {
  place: unrecordedSpan('0af7651916cd43dd8448eb211c80319c'),
  id: 'message_1',
  channel: 'EMAIL',
  recipient: 'ada@example.com',
  template: 'SIGN_IN',
  language: 'en',
  subject: 'A code',
  text: '123456',
  html: null,
  code: '123456',
  link: null,
  createdAt: new Date(0),
  expiresAt: new Date(600_000),
};

test.each([
  ['an address', '127.0.0.1', []],
  ['a name that leads there', 'mail.example', ['127.0.0.1']],
  ['a name that leads there too', 'mail.example', ['203.0.113.1', '127.0.0.1']],
])('connects to no private address, given as %s', async (_what, host, addresses) => {
  let connections = 0;
  const inside = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void inside.close());
  const { port } = inside.address() as AddressInfo;
  const settings = { host, port, secure: false, username: null, from: 'no-reply@acme.example' };
  const resolveHost = async () => addresses;
  const send = smtpSender(settings, { resolveHost, password: null, allowPrivate: false });
  expect(await send(message, new AbortController().signal)).toMatchObject({ outcome: 'failed' });
  expect(connections).toBe(0);
});

const greeting = '220 mail.example ESMTP\r\n';

/** A mail server that sends a beginning and then something without end. */
async function startEndless(first: string, endless: string) {
  const piece = endless.repeat(16_384);
  let sentBytes = 0;
  const closed = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    const goOn = () => {
      while (socket.writable && socket.write(piece)) sentBytes += piece.length;
      sentBytes += piece.length;
    };
    socket.on('error', () => undefined);
    socket.on('drain', goOn);
    socket.on('close', () => closed.resolve());
    socket.write(first);
    goOn();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    settings: {
      host: '127.0.0.1',
      port,
      secure: false,
      username: null,
      from: 'a@acme.example',
    },
    options: { resolveHost: async () => ['127.0.0.1'], password: null, allowPrivate: true },
    async expectCutOff() {
      await closed.promise;
      // A reply may have 1 MB; the rest is what the two sockets hold.
      expect(sentBytes).toBeLessThan(32 * 1024 * 1024);
    },
  };
}

const lines = [
  ['a line', '', '2'],
  ['lines of one reply', '', '220-more\r\n'],
  ['a line after the greeting', greeting, '2'],
  ['lines of one reply after the greeting', greeting, '250-more\r\n'],
] satisfies [string, string, string][];

test.each([
  ...lines,
  ['replies', '', '220 more\r\n'],
  ['replies after the greeting', greeting, '250 more\r\n'],
])('gives up a server that sends %s without end', async (_what, first, endless) => {
  const { settings, options, expectCutOff } = await startEndless(first, endless);
  const send = smtpSender(settings, options);
  expect(await send(message, new AbortController().signal)).toMatchObject({ outcome: 'failed' });
  await expectCutOff();
});

test.each(lines)('a trial gives up a server that sends %s without end', async (_what, ...sent) => {
  const { settings, options, expectCutOff } = await startEndless(...sent);
  await expect(verifySmtp(settings, options, new AbortController().signal)).rejects.toThrow();
  await expectCutOff();
});
