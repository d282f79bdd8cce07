import { describe, expect, test } from 'vitest';
import { spellDomains } from '../../src/db/migrations/domain-spellings.ts';
import { newId } from '../../src/ids.ts';
import { apply, plan } from '../support/operations/configuration.ts';
import { createMaker } from '../support/operations/maker.ts';
import { overGraphQL } from '../support/operations/operations.ts';
import { callRest } from '../support/operations/rest.ts';
import { startTalkingServer } from '../support/peers/mail-server.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { allowPrivate, connect } from '../support/people/federation.ts';
import { useMailServer } from '../support/people/messages.ts';
import {
  createSignInFixture,
  openSignInPage,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService(allowPrivate);
const fixture = await createSignInFixture(service);
const { database } = fixture;
const { prisma } = database;
const endpoint = { url: service.url, token: await service.managementToken() };
const call = overGraphQL(service, endpoint.token);
const admin = createMaker(call);
const app = await fixture.createApplication({ allowHeadlessSignIn: true });
const begin = async () => (await startHeadless(service, { clientId: app.id, redirectUri })).send;

let count = 0;
/** The spellings of one new address, as it is stored and in its ASCII form. */
function spellings(domain = 'müller.example', ascii = 'xn--mller-kva.example') {
  count += 1;
  const local = `max${count}`;
  return [`${local}@${domain}`, `${local}@${ascii}`] as const;
}
const addressOf = async (id: string) =>
  (await prisma.user.findUniqueOrThrow({ where: { id } })).primaryEmail;

describe('an address at an international domain', () => {
  test.each([
    ['max@müller.example', 'max@müller.example'],
    ['Eva@MÜLLER.Example', 'Eva@müller.example'],
    ['ida@mu\u0308ller.example', 'ida@müller.example'],
    ['ari@xn--mller-kva.example', 'ari@müller.example'],
    ['m@maßanfertigung.example', 'm@maßanfertigung.example'],
    ['m@massanfertigung.example', 'm@massanfertigung.example'],
    ['aki@例え。テスト', 'aki@例え.テスト'],
    ['ava@نامه\u200Cای.example', 'ava@نامه\u200Cای.example'],
    ['leo@Example.COM', 'leo@example.com'],
  ])('%s is taken, and shown as %s', async (typed, shown) => {
    const { body } = await callRest(endpoint, 'POST', '/users', { primaryEmail: typed });
    expect(body.user).toMatchObject({ primaryEmail: shown });
  });

  test.each([
    'max@mü ller.example',
    'max@mü_ller.example',
    'max@-müller.example',
    'max@müller..example',
    'max@xn--a.example',
    'max@xn--.example',
    'max@xn--mller-kvb.example',
    'max@müller.example/x',
    'max@m%C3%BCller.example',
    'max@１.２',
    'max@a≠b.example',
    `max@${'ü'.repeat(62)}.example`,
    'max@',
    'müller.example',
  ])('%s is refused with the name of its field', async (primaryEmail) => {
    expect(await call('createUser', { primaryEmail })).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['primaryEmail'] }],
    });
  });

  test('is one with its ASCII form, and two with the domain that ß once was', async () => {
    const [typed, ascii] = spellings('maß.example', 'xn--ma-hia.example');
    await admin.user({ primaryEmail: typed });
    for (const twin of [ascii, ascii.toUpperCase(), typed.replace('maß', 'MAß')]) {
      expect(await call('createUser', { primaryEmail: twin })).toMatchObject({
        code: 'CONFLICT',
        path: ['primaryEmail'],
      });
      expect(await call('importUsers', { users: [{ primaryEmail: twin }] })).toMatchObject({
        payload: { failures: [expect.anything()] },
      });
    }
    await admin.user({ primaryEmail: typed.replace('ß', 'ss') });
  });

  test('is found by a filter and by a search', async () => {
    const [typed, ascii] = spellings();
    const id = await admin.user({ primaryEmail: typed });
    for (const query of [`primaryEmail=${ascii}`, `primaryEmail=${typed}`, `search=${typed}`]) {
      const { body } = await callRest(endpoint, 'GET', `/users?${encodeURI(query)}`);
      expect(body.users).toMatchObject([{ id }]);
    }
  });

  test('stays verified when it is written in its ASCII form', async () => {
    const [typed, ascii] = spellings();
    const id = await admin.user({ primaryEmail: typed, isEmailVerified: true });
    await admin.done('updateUser', { id, primaryEmail: ascii });
    expect(await prisma.user.findUniqueOrThrow({ where: { id } })).toMatchObject({
      primaryEmail: typed,
      isEmailVerified: true,
    });
  });

  test('signs in in either spelling, and both count as one', async () => {
    const [typed, ascii] = spellings();
    const { id } = await fixture.createUser({ primaryEmail: typed });
    for (const identifier of [typed, ascii, ` ${typed.replace('ü', 'u\u0308').toUpperCase()}`]) {
      const send = await begin();
      await step(send, 'signInWithPassword', { identifier, password: 'wrong' });
      const { interaction } = await step(send, 'signInWithPassword', { identifier, password });
      expect(
        await prisma.interaction.findUniqueOrThrow({ where: { id: interaction.id } }),
      ).toMatchObject({ userId: id });
    }
    expect(
      await call('unlockIdentifier', { type: 'EMAIL', value: ascii.toUpperCase() }),
    ).toMatchObject({ payload: { value: typed } });
  });

  test('signs up by a code, which is mailed to its ASCII form', async () => {
    const server = await startTalkingServer();
    await useMailServer(endpoint, server);
    await changeSettings(service, endpoint.token, { signUpIdentifiers: ['EMAIL'] });
    const [typed, ascii] = spellings('maß.example', 'xn--ma-hia.example');
    const organizationId = await admin.organization();
    await admin.done('addOrganizationEmailDomain', { organizationId, domain: 'MAß.example' });
    const send = await begin();
    const { verification } = await step(send, 'sendCode', { purpose: 'REGISTER', email: typed });
    const [received] = await server.arrived(1);
    expect(received?.mail.to).toMatchObject([{ address: ascii }]);
    expect(server.commands).toContainEqual(`RCPT TO:<${ascii}>`);
    const code = /\b\d{6}\b/.exec(received?.mail.text ?? '')?.[0];
    await step(send, 'verifyCode', { verificationId: verification.id, code });
    expect(await step(send, 'register', { password: 'a long way home, twice' })).toMatchObject({
      interaction: { nextSteps: ['SUBMIT'] },
    });
    await step(send, 'submitInteraction');
    expect(await prisma.user.findFirst({ where: { primaryEmail: typed } })).toMatchObject({
      isEmailVerified: true,
    });
    expect(await prisma.organizationUser.count({ where: { organizationId } })).toBe(1);
  });

  test('can be the sender of messages', async () => {
    const server = await startTalkingServer();
    await admin.done('setEmailSender', {
      smtp: { host: '127.0.0.1', port: server.port, from: 'Müller <hallo@MÜLLER.example>' },
    });
    const [, ascii] = spellings();
    await admin.done('sendTestMessage', { channel: 'EMAIL', recipient: ascii });
    const [received] = await server.arrived(1);
    const from = 'hallo@xn--mller-kva.example';
    expect(received?.mail.from).toMatchObject({ address: from });
    expect(server.commands).toContainEqual(expect.stringMatching(`^MAIL FROM:<${from}>`));
    expect(server.commands).toContainEqual(`RCPT TO:<${ascii}>`);
    expect(received?.mail.messageId).toContain('@xn--mller-kva.example>');
  });
});

describe('an international domain', () => {
  test('of just-in-time provisioning is one in both spellings', async () => {
    const organizationId = await admin.organization();
    const domain = 'bücher.example';
    const ascii = 'xn--bcher-kva.example';
    await admin.done('addOrganizationEmailDomain', { organizationId, domain: ascii });
    expect(await call('addOrganizationEmailDomain', { organizationId, domain })).toMatchObject({
      code: 'CONFLICT',
    });
    for (const one of [domain, ascii]) {
      const path = `/organizations?emailDomain=${encodeURIComponent(one)}`;
      expect((await callRest(endpoint, 'GET', path)).body.organizations).toMatchObject([
        { id: organizationId },
      ]);
    }
    await admin.done('removeOrganizationEmailDomain', { organizationId, domain: 'BÜCHER.example' });
    expect(await call('addOrganizationEmailDomain', { organizationId, domain: 'ü' })).toMatchObject(
      { code: 'INVALID_INPUT', issues: [{ path: ['domain'] }] },
    );
  });

  test('of a provider is no change in a configuration', async () => {
    const document = {
      identityProviders: [
        {
          ...{ name: 'Bücher', kind: 'ENTERPRISE', issuer: 'http://127.0.0.1:9', clientId: 'b' },
          emailDomains: ['xn--bcher-kva.example', 'ABC.example'],
        },
      ],
    };
    await apply(endpoint, document);
    expect((await plan(endpoint, document)).changes).toEqual([]);
  });

  test('of a provider leads people there, in both spellings', async () => {
    const other = await startService();
    const id = await connect(service, other, {
      name: 'Straße',
      kind: 'ENTERPRISE',
      emailDomains: ['straße.example'],
    });
    const addresses = ['max@STRAßE.example', 'max@xn--strae-oqa.example'];
    for (const identifier of addresses) {
      const { browser, visit } = await openSignInPage(service, fixture.client);
      const left = await browser.submit(visit, { identifier });
      expect(left.url.searchParams.get('login_hint')).toBe('max@straße.example');
      expect(left.url.href).toContain(other.app.services.issuer);
    }
    await admin.done('deleteIdentityProvider', { id });
  });
});

test('what a version before wrote in the ASCII form is found after a start', async () => {
  const [typed, ascii] = spellings();
  const [twin, twinAscii] = spellings();
  const stamps = { createdAt: service.clock.now(), updatedAt: service.clock.now() };
  const write = async (primaryEmail: string) => {
    const id = newId('User');
    await prisma.user.create({ data: { id, primaryEmail, ...stamps } });
    return id;
  };
  const [old, left, right] = [await write(ascii), await write(twinAscii), await write(twin)];
  const organizationId = await admin.organization();
  await prisma.organizationEmailDomain.create({
    data: { organizationId, domain: 'xn--mller-kva.example', createdAt: stamps.createdAt },
  });
  const starts = await Promise.all([spellDomains(database), spellDomains(database)]);
  expect(starts).toEqual([[twinAscii], [twinAscii]]);
  expect(await Promise.all([old, left, right].map(addressOf))).toEqual([typed, twinAscii, twin]);
  const removed = { organizationId, domain: 'müller.example' };
  expect(await call('removeOrganizationEmailDomain', removed)).toMatchObject({ code: 'OK' });
});
