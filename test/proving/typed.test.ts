import { describe, expect, test } from 'vitest';
import { ask, graphql } from '../support/operations/graphql.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { authenticatorApp } from '../support/people/authenticator-app.ts';
import { codeTo } from '../support/people/messages.ts';
import { formsDriver } from '../support/people/page-drivers.ts';
import { headlessDriver } from '../support/people/sign-in-drivers.ts';
import { openSignInPage, password } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createAccountFixture(service);
const { prisma } = fixture.database;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const scripts = {
  'Arabic-Indic': '٠١٢٣٤٥٦٧٨٩',
  Persian: '۰۱۲۳۴۵۶۷۸۹',
  Devanagari: '०१२३४५६७८९',
  fullwidth: '０１２３４５６７８９',
  'mathematical monospace': '𝟶𝟷𝟸𝟹𝟺𝟻𝟼𝟽𝟾𝟿',
};
const digitsIn = (script: keyof typeof scripts, text: string) =>
  text.replaceAll(/\d/g, (digit) => [...scripts[script]][Number(digit)] as string);

/** A code as a keyboard, or a copy out of a message, makes it: with marks of direction, a hyphen and a space. */
const asTyped = (script: keyof typeof scripts, code: string) =>
  `\u202b\u200f${digitsIn(script, code.slice(0, 3))}\u2011\u00a0${digitsIn(script, code.slice(3))}\u202c`;

let count = 0;
const newPhone = () => {
  count += 1;
  return `+4915112345${String(count).padStart(3, '0')}`;
};
const newUser = () => fixture.createUser({ primaryPhone: newPhone(), isPhoneVerified: true });

describe.each([headlessDriver, formsDriver])('typed at a sign-in, $name', (driver) => {
  test.each(Object.keys(scripts) as (keyof typeof scripts)[])(
    'a telephone number and a code in digits of another script: %s',
    async (script) => {
      const { id, primaryPhone } = await newUser();
      const person = await driver.start(service, client);
      const phone = digitsIn(script, primaryPhone ?? '');
      expect(await person.sendCode('SIGN_IN', { phone })).toMatchObject({ code: 'OK' });
      const code = await codeTo(service, primaryPhone ?? '');
      expect(await person.verifyCode(asTyped(script, code))).toMatchObject({ code: 'OK' });
      expect((await person.submit()).claims()?.sub).toBe(id);
    },
  );

  test.each([
    ['a zero in brackets', (local: string) => `+49 (0) ${local}`],
    ['a zero in brackets after 00', (local: string) => `0049(0)${local}`],
    ['brackets around the country’s code too', (local: string) => `(+49) (0) ${local}`],
    ['brackets around the country’s code after 00', (local: string) => `(0049)(0)${local}`],
    [
      'hyphens of every kind',
      (local: string) =>
        [...`+49${local}`].join('\u2013\u2010\u00ad\u2212\u207b\u2043\u30fc\ufe0f'),
    ],
    ['spaces of every kind', (local: string) => `\u3000+49\u202f${local}\u00a0`],
    ['marks of direction', (local: string) => `\u202a+49\u200e${local}\u202c`],
    ['wide signs', (local: string) => `\uff0b49\uff08\uff10\uff09${local}`],
  ])('a telephone number with %s', async (_case, spell) => {
    const { primaryPhone } = await newUser();
    const person = await driver.start(service, client);
    const typed = spell((primaryPhone ?? '').slice('+49'.length));
    expect(await person.sendCode('SIGN_IN', { phone: typed })).toMatchObject({ code: 'OK' });
    const code = await codeTo(service, primaryPhone ?? '');
    expect(await person.verifyCode(code)).toMatchObject({ code: 'OK' });
    await person.submit();
  });

  test('spaces around a user name or an address', async () => {
    const user = await fixture.createUser({
      primaryEmail: `spaces-${driver.name.length}@a.example`,
    });
    for (const identifier of [user.username, user.primaryEmail]) {
      const person = await driver.start(service, client);
      expect(
        await person.signInWithPassword(`\u00a0\u200f ${identifier}\u2003\u200e`, password),
      ).toMatchObject({
        code: 'OK',
      });
      expect((await person.submit()).claims()?.sub).toBe(user.id);
    }
    const newcomer = await driver.start(service, client);
    const username = `newcomer-${driver.name.length}`;
    const registered = await newcomer.register({ username: `\u3000${username} `, password });
    expect(registered).toMatchObject({ code: 'OK' });
    const { sub } = (await newcomer.submit()).claims() ?? {};
    expect(await prisma.user.findUniqueOrThrow({ where: { id: String(sub) } })).toMatchObject({
      username,
    });
  });

  test('a password keeps every character', async () => {
    const username = `keeper-${driver.name.length}`;
    const own = ` \u200f${digitsIn('Persian', '1815')} a long way home \u2003`;
    const newcomer = await driver.start(service, client);
    expect(await newcomer.register({ username, password: own })).toMatchObject({ code: 'OK' });
    await newcomer.submit();
    for (const other of [
      own.trim(),
      own.replace('\u200f', ''),
      ` \u200f1815 a long way home \u2003`,
    ]) {
      const person = await driver.start(service, client);
      expect(await person.signInWithPassword(username, other)).not.toMatchObject({ code: 'OK' });
    }
    const person = await driver.start(service, client);
    expect(await person.signInWithPassword(username, own)).toMatchObject({ code: 'OK' });
  });
});

test('each spelling of a wrong code is one guess: none is free, and none counts twice', async () => {
  const { primaryPhone } = await newUser();
  const person = await headlessDriver.start(service, client);
  await person.sendCode('SIGN_IN', { phone: primaryPhone ?? '' });
  const code = await codeTo(service, primaryPhone ?? '');
  const wrong = code.replace(/^./, (digit) => String((Number(digit) + 1) % 10));
  const names = Object.keys(scripts) as (keyof typeof scripts)[];
  const spellings = [wrong, ...names.map((script) => asTyped(script, wrong))];
  const mixed = [...wrong].map((digit, at) =>
    digitsIn(names[at % names.length] ?? 'Persian', digit),
  );
  const guesses = [...spellings, mixed.join('-'), ` ${wrong}`, `${code}\u2460`].slice(0, 9);
  for (const guess of guesses)
    expect(await person.verifyCode(guess)).toMatchObject({ code: 'VERIFICATION_FAILED' });
  // The tenth is right, so nine have counted nine times at most.
  expect(await person.verifyCode(asTyped('Persian', code))).toMatchObject({ code: 'OK' });
  const again = await headlessDriver.start(service, client);
  await again.sendCode('SIGN_IN', { phone: primaryPhone ?? '' });
  const next = await codeTo(service, primaryPhone ?? '');
  const another = next.replace(/^./, (digit) => String((Number(digit) + 1) % 10));
  for (let guess = 0; guess < 10; guess += 1)
    await again.verifyCode(asTyped(names[guess % names.length] ?? 'Persian', another));
  expect(await again.verifyCode(next)).toMatchObject({ code: 'LOCKED' });
});

test('the pages let such a code through', async () => {
  const { primaryPhone } = await newUser();
  const { browser, visit } = await openSignInPage(service, client);
  const address = await browser.open(`${visit.url.href}/code?by=phone`);
  const { body } = await browser.submit(address, { phone: primaryPhone ?? '' });
  const [, pattern = ''] = / name="code"[^>]* pattern="([^"]*)"/.exec(body) ?? [];
  // As browsers read the attribute (HTML, "The pattern attribute").
  const accepted = new RegExp(`^(?:${pattern})$`, 'v');
  for (const script of Object.keys(scripts) as (keyof typeof scripts)[])
    expect(asTyped(script, '123456')).toMatch(accepted);
  for (const other of ['12345', '1234567', '12345x', '']) expect(other).not.toMatch(accepted);
});

test('typed at the account: codes, codes of apps, backup codes, names', async () => {
  await changeSettings(service, await service.managementToken(), {
    factors: ['TOTP', 'BACKUP_CODES'],
  });
  const phone = newPhone();
  const { user, me } = await fixture.newPerson({ enrollmentSkippedAt: service.clock.now() });
  await me.run('verifyViewerPassword', { password });
  const { verification } = await me.run('sendViewerCode', {
    phone: digitsIn('Devanagari', `\u200e${phone.slice(0, 3)} (0) ${phone.slice(3)}`),
  });
  const verificationId = verification.id;
  const code = asTyped('Devanagari', await codeTo(service, phone));
  expect(await me.run('verifyViewerCode', { verificationId, code })).toMatchObject({
    __typename: 'VerifyViewerCodePayload',
  });
  await me.run('updateViewerPhone', { verificationId });
  const app = authenticatorApp(service.clock, (await me.run('enrollTotp'))['secret']);
  expect(await me.run('confirmTotp', { code: asTyped('Arabic-Indic', app.code()) })).toMatchObject({
    __typename: 'ConfirmTotpPayload',
  });
  expect(await me.run('verifyTotp', { code: asTyped('Persian', app.code(1)) })).toMatchObject({
    __typename: 'VerifyTotpPayload',
  });
  const [backup] = (await me.run('createBackupCodes'))['codes'];
  const typed = digitsIn('fullwidth', `\u200f${backup.replaceAll('-', '\u2013')} `);
  expect(await me.run('verifyBackupCode', { code: typed })).toMatchObject({
    __typename: 'VerifyBackupCodePayload',
  });
  await me.run('updateViewerUsername', { username: '\u00a0Ada-of-the-account ' });
  expect(await prisma.user.findUniqueOrThrow({ where: { id: user.id } })).toMatchObject({
    username: 'Ada-of-the-account',
    primaryPhone: phone,
  });
});

const Typed = graphql(`
  mutation Typed(
    $user: CreateUserInput!, $imported: ImportedUserInput!, $token: CreateOneTimeTokenInput!
    $invitation: CreateOrganizationInvitationInput!
  ) {
    createUser(input: $user) {
      ... on CreateUserPayload { user { username primaryEmail primaryPhone } }
      ... on Error { code message }
    }
    importUsers(input: { users: [$imported] }) {
      ... on ImportUsersPayload { users { username primaryPhone } failures { code message } }
    }
    createOneTimeToken(input: $token) {
      ... on CreateOneTimeTokenPayload { oneTimeToken { email } }
      ... on Error { code message }
    }
    createOrganizationInvitation(input: $invitation) {
      ... on CreateOrganizationInvitationPayload { organizationInvitation { invitee } }
      ... on Error { code message }
    }
  }
`);

test('typed by an administrator', async () => {
  const spell = (phone: string) =>
    digitsIn('Persian', `${phone.slice(0, 3)} (0) ${phone.slice(3)}`);
  const [phone, other] = [newPhone(), newPhone()];
  const { id: organizationId } = await fixture.directory.createOrganization();
  const email = '\u00a0typed@example.com\u200f ';
  const endpoint = { url: service.url, token: await service.managementToken() };
  const expiresAt = new Date(service.clock.now().getTime() + 3_600_000).toISOString();
  const clean = 'typed@example.com';
  expect(
    await ask(endpoint, Typed, {
      user: { username: ' typed\u3000', primaryEmail: email, primaryPhone: spell(phone) },
      imported: { username: '\u200eimported ', primaryPhone: spell(other) },
      token: { email },
      invitation: { organizationId, invitee: email, expiresAt },
    }),
  ).toEqual({
    createUser: { user: { username: 'typed', primaryEmail: clean, primaryPhone: phone } },
    importUsers: { users: [{ username: 'imported', primaryPhone: other }], failures: [] },
    createOneTimeToken: { oneTimeToken: { email: clean } },
    createOrganizationInvitation: { organizationInvitation: { invitee: clean } },
  });
});
