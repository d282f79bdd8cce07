import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quietTransaction } from '../../src/db/transaction.ts';
import { purgeMessages } from '../../src/messages/purge.ts';
import { canSend, queueMessage } from '../../src/messages/queue-message.ts';
import { testCall } from '../support/log.ts';
import { messageUntil, queue, readOutbox } from '../support/people/messages.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { services } = service.app;
const { prisma } = services.database;
const day = 24 * 60 * 60 * 1000;

test('writes a message into the outbox of the embedded set-up', async () => {
  const id = await queue(services);
  const row = await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect(row).toMatchObject({ content: null, nextAttemptAt: null, attemptCount: 1, error: null });
  const [message] = await readOutbox(service);
  expect(message).toEqual({
    channel: 'EMAIL',
    recipient: 'ada@example.com',
    template: 'SIGN_IN',
    language: 'en',
    subject: 'Your sign-in code for Signet',
    text: expect.stringContaining('123456'),
    html: expect.stringContaining('123456'),
    code: '123456',
    link: 'https://login.example.com/sign-in/link?token=secret-of-the-link',
  });
  expect(message?.['text']).toContain('10 minutes');
  const folder = join(service.dataDir, 'outbox');
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

test('writes German; an SMS has no subject or HTML', async () => {
  const before = (await readOutbox(service)).length;
  const id = await queue(services, {
    channel: 'SMS',
    recipient: '+4915112345678',
    language: 'de',
    template: 'RESET_PASSWORD',
    link: undefined,
  });
  await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect((await readOutbox(service))[before]).toEqual({
    channel: 'SMS',
    recipient: '+4915112345678',
    template: 'RESET_PASSWORD',
    language: 'de',
    subject: null,
    text: '123456\nSignet: Geben Sie diesen Code zum Zurücksetzen des Passworts niemandem weiter.',
    html: null,
    code: '123456',
    link: null,
  });
});

test('names the product from the settings', async () => {
  const before = (await readOutbox(service)).length;
  await prisma.signInExperience.create({
    data: {
      id: 'settings',
      settings: { branding: { productName: 'Acme <b>&</b> Sons' } },
      updatedAt: new Date(),
    },
  });
  const id = await queue(services);
  await messageUntil(services, id, ({ status }) => status === 'SENT');
  const message = (await readOutbox(service))[before];
  expect(message?.['subject']).toBe('Your sign-in code for Acme <b>&</b> Sons');
  expect(message?.['html']).not.toContain('<b>');
});

test('names the files in the order of messages', async () => {
  const before = (await readOutbox(service)).length;
  const ids: string[] = [];
  for (const code of ['000001', '000002', '000003']) {
    ids.push(await queue(services, { code }));
    service.clock.advance(1);
  }
  for (const id of ids) await messageUntil(services, id, ({ status }) => status === 'SENT');
  const codes = (await readOutbox(service)).slice(before).map(({ code }) => code);
  expect(codes).toEqual(['000001', '000002', '000003']);
});

test('sends nothing of a transaction that rolls back', async () => {
  const before = (await readOutbox(service)).length;
  const rollback = quietTransaction(services.database, async (tx) => {
    await queueMessage(
      tx,
      { ...services, ...testCall },
      {
        channel: 'EMAIL',
        recipient: 'nobody@example.com',
        template: 'SIGN_IN',
        language: 'en',
        code: '999999',
        expiresAt: new Date(services.clock.now().getTime() + 60_000),
      },
    );
    throw new Error('thrown away');
  });
  await expect(rollback).rejects.toThrow('thrown away');
  const id = await queue(services);
  await messageUntil(services, id, ({ status }) => status === 'SENT');
  expect((await readOutbox(service)).slice(before).map(({ code }) => code)).toEqual(['123456']);
});

test('stores no code or link in clear while waiting', async () => {
  const id = await quietTransaction(services.database, async (tx) => {
    const queued = await queueMessage(
      tx,
      { ...services, ...testCall },
      {
        channel: 'EMAIL',
        recipient: 'ada@example.com',
        template: 'SIGN_IN',
        language: 'en',
        code: '424242',
        link: 'https://login.example.com/the-link',
        expiresAt: new Date(services.clock.now().getTime() + 60_000),
      },
    );
    const [row] = await tx.$queryRaw<{ text: string; content: Uint8Array }[]>`
      SELECT m::text AS "text", "content" FROM "Message" m WHERE "id" = ${queued}`;
    const bytes = Buffer.from(row?.content ?? []).toString('latin1');
    expect(bytes.length).toBeGreaterThan(50);
    expect(`${row?.text} ${bytes}`).not.toMatch(/424242|the-link/);
    return queued;
  });
  await messageUntil(services, id, ({ status }) => status === 'SENT');
});

test('can send both channels without a sender', async () => {
  expect(await canSend(services, 'EMAIL')).toBe(true);
  expect(await canSend(services, 'SMS')).toBe(true);
});

test('forgets a message a week after it has ended', async () => {
  service.clock.advance(-8 * day);
  const id = await queue(services);
  await messageUntil(services, id, ({ status }) => status === 'SENT');
  service.clock.advance(6 * day);
  await quietTransaction(services.database, purgeMessages(services));
  expect(await prisma.message.count({ where: { id } })).toBe(1);
  service.clock.advance(2 * day);
  await quietTransaction(services.database, purgeMessages(services));
  expect(await prisma.message.count({ where: { id } })).toBe(0);
});
