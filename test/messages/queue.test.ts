import { pino } from 'pino';
import { expect, inject, test } from 'vitest';
import { type App, startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { claimMessages, leaseMs, recordSendings } from '../../src/messages/queue.ts';
import { freePort } from '../support/peers/free-port.ts';
import { startMailServer } from '../support/peers/mail-server.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import {
  messageUntil,
  queue,
  readOutbox,
  useMailServer,
  useSmsSender,
} from '../support/people/messages.ts';
import { startService, type TestService } from '../support/service.ts';
import { adminOf, advance } from '../support/webhooks.ts';

const environment = { ALLOW_PRIVATE_WEBHOOKS: 'true', WEBHOOK_TIMEOUT_SECONDS: '600' };
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

/** Starts a service whose leases and messages run out when the test moves its clock. */
async function start(options: Parameters<typeof startService>[1] = {}): Promise<TestService> {
  const service = await startService(environment, options);
  service.clock.freeze();
  return service;
}

/** Starts the service anew on the same database and data folder. */
const startAgain = ({ testDatabase, clock, dataDir }: TestService): Promise<App> =>
  startApp({
    config: readConfig({ PORT: '0', DATA_DIR: dataDir, ...environment }),
    log: pino({ level: 'silent' }),
    clock,
    opened: { database: testDatabase.database, secret: 'a secret for tests only' },
  });

const claim = ({ app, clock }: TestService, node: string) =>
  claimMessages(app.services.database.prisma, {
    node,
    now: clock.now(),
    underWay: {},
    lines: undefined,
  });

test('sends a dead node’s messages once more', async () => {
  const service = await start();
  const { services } = service.app;
  await service.app.stop();
  const id = await queue(services);
  // It has sent the message, and dies before it can say so.
  expect(await claim(service, 'one that dies')).toHaveLength(1);
  const app = await startAgain(service);
  app.services.database.hints.send('queues');
  expect(await claim(service, 'another')).toEqual([]);
  expect(await readOutbox(service)).toEqual([]);
  service.clock.advance(leaseMs);
  app.services.database.hints.send('queues');
  const sent = await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect(sent.attemptCount).toBe(1);
  expect(await readOutbox(service)).toHaveLength(1);
  await app.stop();
});

test('a message sent after its lease is not sent again', async () => {
  const service = await start();
  const { services } = service.app;
  const { prisma } = services.database;
  await service.app.stop();
  const id = await queue(services);
  await claim(service, 'slow');
  service.clock.advance(leaseMs);
  await claim(service, 'quick');
  const now = service.clock.now();
  const failed = {
    id,
    status: 'PENDING',
    nextAttemptAt: now,
    sentAt: null,
    error: 'late',
  } as const;
  await recordSendings(prisma, 'slow', [failed]);
  expect(await prisma.message.findUnique({ where: { id } })).toMatchObject({ leasedBy: 'quick' });
  const sent = { id, status: 'SENT', nextAttemptAt: null, sentAt: now, error: null } as const;
  await recordSendings(prisma, 'slow', [sent]);
  await recordSendings(prisma, 'quick', [failed]);
  expect(await prisma.message.findUnique({ where: { id } })).toMatchObject({
    status: 'SENT',
    attemptCount: 1,
    content: null,
  });
});

test('a hanging sender delays and loses no other message', async () => {
  const service = await start();
  const { services } = service.app;
  const admin = await adminOf(service);
  const [hanging, mails] = [await startReceiver(), await startMailServer()];
  hanging.answerWith(() => undefined);
  await useSmsSender(admin, { url: hanging.url, secret });
  await useMailServer(admin, mails);
  const texts = await Promise.all(
    Array.from({ length: 12 }, () =>
      queue(services, { channel: 'SMS', recipient: '+4915112345678' }),
    ),
  );
  await hanging.arrived(10);
  for (let count = 1; count <= 5; count += 1) await queue(services);
  await mails.arrived(5);
  expect(hanging.received).toHaveLength(10);

  await service.app.stop();
  const { prisma } = services.database;
  const waiting = { status: 'PENDING', attemptCount: 0, leasedBy: null } as const;
  expect(await prisma.message.count({ where: { id: { in: texts }, ...waiting } })).toBe(12);
  hanging.answerWith(204);
  const app = await startAgain(service);
  for (const id of texts) await messageUntil(services, id, ({ status }) => status === 'SENT');
  await app.stop();
});

test('loses nothing while the mail server is down', async () => {
  const service = await start();
  const { services } = service.app;
  const down = await startMailServer({}, await freePort());
  await useMailServer(await adminOf(service), down);
  await down.close();
  const ids = await Promise.all(Array.from({ length: 15 }, () => queue(services)));
  for (const id of ids) await messageUntil(services, id, ({ attemptCount }) => attemptCount > 0);
  const up = await startMailServer({}, down.port);
  advance(service, 60_000);
  for (const id of ids) await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect(up.received).toHaveLength(15);
  expect(new Set(up.received.map(({ mail }) => mail.messageId)).size).toBe(15);
});

test('never sends a message after it expired', async () => {
  const service = await start();
  const { services } = service.app;
  const down = await startMailServer({}, await freePort());
  await useMailServer(await adminOf(service), down);
  await down.close();
  const late = await queue(services);
  await messageUntil(services, late, ({ attemptCount }) => attemptCount > 0);
  advance(service, 600_000);
  expect(await messageUntil(services, late, ({ status }) => status === 'EXPIRED')).toMatchObject({
    content: null,
    nextAttemptAt: null,
  });
  const up = await startMailServer({}, down.port);
  const onTime = await queue(services);
  await messageUntil(services, onTime, ({ status }) => status === 'SENT');
  expect(up.received.map(({ mail }) => mail.messageId)).toEqual([`<${onTime}@acme.example>`]);
});

test('ends an attempt when its message expires', async () => {
  const service = await start();
  const { services } = service.app;
  const hanging = await startReceiver();
  hanging.answerWith(() => undefined);
  await useSmsSender(await adminOf(service), { url: hanging.url, secret });
  const id = await queue(services, {
    channel: 'SMS',
    recipient: '+4915112345678',
    expiresAt: new Date(services.clock.now().getTime() + 1_500),
  });
  expect(await messageUntil(services, id, ({ status }) => status === 'EXPIRED')).toMatchObject({
    error: 'no answer in time',
    content: null,
  });
});

test('logs, raises and stores neither code, link nor credential', async () => {
  const logged: string[] = [];
  const service = await start({
    log: pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) }),
  });
  const { services } = service.app;
  const admin = await adminOf(service);
  const mails = await startMailServer({
    authOptional: false,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username ?? '' }),
  });
  const password = 'the password of the mail server';
  await useMailServer(admin, { port: mails.port, username: 'acme', password });
  const receiver = await startReceiver();
  receiver.answerWith((response, { body }) => response.writeHead(500).end(body));
  await useSmsSender(admin, { url: receiver.url, secret });

  const sent = await queue(services, { code: '918273' });
  const failing = await queue(services, {
    channel: 'SMS',
    recipient: '+491511234',
    code: '918273',
  });
  await messageUntil(services, sent, ({ status }) => status === 'SENT');
  await messageUntil(services, failing, ({ attemptCount }) => attemptCount === 1);
  await mails.close();
  const refused = await queue(services, { code: '918273' });
  await messageUntil(services, refused, ({ attemptCount }) => attemptCount === 1);

  const tables = await services.database.prisma.$queryRaw<{ text: string }[]>`
    SELECT m::text AS "text" FROM "Message" m UNION ALL
    SELECT s::text FROM "MessageSender" s UNION ALL
    SELECT e::text FROM "Event" e`;
  const stored = tables.map(({ text }) => text).join('\n');
  const secrets = ['918273', 'secret-of-the-link', password, secret.slice('whsec_'.length)];
  // PostgreSQL writes bytes as hex.
  const asHex = secrets.map((text) => Buffer.from(text).toString('hex'));
  for (const text of [...secrets, ...asHex]) {
    expect(stored).not.toContain(text);
    expect(logged.join('')).not.toContain(text);
  }
  expect(logged.join('')).toContain('message attempt');
});

test.runIf(inject('postgresql'))('sends each message once from two nodes', async () => {
  const service = await start({ poolSize: 10 });
  const { services } = service.app;
  const mails = await startMailServer();
  await useMailServer(await adminOf(service), mails);
  const other = await startAgain(service);
  const ids = await Promise.all(Array.from({ length: 60 }, () => queue(services)));
  for (const id of ids) await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect(mails.received).toHaveLength(60);
  await other.stop();
});
