import { beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { digestOf } from '../../src/keys/digest.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { codeTo } from '../support/people/messages.ts';
import { headingOf } from '../support/people/pages/ways-on.ts';
import { openSignInPage, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { clock } = service;
const fixture = await createAccountFixture(service);
const { prisma } = fixture.database;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const newPassword = 'a long way home, twice';
const change = async (input: object) =>
  changeSettings(service, await service.managementToken(), input);

// The limits of an address count by the minute.
beforeEach(async () => {
  clock.advance(61_000);
  await change({ signUpIdentifiers: ['EMAIL', 'USERNAME'] });
});

const ttlMs = 600_000;
let count = 0;
const newAddress = () => {
  count += 1;
  return `late${count}@example.com`;
};

/** A headless sign-in with a verified code of this purpose. */
async function verified(purpose: string, email: string) {
  const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
  const { verification } = await step(send, 'sendCode', { purpose, email });
  const code = await codeTo(service, email);
  const verificationId = String(verification.id);
  const answer = await step(send, 'verifyCode', { verificationId, code });
  return { send, verificationId, answer };
}

describe.each([
  ['while the code is good', ttlMs - 60_000, true],
  ['once it has expired', ttlMs, false],
])('what a code has shown, %s', (_name, afterMs, isGood) => {
  test('resets a password, or does not', async () => {
    const email = newAddress();
    await fixture.createUser({ primaryEmail: email });
    const { send } = await verified('RESET_PASSWORD', email);
    clock.advance(afterMs);
    expect(await step(send, 'resetPassword', { password: newPassword })).toMatchObject(
      isGood ? { interaction: { nextSteps: ['SUBMIT'] } } : { code: 'NOT_ALLOWED' },
    );
    expect(await prisma.event.count({ where: { type: 'PostResetPassword' } })).toBe(isGood ? 1 : 0);
    await prisma.event.deleteMany({ where: { type: 'PostResetPassword' } });
  });

  test('registers, or does not', async () => {
    const email = newAddress();
    const { send, verificationId, answer } = await verified('REGISTER', email);
    expect(answer).toMatchObject({ interaction: { missing: [] } });
    clock.advance(afterMs);
    const input = { password: newPassword, verificationIds: [verificationId] };
    expect(await step(send, 'register', input)).toMatchObject(
      isGood ? { interaction: { nextSteps: ['SUBMIT'] } } : { code: 'VERIFICATION_FAILED' },
    );
    expect(await prisma.user.count({ where: { primaryEmail: email } })).toBe(isGood ? 1 : 0);
  });

  test('registers after a one-time token, or does not', async () => {
    const email = newAddress();
    const createdAt = clock.now();
    const expiresAt = new Date(createdAt.getTime() + ttlMs);
    await prisma.oneTimeToken.create({
      data: { id: newId('OneTimeToken'), email, digest: digestOf(email), createdAt, expiresAt },
    });
    const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
    await step(send, 'redeemOneTimeToken', { email, token: email });
    clock.advance(afterMs);
    await step(send, 'register', { password: newPassword });
    expect(await prisma.user.count({ where: { primaryEmail: email } })).toBe(isGood ? 1 : 0);
  });

  test('changes an address, or does not', async () => {
    const { id, username } = await fixture.createUser({});
    const me = await fixture.signInTo(username ?? '');
    const email = newAddress();
    const { verification } = await me.run('sendViewerCode', { email });
    const verificationId = String(verification.id);
    const code = await codeTo(service, email);
    await me.run('verifyViewerCode', { verificationId, code });
    clock.advance(afterMs);
    await me.run('verifyViewerPassword', { password });
    expect((await me.run('updateViewerEmail', { verificationId })).__typename).toBe(
      isGood ? 'UpdateViewerEmailPayload' : 'VerificationFailedError',
    );
    const { primaryEmail } = await prisma.user.findUniqueOrThrow({ where: { id } });
    expect(primaryEmail).toBe(isGood ? email : null);
  });
});

test('an earlier code of a verification does not live as long as the last one', async () => {
  const email = newAddress();
  await fixture.createUser({ primaryEmail: email });
  const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
  const request = { purpose: 'RESET_PASSWORD', email };
  const { verification } = await step(send, 'sendCode', request);
  const code = await codeTo(service, email);
  clock.advance(ttlMs - 60_000);
  await step(send, 'sendCode', request);
  await step(send, 'verifyCode', { verificationId: verification.id, code });
  clock.advance(60_000);
  expect(await step(send, 'resetPassword', { password: newPassword })).toMatchObject({
    code: 'NOT_ALLOWED',
  });
});

describe('a page that was left open until the code expired', () => {
  const begin = async (path: string, email: string) => {
    const { browser, visit } = await openSignInPage(service, fixture.client);
    const asking = await browser.open(`${visit.url.href}${path}`);
    const entering = await browser.submit(asking, { email });
    const page = await browser.submit(entering, { code: await codeTo(service, email) });
    clock.advance(ttlMs);
    return { browser, page };
  };

  test('of the new password leads to another code', async () => {
    const email = newAddress();
    await fixture.createUser({ primaryEmail: email });
    const { browser, page } = await begin('/forgot-password', email);
    const sent = await browser.submit(page, { password: newPassword });
    expect([sent.status, headingOf(sent)]).toEqual([422, 'Reset your password']);
    const again = await browser.submit(sent, { email });
    const shown = await browser.submit(again, { code: await codeTo(service, email) });
    expect((await browser.submit(shown, { password: newPassword })).url.search).toContain('code=');
  });

  test.each([
    ['required', ['EMAIL', 'USERNAME']],
    ['optional', ['USERNAME', 'EMAIL']],
  ])('of a sign-up asks for a code again, the address being %s', async (_name, order) => {
    await change({ signUpIdentifiers: order });
    const email = newAddress();
    const { browser, page } = await begin('/register', email);
    const username = `late_${count}`;
    const sent = await browser.submit(page, { username, password: newPassword });
    expect(sent.status).toBe(422);
    expect(await prisma.user.count({ where: { username } })).toBe(0);
    const again = await browser.submit(sent, { email });
    const shown = await browser.submit(again, { code: await codeTo(service, email) });
    const done = await browser.submit(shown, { username, password: newPassword });
    expect(done.url.search).toContain('code=');
    expect(await prisma.user.count({ where: { username, primaryEmail: email } })).toBe(1);
  });
});
