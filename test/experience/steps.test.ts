import { describe, expect, test } from 'vitest';
import { systemActor } from '../../src/services.ts';
import { createOneTimeToken } from '../../src/users/one-time-tokens/one-time-token.ts';
import { testCall } from '../support/log.ts';
import {
  asPage,
  type Headless,
  readInteraction,
  startHeadless,
  step,
} from '../support/people/experience.ts';
import { codeTo, messagesTo } from '../support/people/messages.ts';
import { openBrowser } from '../support/people/sign-in.ts';
import { headlessDriver } from '../support/people/sign-in-drivers.ts';
import {
  authorize,
  createSignInFixture,
  password,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { database } = fixture;
const token = await service.managementToken();
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const begin = () => startHeadless(service, { clientId: client.id, redirectUri });
const everyIdentifier = { signUpIdentifiers: ['USERNAME', 'EMAIL', 'PHONE'] };
await changeSettings(service, token, everyIdentifier);

const longPassword = 'a long way home, twice';
let count = 0;
const nextEmail = () => {
  count += 1;
  return `person${count}@example.com`;
};

async function sendCode({ send }: Headless, purpose: string, email: string): Promise<string> {
  const sent = await step(send, 'sendCode', { purpose, email });
  expect(sent).toMatchObject({ __typename: 'SendCodePayload' });
  return sent['verification'].id;
}

describe('startInteraction', () => {
  test.each([
    [
      'a redirect URI of another application',
      { redirectUri: 'https://evil.example.com/' },
      ['redirectUri'],
    ],
    ['a resource that is none', { resource: 'https://nowhere.example.com' }, ['resource']],
    ['a challenge that is none', { codeChallenge: 'short' }, ['codeChallenge']],
    ['a scope against the grammar', { scope: 'a  b' }, ['scope']],
  ])('refuses %s', async (_case, input, path) => {
    const { started } = await startHeadless(service, {
      clientId: client.id,
      redirectUri,
      ...input,
    });
    expect(started).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path }] });
  });

  test('is only for applications with permission', async () => {
    const other = await fixture.createApplication();
    const { started } = await startHeadless(service, { clientId: other.id, redirectUri });
    expect(started).toMatchObject({ code: 'NOT_ALLOWED' });
    const unknown = await startHeadless(service, { clientId: 'app_nobody', redirectUri });
    expect(unknown.started).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('fails after the application has lost the permission', async () => {
    const fickle = await fixture.createApplication({ allowHeadlessSignIn: true });
    const { send } = await startHeadless(service, { clientId: fickle.id, redirectUri });
    await step(send, 'signInWithPassword', { identifier: 'Ada', password });
    await database.prisma.application.update({
      where: { id: fickle.id },
      data: { allowHeadlessSignIn: false },
    });
    expect(await step(send, 'submitInteraction')).toMatchObject({ code: 'INTERACTION_EXPIRED' });
  });
});

describe('codes', () => {
  test('an earlier code stays valid until one is used', async () => {
    const email = nextEmail();
    await fixture.createUser({ primaryEmail: email });
    const headless = await begin();
    const verificationId = await sendCode(headless, 'SIGN_IN', email);
    const first = await codeTo(service, email);
    expect(await sendCode(headless, 'SIGN_IN', email)).toBe(verificationId);
    const second = await codeTo(service, email);
    expect(await readInteraction(headless.send)).toMatchObject({
      nextSteps: expect.arrayContaining(['VERIFY_CODE']),
      identifier: email,
    });
    const verify = (code: string) => step(headless.send, 'verifyCode', { verificationId, code });
    const done = await verify(first);
    expect(done).toMatchObject({ interaction: { nextSteps: ['SUBMIT'] } });
    expect(await verify(second)).toMatchObject({ code: 'VERIFICATION_FAILED' });
    // Sent again, it gets the first answer, and signs in nowhere else.
    expect(await verify(first)).toEqual(done);
  });

  test('a code fails late, elsewhere, or for a suspended user', async () => {
    const email = nextEmail();
    const user = await fixture.createUser({ primaryEmail: email });
    const [headless, other] = [await begin(), await begin()];
    const verificationId = await sendCode(headless, 'SIGN_IN', email);
    const code = await codeTo(service, email);
    const failed = { code: 'VERIFICATION_FAILED' };
    expect(await step(other.send, 'verifyCode', { verificationId, code })).toMatchObject(failed);
    await database.prisma.user.update({ where: { id: user.id }, data: { isSuspended: true } });
    expect(await step(headless.send, 'verifyCode', { verificationId, code })).toMatchObject(failed);
    await database.prisma.user.update({ where: { id: user.id }, data: { isSuspended: false } });
    service.clock.advance(601_000);
    expect(await step(headless.send, 'verifyCode', { verificationId, code })).toMatchObject(failed);
  });

  test('concurrent guesses never exceed the budget', async () => {
    const email = nextEmail();
    await fixture.createUser({ primaryEmail: email });
    const headless = await begin();
    const verificationId = await sendCode(headless, 'SIGN_IN', email);
    const wrong = (await codeTo(service, email)) === '000000' ? '000001' : '000000';
    await Promise.all(
      Array.from({ length: 25 }, () =>
        step(headless.send, 'verifyCode', { verificationId, code: wrong }),
      ),
    );
    const { attempts } = await database.prisma.verification.findUniqueOrThrow({
      where: { id: verificationId },
    });
    expect(attempts).toBe(10);
  });

  test('the database holds no code in clear', async () => {
    const email = nextEmail();
    const headless = await begin();
    await sendCode(headless, 'REGISTER', email);
    const code = await codeTo(service, email);
    const rows = await database.prisma.$queryRawUnsafe<{ row: string }[]>(
      `SELECT t::text AS "row" FROM "Verification" t UNION ALL SELECT t::text FROM "VerificationCode" t
       UNION ALL SELECT t::text FROM "Message" t UNION ALL SELECT t::text FROM "Interaction" t
       UNION ALL SELECT t::text FROM "Event" t`,
    );
    expect(rows.length).toBeGreaterThan(0);
    const exposing = rows.filter(({ row }) =>
      new RegExp(`(?<![0-9a-f])${code}(?![0-9a-f])`).test(row),
    );
    expect(exposing).toEqual([]);
  });

  test.each([
    ['both an e-mail address and a number', { email: 'a@example.com', phone: '+15550100200' }],
    ['neither', {}],
    ['what is no address', { email: 'nobody' }],
  ])('refuses %s', async (_case, address) => {
    const { send } = await begin();
    const answer = await step(send, 'sendCode', { purpose: 'SIGN_IN', ...address });
    expect(answer).toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe('registration', () => {
  test('informs only the owner of a taken address', async () => {
    const [taken, free] = [nextEmail(), nextEmail()];
    await fixture.createUser({ primaryEmail: taken });
    const answers = [];
    for (const email of [taken, free]) {
      const { send } = await begin();
      const sent = await step(send, 'sendCode', { purpose: 'REGISTER', email });
      answers.push({ ...sent, interaction: { ...sent['interaction'], id: '' } });
    }
    const [first, second] = answers.map((answer) =>
      JSON.stringify(answer).replaceAll(/person\d+|verification_\w+|\d{4}-\d\d-[^"]*/g, ''),
    );
    expect(first).toBe(second);
    expect(await messagesTo(service, taken)).toMatchObject([
      { template: 'ACCOUNT_EXISTS', code: null },
    ]);
    expect(await messagesTo(service, free)).toMatchObject([{ template: 'REGISTER' }]);
  });

  test('accepts a telephone number, which then signs in', async () => {
    const phone = '+15550100299';
    const person = await headlessDriver.start(service, client);
    await person.sendCode('REGISTER', { phone });
    await person.verifyCode(await codeTo(service, phone));
    expect(await person.register({ username: 'caller', password: longPassword })).toMatchObject({
      code: 'OK',
    });
    const { sub } = (await person.submit()).claims() ?? {};
    const again = await headlessDriver.start(service, client);
    await again.sendCode('SIGN_IN', { phone });
    await again.verifyCode(await codeTo(service, phone));
    expect((await again.submit()).claims()).toMatchObject({ sub, amr: ['sms'] });
  });

  test('refuses missing, taken or weak values, and writes nothing', async () => {
    const users = await database.prisma.user.count();
    const { send } = await begin();
    const refusals: [object, object][] = [
      [{}, { code: 'INVALID_INPUT', issues: [{ path: ['username'] }, { path: ['password'] }] }],
      [{ username: 'Ada', password: longPassword }, { code: 'CONFLICT' }],
      [{ username: 'a b', password: longPassword }, { code: 'INVALID_INPUT' }],
      [
        { username: 'somebody', password: 'password' },
        { code: 'PASSWORD_REJECTED', reasons: [{ code: 'COMMON' }] },
      ],
      [
        { username: 'somebody', password: longPassword, profile: { locale: { de: 'AT' } } },
        { code: 'INVALID_INPUT', issues: [{ path: ['profile', 'locale'] }] },
      ],
      [{ username: 'someone-else', password: 'someone-else' }, { code: 'PASSWORD_REJECTED' }],
      [
        { username: 'somebody', password: longPassword, verificationIds: ['verification_none'] },
        { code: 'VERIFICATION_FAILED' },
      ],
    ];
    for (const [input, refusal] of refusals)
      expect(await step(send, 'register', input)).toMatchObject(refusal);
    expect(await database.prisma.user.count()).toBe(users);
  });

  test('concurrent tries create one account in an interaction', async () => {
    const { send } = await begin();
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, i) =>
        step(send, 'register', { username: `twin${i}`, password: longPassword }),
      ),
    );
    expect(answers.filter(({ code }) => code === undefined)).toHaveLength(1);
    const twins = await database.prisma.user.count({ where: { username: { startsWith: 'twin' } } });
    expect(twins).toBe(1);
  });

  test('is off when the settings say so', async () => {
    await changeSettings(service, token, { signUpEnabled: false });
    const { send, started } = await begin();
    expect(started['interaction'].nextSteps).not.toContain('REGISTER');
    expect(
      await step(send, 'register', { username: 'late', password: longPassword }),
    ).toMatchObject({
      code: 'NOT_ALLOWED',
    });
    await changeSettings(service, token, { signUpEnabled: true });
  });
});

describe('one-time tokens', () => {
  const create = async (email: string): Promise<string> => {
    const context = { ...service.app.services, actor: systemActor, ...testCall };
    return (await createOneTimeToken(context, { email })).token;
  };

  test('a stranger registers by one, with a verified address', async () => {
    const email = nextEmail();
    const person = await headlessDriver.start(service, client);
    const redeemed = await person.redeemOneTimeToken(email, await create(email));
    expect(redeemed).toMatchObject({ interaction: { event: 'REGISTER' } });
    await person.register({ username: 'invited' });
    const { sub: id = '' } = (await person.submit()).claims() ?? {};
    const user = await database.prisma.user.findUniqueOrThrow({ where: { id } });
    expect(user).toMatchObject({ primaryEmail: email, isEmailVerified: true });
  });

  test('sign in the owner of the address once', async () => {
    const email = nextEmail();
    const user = await fixture.createUser({ primaryEmail: email });
    const oneTime = await create(email);
    const person = await headlessDriver.start(service, client);
    expect(await person.redeemOneTimeToken(nextEmail(), oneTime)).toMatchObject({
      code: 'VERIFICATION_FAILED',
    });
    expect(await person.redeemOneTimeToken(email, oneTime)).toMatchObject({ code: 'OK' });
    expect((await person.submit()).claims()).toMatchObject({ sub: user.id });
    const again = await headlessDriver.start(service, client);
    expect(await again.redeemOneTimeToken(email, oneTime)).toMatchObject({
      code: 'VERIFICATION_FAILED',
    });
  });
});

describe('recovery', () => {
  test('ends every other session and running sign-in', async () => {
    const email = nextEmail();
    const user = await fixture.createUser({ primaryEmail: email });
    const other = await begin();
    await step(other.send, 'signInWithPassword', { identifier: email, password });
    const person = await headlessDriver.start(service, client);
    await person.sendCode('RESET_PASSWORD', { email });
    await person.verifyCode(await codeTo(service, email));
    expect(await person.resetPassword('password')).toMatchObject({ code: 'PASSWORD_REJECTED' });
    expect(await person.resetPassword(longPassword)).toMatchObject({ code: 'OK' });
    expect(await step(other.send, 'submitInteraction')).toMatchObject({
      code: 'INTERACTION_EXPIRED',
    });
    expect((await person.submit()).claims()).toMatchObject({ sub: user.id });
    expect((await messagesTo(service, email)).map(({ template }) => template)).toEqual([
      'RESET_PASSWORD',
      'PASSWORD_CHANGED',
    ]);
  });

  test('works in a browser with the person’s own session', async () => {
    const email = nextEmail();
    const user = await fixture.createUser({ primaryEmail: email });
    const browser = openBrowser(service.app.services.baseUrl);
    await fixture.signIn({ browser, username: email });
    const { url } = await authorize(service, client, { prompt: 'login' });
    await browser.open(url);
    const send = asPage(service, browser);
    const sent = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
    const code = await codeTo(service, email);
    await step(send, 'verifyCode', { verificationId: sent['verification'].id, code });
    await step(send, 'resetPassword', { password: longPassword });
    const { redirectTo } = await step(send, 'submitInteraction');
    const done = await browser.open(redirectTo);
    expect(done.url.searchParams.get('code')).toBeTypeOf('string');
    expect(await database.prisma.session.count({ where: { userId: user.id } })).toBe(1);
  });

  test('needs its own code', async () => {
    const email = nextEmail();
    await fixture.createUser({ primaryEmail: email });
    const { send } = await begin();
    expect(await step(send, 'resetPassword', { password: longPassword })).toMatchObject({
      code: 'NOT_ALLOWED',
    });
  });
});
