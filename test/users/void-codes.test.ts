import { beforeEach, expect, test } from 'vitest';
import { newId } from '../../src/ids.ts';
import { digestOf } from '../../src/keys/digest.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { type Headless, startHeadless, step } from '../support/people/experience.ts';
import { manager } from '../support/people/federation.ts';
import { codeTo } from '../support/people/messages.ts';
import { password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { changeSettings } from '../support/people/sign-in-settings.ts';
import { startSecondNode, startService } from '../support/service.ts';

const service = await startService();
const { clock } = service;
const second = await startSecondNode(service);
const fixture = await createAccountFixture(service);
const { prisma } = fixture.database;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const newPassword = 'a long way home, twice';
await changeSettings(service, await service.managementToken(), {
  signUpIdentifiers: ['USERNAME', 'EMAIL'],
});

// The limits of an address count by the minute.
beforeEach(() => clock.advance(61_000));

const begin = (at: { readonly url: string } = service) =>
  startHeadless(at, { clientId: client.id, redirectUri });

let count = 0;
async function createPerson() {
  count += 1;
  const primaryEmail = `Careful${count}@example.com`;
  const { id, username } = await fixture.createUser({ primaryEmail });
  return { id, username: username ?? '', primaryEmail, email: primaryEmail.toLowerCase() };
}
type Person = Awaited<ReturnType<typeof createPerson>>;

async function sent({ send }: Headless, purpose: string, email: string) {
  const { verification } = await step(send, 'sendCode', { purpose, email });
  return { verificationId: String(verification.id), code: await codeTo(service, email) };
}

async function recovered(person: Person, at?: { readonly url: string }): Promise<Headless> {
  const headless = await begin(at);
  const shown = await step(
    headless.send,
    'verifyCode',
    await sent(headless, 'RESET_PASSWORD', person.email),
  );
  expect(shown).toMatchObject({
    interaction: { nextSteps: ['SET_PASSWORD', 'IDENTIFY', 'VERIFY_PASSWORD', 'REGISTER'] },
  });
  return headless;
}

const failed = { code: 'VERIFICATION_FAILED' };

/** Every way to a new password of somebody who exists. */
const ways: [string, (person: Person) => Promise<unknown>][] = [
  [
    'the person at the account',
    async ({ username }) => {
      const me = await fixture.signInTo(username);
      await me.run('verifyViewerPassword', { password });
      return me.run('updateViewerPassword', { password: newPassword });
    },
  ],
  [
    'a recovery, at another node',
    async (person) => {
      const { send } = await recovered(person, second);
      const set = await step(send, 'resetPassword', { password: newPassword });
      expect(await step(send, 'submitInteraction')).toHaveProperty('redirectTo');
      return set;
    },
  ],
  [
    'an administrator',
    async ({ id }) =>
      (await manager(service)).done('updateUserPassword', { id, password: newPassword }),
  ],
];

test.each(ways)('a new password by %s voids what was sent before', async (_name, change) => {
  const person = await createPerson();
  const { email } = person;
  const signingIn = await begin();
  const signIn = await sent(signingIn, 'SIGN_IN', email.replace('careful', 'CAREFUL'));
  const resetting = await begin(second);
  const reset = await sent(resetting, 'RESET_PASSWORD', email);
  const shown = await recovered(person);
  const elsewhere = await fixture.signInTo(person.username);
  await elsewhere.run('sendViewerCode', { email: person.primaryEmail });
  await elsewhere.run('sendViewerCode', { email: `new-${email}` });
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + 600_000);
  const token = `ott_${email}`;
  await prisma.oneTimeToken.create({
    data: { id: newId('OneTimeToken'), email, digest: digestOf(token), createdAt, expiresAt },
  });
  // By a node of the version before.
  await prisma.viewerCode.create({
    data: {
      id: newId('Verification'),
      userId: person.id,
      session: 'elsewhere',
      type: 'EMAIL',
      recipient: `new-${email}`,
      createdAt,
      expiresAt,
    },
  });
  const bystander = await createPerson();
  const others = await begin();
  const theirs = await sent(others, 'SIGN_IN', bystander.email);
  // What registered with the address before it was this person's.
  const registering = await begin();
  const interactionId = String(registering.started['interaction'].id);
  await prisma.verification.create({
    data: {
      id: newId('Verification'),
      interactionId,
      purpose: 'REGISTER',
      type: 'EMAIL',
      recipient: email,
      verifiedAt: createdAt,
      createdAt,
      expiresAt,
    },
  });

  expect(await change(person)).not.toHaveProperty('code');

  const recipient = { equals: email, mode: 'insensitive' as const };
  expect(await prisma.verification.count({ where: { recipient } })).toBe(0);
  expect(await prisma.verification.count({ where: { userId: person.id } })).toBe(0);
  expect(await prisma.viewerCode.count({ where: { userId: person.id } })).toBe(0);
  expect(await step(signingIn.send, 'verifyCode', signIn)).toMatchObject(failed);
  expect(await step(resetting.send, 'verifyCode', reset)).toMatchObject(failed);
  expect(await step(shown.send, 'resetPassword', { password: 'of the thief' })).toMatchObject({
    code: 'NOT_ALLOWED',
  });
  const late = await begin();
  const redeemed = await step(late.send, 'redeemOneTimeToken', { email, token });
  expect(redeemed).toMatchObject(failed);

  // Those of others, and what is sent now.
  expect(await step(others.send, 'verifyCode', theirs)).toMatchObject({
    interaction: { nextSteps: expect.arrayContaining(['SUBMIT']) },
  });
  clock.advance(1_000);
  const again = await begin();
  const fresh = await sent(again, 'SIGN_IN', email);
  expect(await step(again.send, 'verifyCode', fresh)).toHaveProperty('interaction');
});

test('of five recoveries at once on two nodes, one sets the password', async () => {
  const person = await createPerson();
  const all: Headless[] = [];
  for (const at of [service, second, service, second, service])
    all.push(await recovered(person, at));
  const answers = await Promise.all(
    all.map(({ send }, i) => step(send, 'resetPassword', { password: `${newPassword} ${i}` })),
  );
  const set = answers.filter(({ __typename }) => __typename === 'ResetPasswordPayload');
  expect(set).toHaveLength(1);
  for (const { code } of answers.filter((one) => !set.includes(one)))
    expect(['VERIFICATION_FAILED', 'NOT_ALLOWED']).toContain(code);
  const winner = answers.findIndex((one) => set.includes(one));
  const { send } = await begin();
  const shown = { identifier: person.username, password: `${newPassword} ${winner}` };
  expect(await step(send, 'signInWithPassword', shown)).toHaveProperty('interaction');
});

test('a code at the same moment signs nobody in past a new password', async () => {
  for (let round = 0; round < 3; round += 1) {
    const person = await createPerson();
    const me = await fixture.signInTo(person.username);
    await me.run('verifyViewerPassword', { password });
    const thieves = await Promise.all([service, second, service].map(begin));
    const codes: Awaited<ReturnType<typeof sent>>[] = [];
    for (const thief of thieves) codes.push(await sent(thief, 'SIGN_IN', person.email));
    await Promise.all([
      me.run('updateViewerPassword', { password: newPassword }),
      ...thieves.map(({ send }, i) => step(send, 'verifyCode', codes[i] ?? {})),
    ]);
    for (const { send } of thieves)
      expect(await step(send, 'submitInteraction')).not.toHaveProperty('redirectTo');
  }
});

test('logs no fault', () => {
  expect(service.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
