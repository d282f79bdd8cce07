import { afterEach, expect, onTestFinished, test } from 'vitest';
import { hashQueue } from '../../../src/users/hash-queue.ts';
import {
  byCode,
  byPassword,
  password,
  type Steps,
  startAttack,
  upTo,
} from '../../support/granting/attacker.ts';
import { laterFields, laterOperations } from '../../support/granting/later.ts';
import type { Input } from '../../support/operations/operations.ts';
import { startReceiver } from '../../support/peers/receiver.ts';
import { accountClient } from '../../support/people/account.ts';
import { step } from '../../support/people/experience.ts';
import { allowPrivate } from '../../support/people/federation.ts';
import { openSignInPage } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { eventually } from '../../support/wait.ts';

const service = await startService(allowPrivate);
const receiver = await startReceiver();
const attack = await startAttack(service);
const { make, next, done, setUp, promote, rightsBy, rightsIn, signedIn } = attack;
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const setters = ['experience:write', 'all'] as const;

await done('setEmailSender', { http: { url: receiver.url, secret } });

// Somebody with less than `all` chooses how people sign in as long as nobody holds more.
afterEach(async () => {
  await attack.prisma.userRole.deleteMany();
  await done('updateSignInExperience', {
    ...Object.fromEntries(laterFields('updateSignInExperience').map((field) => [field, null])),
  });
});

/** What an administrator leaves, before somebody else weakens it. */
const leave = (settings: Input) => done('updateSignInExperience', settings);
const weaken = (scope: string, settings: Input) => setUp(scope, 'updateSignInExperience', settings);

/** Somebody with a password and an e-mail address. */
async function person(known = password) {
  const username = next('person');
  const email = `${username}@example.com`;
  const id = await make.user({
    username,
    password: known,
    primaryEmail: email,
    isEmailVerified: true,
  });
  return { id, username, email };
}

/** The last code that was posted to somebody. */
async function postedTo(email: string): Promise<string> {
  const of = (body: string) => JSON.parse(body) as { recipient: string; code: string };
  const received = await receiver.until((all) =>
    all.some(({ body }) => of(body).recipient === email),
  );
  return (
    received.map(({ body }) => of(body)).findLast((one) => one.recipient === email)?.code ?? ''
  );
}

/** What a sign-in gets for somebody with all rights, if the settings that a scope left are in force for them. */
const allIf = (scope: string) => (scope === 'all' ? upTo('all') : []);

/** Signs in by a password after wrong guesses at it. */
const afterGuesses =
  (username: string, guesses: number, between = 0): Steps =>
  async (send) => {
    for (let guess = 0; guess < guesses; guess += 1) {
      await step(send, 'signInWithPassword', { identifier: username, password: 'a wrong guess' });
      service.clock.advance(between);
    }
    return step(send, 'signInWithPassword', { identifier: username, password });
  };

test.each(setters)('guesses that %s allows are for nobody with more', async (scope) => {
  await weaken(scope, { lockoutPolicy: { maxAttempts: 100, windowSeconds: 60, lockSeconds: 1 } });
  const [ordinary, quick, slow] = [await person(), await person(), await person()];
  await signedIn(afterGuesses(ordinary.username, 10));
  for (const { id } of [quick, slow]) await promote(id);
  expect(await rightsBy(afterGuesses(quick.username, 10))).toEqual(allIf(scope));
  expect(await rightsBy(afterGuesses(slow.username, 10, 61_000))).toEqual(allIf(scope));
});

test.each(setters)('a password that only %s allows signs in nobody with more', async (scope) => {
  const easy = 'password1';
  await leave({ passwordPolicy: { minLength: 12, blocklist: ['harbour'] } });
  const weak = { minLength: 8, rejectCommon: false, rejectUserData: false, blocklist: [] };
  await weaken(scope, { passwordPolicy: weak });
  const username = next('person');
  await signedIn((send) => step(send, 'register', { username, password: easy }));
  const steps: Steps = (send) =>
    step(send, 'signInWithPassword', { identifier: username, password: easy });
  await signedIn(steps);
  const { id } = await attack.prisma.user.findFirstOrThrow({ where: { username } });
  await promote(id);
  expect(await rightsBy(steps)).toEqual(allIf(scope));
});

test.each(setters)(
  'a password that only %s allows signs in nobody who gets more while it is hashed',
  async (scope) => {
    const easy = 'password1';
    await leave({ passwordPolicy: { minLength: 12 } });
    await weaken(scope, { passwordPolicy: { minLength: 8, rejectCommon: false } });
    const username = next('person');
    await signedIn((send) => step(send, 'register', { username, password: easy }));
    const { id } = await attack.prisma.user.findFirstOrThrow({ where: { username } });
    const hashing = Promise.withResolvers<void>();
    onTestFinished(() => hashing.resolve());
    while (hashQueue.waiting === 0) void hashQueue.run(() => hashing.promise);
    const rights = rightsBy((send) =>
      step(send, 'signInWithPassword', { identifier: username, password: easy }),
    );
    await eventually(() => expect(hashQueue.waiting).toBe(2));
    await promote(id);
    hashing.resolve();
    expect(await rights).toEqual(allIf(scope));
  },
);

test.each(setters)(
  'a password that only %s allows proves nothing at the account',
  async (scope) => {
    const easy = 'password1';
    await leave({ passwordPolicy: { minLength: 12 } });
    await weaken(scope, { passwordPolicy: { minLength: 8, rejectCommon: false } });
    const { id, username } = await person();
    const browser = await signedIn(byPassword(username));
    const me = accountClient(service, await attack.accountToken(browser));
    await me.run('verifyViewerPassword', { password });
    expect(await me.run('updateViewerPassword', { password: easy })).toMatchObject({
      __typename: 'UpdateViewerPasswordPayload',
    });
    const prove = async () =>
      (await me.run('verifyViewerPassword', { password: easy }))['__typename'];
    expect(await prove()).toBe('VerifyViewerPasswordPayload');
    await promote(id);
    expect(await prove()).toBe(
      scope === 'all' ? 'VerifyViewerPasswordPayload' : 'VerificationFailedError',
    );
  },
);

test.each(setters)('a new password of somebody with more is as %s may allow', async (scope) => {
  await leave({ passwordPolicy: { minLength: 12 } });
  await weaken(scope, { passwordPolicy: { minLength: 8 } });
  const { id, email } = await person();
  await promote(id);
  const reset: Steps = async (send) => {
    const asked = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
    const code = await postedTo(email);
    await step(send, 'verifyCode', { verificationId: asked['verification'].id, code });
    return step(send, 'resetPassword', { password: 'harbour 41' });
  };
  expect(await rightsBy(reset)).toEqual(allIf(scope));
});

test.each(setters)(
  'the page of a recovery tells what %s may allow, after the proof alone',
  async (scope) => {
    await leave({ passwordPolicy: { minLength: 12 } });
    await weaken(scope, { passwordPolicy: { minLength: 8 } });
    const { id, email } = await person();
    await promote(id);
    const { browser, visit } = await openSignInPage(service, attack.trusted);
    const page = (name: string) => browser.open(`${visit.url}/${name}`);
    const asked = await browser.submit(await page('forgot-password'), { email });
    expect(asked.body).not.toContain('12 characters');
    expect((await page('new-password')).body).not.toContain('12 characters');
    const chosen = await browser.submit(asked, { code: await postedTo(email) });
    const told = `${scope === 'all' ? 8 : 12} characters or more`;
    expect(chosen.url.pathname).toMatch(/new-password$/);
    expect(chosen.body).toContain(told);
    const refused = await browser.submit(chosen, { password: 'short' });
    expect(refused.status).toBe(422);
    expect(refused.body).toContain(`It needs ${told}`);
  },
);

test.each(setters)('the pages ask for the second factor that %s may not spare', async (scope) => {
  await leave({ factors: ['TOTP'], factorPolicy: 'REQUIRED' });
  await weaken(scope, { factors: [], factorPolicy: 'OPTIONAL' });
  const { id, username } = await person();
  await promote(id);
  const { browser, visit } = await openSignInPage(service, attack.trusted);
  const { url } = await browser.submit(visit, { identifier: username, password });
  expect(url.pathname).toMatch(scope === 'all' ? /callback$/ : /\/enroll\//);
});

test.each(setters)('passwords that %s allows sign in nobody with more', async (scope) => {
  await leave({ passwordEnabled: false });
  await weaken(scope, { passwordEnabled: true });
  const { id, username, email } = await person();
  await signedIn(byPassword(username));
  await promote(id);
  expect(await rightsBy(byPassword(username))).toEqual(allIf(scope));
  // Nor do they recover one.
  const recover: Steps = async (send) => {
    const asked = await step(send, 'sendCode', { purpose: 'RESET_PASSWORD', email });
    const code = await postedTo(email);
    await step(send, 'verifyCode', { verificationId: asked['verification'].id, code });
    return step(send, 'resetPassword', { password });
  };
  expect(await rightsBy(recover)).toEqual(allIf(scope));
});

test.each(setters)('an identifier that %s allows signs in nobody with more', async (scope) => {
  await leave({ signInIdentifiers: ['EMAIL'] });
  await weaken(scope, { signInIdentifiers: ['EMAIL', 'USERNAME'] });
  const { id, username, email } = await person();
  await signedIn(byPassword(username));
  await promote(id);
  expect(await rightsBy(byPassword(username))).toEqual(allIf(scope));
  expect(await rightsBy(byPassword(email))).toEqual(upTo('all'));
});

test.each(setters)('codes that %s allows sign in nobody with more', async (scope) => {
  await leave({ codeEnabled: false });
  await weaken(scope, { codeEnabled: true });
  const [ordinary, { id, email }] = [await person(), await person()];
  await signedIn(byCode({ email: ordinary.email }, () => postedTo(ordinary.email)));
  await promote(id);
  expect(await rightsBy(byCode({ email }, () => postedTo(email)))).toEqual(allIf(scope));
});

test.each(setters)('the rules for codes that %s sets are for nobody with more', async (scope) => {
  await leave({ codePolicy: { maxAttempts: 2, ttlSeconds: 60, sendLimit: 2 } });
  const codePolicy = { maxAttempts: 100, ttlSeconds: 600, sendLimit: 100, sendWindowSeconds: 1 };
  await weaken(scope, { codePolicy });
  const [late, guessed, flooded] = [await person(), await person(), await person()];
  for (const { id } of [late, guessed, flooded]) await promote(id);
  const lately: Steps = byCode({ email: late.email }, async () => {
    const code = await postedTo(late.email);
    service.clock.advance(61_000);
    return code;
  });
  expect(await rightsBy(lately)).toEqual(allIf(scope));
  const guessing: Steps = async (send) => {
    const { email } = guessed;
    const sent = await step(send, 'sendCode', { purpose: 'SIGN_IN', email });
    const verificationId = sent['verification'].id;
    const code = await postedTo(email);
    const wrong = code === '000000' ? '000001' : '000000';
    for (let guess = 0; guess < 2; guess += 1)
      await step(send, 'verifyCode', { verificationId, code: wrong });
    return step(send, 'verifyCode', { verificationId, code });
  };
  expect(await rightsBy(guessing)).toEqual(allIf(scope));
  const sends: string[] = [];
  const flooding: Steps = async (send) => {
    const { email } = flooded;
    for (let message = 0; message < 3; message += 1) {
      sends.push((await step(send, 'sendCode', { purpose: 'SIGN_IN', email })).__typename);
      service.clock.advance(2_000);
    }
    return undefined;
  };
  await rightsBy(flooding);
  expect(sends.at(-1)).toBe(scope === 'all' ? 'SendCodePayload' : 'RateLimitedError');
});

test.each(setters)('a second factor that %s spares is spared nobody with more', async (scope) => {
  await leave({ factors: ['TOTP'], factorPolicy: 'REQUIRED' });
  await weaken(scope, { factors: [], factorPolicy: 'OPTIONAL' });
  const { id, username } = await person();
  await signedIn(byPassword(username));
  await promote(id);
  expect(await rightsBy(byPassword(username))).toEqual(allIf(scope));
});

test.each(setters)('a session lasts no longer by %s for somebody with more', async (scope) => {
  await leave({ sessionPolicy: { idleSeconds: 60, maxSeconds: 60 } });
  await weaken(scope, { sessionPolicy: { idleSeconds: 600, maxSeconds: 600 } });
  const { id, username } = await person();
  const browser = await signedIn(byPassword(username));
  service.clock.advance(61_000);
  expect((await rightsIn(browser)).isSignedIn).toBe(true);
  await promote(id);
  expect((await rightsIn(browser)).scopes).toEqual(allIf(scope));
});

test.each(setters)(
  'an unused session lasts no longer by %s for somebody with more',
  async (scope) => {
    await leave({ sessionPolicy: { idleSeconds: 60, maxSeconds: 3600 } });
    await weaken(scope, { sessionPolicy: { idleSeconds: 1800, maxSeconds: 3600 } });
    const [ordinary, idle, busy] = [await person(), await person(), await person()];
    const browserOf = ({ username }: typeof idle) => signedIn(byPassword(username));
    const browsers = { ordinary: await browserOf(ordinary), idle: await browserOf(idle) };
    const inUse = await browserOf(busy);
    for (const { id } of [idle, busy]) await promote(id);
    for (let uses = 0; uses < 2; uses += 1) {
      service.clock.advance(40_000);
      expect((await rightsIn(inUse)).scopes).toEqual(upTo('all'));
    }
    expect((await rightsIn(browsers.ordinary)).isSignedIn).toBe(true);
    // Nor does it begin again because somebody tries to use it.
    for (let tries = 0; tries < 2; tries += 1)
      expect((await rightsIn(browsers.idle)).scopes).toEqual(allIf(scope));
    // Whoever signs in again has a new one, in the same browser.
    expect((await rightsIn(browsers.idle, byPassword(idle.username))).scopes).toEqual(upTo('all'));
    expect((await rightsIn(browsers.idle)).scopes).toEqual(upTo('all'));
  },
);

test('settings are in force for everybody once an administrator answers for them', async () => {
  const lockoutPolicy = { maxAttempts: 100 };
  await weaken('experience:write', { lockoutPolicy });
  const { id, username } = await person();
  await promote(id);
  await done('updateSignInExperience', { codeEnabled: true });
  expect(await rightsBy(afterGuesses(username, 10))).toEqual([]);
  const other = await person();
  await promote(other.id);
  await done('updateSignInExperience', { lockoutPolicy });
  expect(await rightsBy(afterGuesses(other.username, 10))).toEqual(upTo('all'));
});

test('somebody who holds no more than who weakened the settings has them as they are', async () => {
  await weaken('experience:write', { lockoutPolicy: { maxAttempts: 100 } });
  const { id, username } = await person();
  const own = attack.scopeIds;
  const { id: scopeId } = await attack.prisma.scope.findFirstOrThrow({
    where: { name: 'experience:write', id: { in: own } },
  });
  const roleId = await make.role({ scopeIds: [scopeId] });
  await done('assignUserRoles', { userId: id, roleIds: [roleId] });
  expect(await rightsBy(afterGuesses(username, 10))).toEqual(['experience:write']);
});

test.each(setters)('a sign-up that %s opens lets nobody in with more', async (scope) => {
  await done('updateSignInExperience', { signUpEnabled: false });
  await setUp(scope, 'updateSignInExperience', { signUpEnabled: true });
  const id = await make.role({ isDefault: true });
  await attack.empower(id);
  const register: Steps = (send) => step(send, 'register', { username: next('new'), password });
  expect(await rightsBy(register)).toEqual(upTo(scope));
  // Opening it again is how somebody who may do everything answers for it.
  await done('updateSignInExperience', { signUpEnabled: null });
  expect(await rightsBy(register)).toEqual(upTo('all'));
  await done('deleteRole', { id });
});

test('every later field of how people sign in is attacked', () => {
  expect(attack.missing(laterOperations.settings)).toEqual([]);
});
