import { expect, test } from 'vitest';
import { type MailServer, reply, startMailServer } from '../../support/peers/mail-server.ts';
import { messageUntil, queue, useMailServer } from '../../support/people/messages.ts';
import { startService } from '../../support/service.ts';
import { adminOf, advance } from '../../support/webhooks.ts';

const service = await startService();
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
  expect(error).toMatch(/self-signed certificate/);
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
    error: expect.stringContaining('No such user'),
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

test('stores the server’s answer without the message’s code', async () => {
  const server = await startMailServer();
  server.answerWith(() => reply(451, 'I do not like 123456 today'));
  await useMailServer(await adminOf(service), server);
  const id = await queue(services);
  const { error } = await messageUntil(services, id, ({ attemptCount }) => attemptCount === 1);
  expect(error).toMatch(/I do not like … today/);
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
