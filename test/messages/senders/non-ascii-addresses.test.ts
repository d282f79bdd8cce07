import { describe, expect, test } from 'vitest';
import { AddressedInput } from '../../../src/input.ts';
import { parseAddressed } from '../../../src/messages/senders/non-ascii-addresses.ts';
import { createMaker } from '../../support/operations/maker.ts';
import { overGraphQL } from '../../support/operations/operations.ts';
import { callRest } from '../../support/operations/rest.ts';
import { freePort } from '../../support/peers/free-port.ts';
import { reply, startMailServer, startTalkingServer } from '../../support/peers/mail-server.ts';
import { allowPrivate } from '../../support/people/federation.ts';
import { messageUntil, queue, useMailServer } from '../../support/people/messages.ts';
import { startSecondNode, startService } from '../../support/service.ts';
import { advance } from '../../support/webhooks.ts';

const service = await startService(allowPrivate);
const otherNode = await startSecondNode(service);
// What a server answers counts until a test moves the clock.
service.clock.freeze();
const { services } = service.app;
const endpoint = { url: service.url, token: await service.managementToken() };
const call = overGraphQL(service, endpoint.token);
const admin = createMaker(call);

/** A mail server that is set as the sender, and how many have called it. */
async function useServer({ takes }: { takes: boolean }, more = {}) {
  let calls = 0;
  const server = await startTalkingServer({
    hideSMTPUTF8: !takes,
    onConnect(_session, done) {
      calls += 1;
      done();
    },
    ...more,
  });
  await useMailServer(endpoint, server);
  return { ...server, calls: () => calls };
}

let count = 0;
const newAddress = () => {
  count += 1;
  return `δοκιμή${count}@παράδειγμα.example`;
};
const refusal = { code: 'INVALID_INPUT', issues: [{ path: ['primaryEmail'] }] };
const create = (primaryEmail = newAddress(), at = call) => at('createUser', { primaryEmail });

describe('a mail server with SMTPUTF8', () => {
  test('gets mail for a local part outside ASCII, at the ASCII form of the domain', async () => {
    const server = await useServer({ takes: true });
    expect(await create()).toMatchObject({ code: 'OK' });
    await admin.done('sendTestMessage', {
      channel: 'EMAIL',
      recipient: 'ΔΟΚΙΜΉ@ΠΑΡΆΔΕΙΓΜΑ.example',
    });
    const [received] = await server.arrived(1);
    expect(server.commands).toContainEqual('RCPT TO:<δοκιμή@xn--hxajbheg2az3al.example>');
    expect(server.commands).toContainEqual(
      expect.stringMatching(/^MAIL FROM:<no-reply@acme\.example> .*SMTPUTF8/),
    );
    expect(received?.mail.to).toMatchObject([{ address: 'δοκιμή@παράδειγμα.example' }]);
  });

  test('gets mail for other addresses as before', async () => {
    const server = await useServer({ takes: true });
    await admin.done('sendTestMessage', { channel: 'EMAIL', recipient: 'ada@example.com' });
    await server.arrived(1);
    expect(server.commands.join()).not.toContain('SMTPUTF8');
  });

  test('is asked once for all that come within a minute', async () => {
    const server = await useServer({ takes: true });
    const all = await Promise.all(Array.from({ length: 5 }, () => create()));
    expect(all.map(({ code }) => code)).toEqual(Array(5).fill('OK'));
    const users = Array.from({ length: 20 }, () => ({ primaryEmail: newAddress() }));
    const { failures } = await admin.done('importUsers', { users });
    expect([failures, server.calls()]).toEqual([[], 1]);
    advance(service, 61_000);
    expect(await create()).toMatchObject({ code: 'OK' });
    expect(server.calls()).toBe(2);
  });

  test('that refuses such an address is not asked again', async () => {
    await useServer(
      { takes: true },
      {
        onMailFrom: (_address: unknown, _session: unknown, done: (error: Error) => void) =>
          done(reply(550, '5.6.7 Non-ASCII addresses not permitted for that sender/recipient')),
      },
    );
    const id = await queue(services, { recipient: newAddress() });
    expect(await messageUntil(services, id, ({ status }) => status === 'FAILED')).toMatchObject({
      attemptCount: 1,
      nextAttemptAt: null,
    });
  });
});

describe('a mail server without SMTPUTF8', () => {
  test('leaves local parts outside ASCII refused, and is not asked about others', async () => {
    const server = await useServer({ takes: false });
    expect(await create('ascii@παράδειγμα.example')).toMatchObject({ code: 'OK' });
    expect(server.calls()).toBe(0);
    expect(await create()).toMatchObject(refusal);
    const { body } = await callRest(endpoint, 'POST', '/users', { primaryEmail: newAddress() });
    expect(body.issues).toMatchObject([
      { code: 'INVALID_VALUE', message: expect.stringContaining('SMTPUTF8') },
    ]);
    expect(server.calls()).toBe(1);
  });

  test('is told apart from another sender at once, at every node', async () => {
    const there = overGraphQL(otherNode, endpoint.token);
    for (const takes of [true, false, true]) {
      await useServer({ takes });
      const code = takes ? 'OK' : 'INVALID_INPUT';
      expect(await create(newAddress(), there)).toMatchObject({ code });
      expect(await create()).toMatchObject({ code });
    }
  });

  test('gets no mail for an address of before, which is given up at once', async () => {
    await useServer({ takes: true });
    const recipient = newAddress();
    await admin.user({ primaryEmail: recipient });
    const server = await useServer({ takes: false });
    const id = await queue(services, { recipient });
    expect(await messageUntil(services, id, ({ status }) => status === 'FAILED')).toMatchObject({
      attemptCount: 1,
      nextAttemptAt: null,
      error: expect.stringContaining('SMTPUTF8'),
    });
    expect([server.received, server.commands.join()]).toEqual([
      [],
      expect.not.stringContaining('RCPT'),
    ]);
  });

  test('names every other fault too', async () => {
    await useServer({ takes: false });
    expect(
      await call('createUser', { primaryEmail: newAddress(), primaryPhone: 'none' }),
    ).toMatchObject({ issues: [{ path: ['primaryEmail'] }, { path: ['primaryPhone'] }] });
  });
});

test('a mail server that cannot be asked leaves them refused, and is asked again a minute later', async () => {
  const port = await freePort();
  await useMailServer(endpoint, { port });
  expect(await create()).toMatchObject(refusal);
  await startMailServer({}, port);
  expect(await create()).toMatchObject(refusal);
  advance(service, 61_000);
  expect(await create()).toMatchObject({ code: 'OK' });
});

test('a mail server that cannot be asked any more counts as before', async () => {
  for (const takes of [true, false]) {
    const server = await useServer({ takes });
    const code = takes ? 'OK' : 'INVALID_INPUT';
    expect(await create()).toMatchObject({ code });
    await server.close();
    for (let minute = 0; minute < 3; minute += 1) {
      advance(service, 61_000);
      expect(await create()).toMatchObject({ code });
    }
  }
});

test('an HTTP sender takes them; without any sender they are refused', async () => {
  await admin.done('setEmailSender', {
    http: { url: 'http://127.0.0.1:9/', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  });
  expect(await create()).toMatchObject({ code: 'OK' });
  await admin.done('removeEmailSender', {});
  const email = new AddressedInput((emailAddress) => emailAddress);
  const at = (kind: 'embedded' | 'postgresql') => {
    const database = { ...services.config.database, kind } as typeof services.config.database;
    return { ...services, config: { ...services.config, database } };
  };
  const recipient = newAddress();
  expect(await parseAddressed(at('embedded'), email, recipient)).toBe(recipient);
  await expect(parseAddressed(at('postgresql'), email, recipient)).rejects.toMatchObject({
    issues: [{ message: expect.stringContaining('no sender') }],
  });
});
