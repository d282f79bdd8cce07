import { expect, onTestFinished, test } from 'vitest';
import { purgeProofs } from '../../src/account/purge.ts';
import { quietTransaction } from '../../src/db/transaction.ts';
import { newId } from '../../src/ids.ts';
import { createAccountFixture } from '../support/people/account.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { codeTo } from '../support/people/messages.ts';
import { password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { clock } = service;
const fixture = await createAccountFixture(service);
const { prisma } = fixture.database;
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const { username, ...person } = await fixture.createUser({ primaryEmail: 'own@example.com' });
const email = person.primaryEmail ?? '';

const begin = async () => (await startHeadless(service, { clientId: client.id, redirectUri })).send;
const signIn = () => fixture.signInTo(username ?? '');

async function sentAtAccount(me: Awaited<ReturnType<typeof signIn>>) {
  const { verification } = await me.run('sendViewerCode', { email });
  return { verificationId: String(verification.id), code: await codeTo(service, email) };
}

async function sentIn(send: Awaited<ReturnType<typeof begin>>, purpose: string) {
  const { verification } = await step(send, 'sendCode', { purpose, email });
  return { verificationId: String(verification.id), code: await codeTo(service, email) };
}

const failed = { __typename: 'VerificationFailedError' };

test('a code counts only where it was sent', async () => {
  const [me, other] = [await signIn(), await signIn()];
  const [send, elsewhere] = [await begin(), await begin()];
  const [mine, theirs] = [await sentAtAccount(me), await sentIn(send, 'SIGN_IN')];
  expect(await step(send, 'verifyCode', mine)).toMatchObject(failed);
  expect(await other.run('verifyViewerCode', mine)).toMatchObject(failed);
  expect(await me.run('verifyViewerCode', theirs)).toMatchObject(failed);
  expect(await step(elsewhere, 'verifyCode', theirs)).toMatchObject(failed);

  expect(await me.run('verifyViewerCode', mine)).toHaveProperty('verifiedUntil');
  expect(await step(send, 'verifyCode', theirs)).toHaveProperty('interaction');
  const { verificationId } = theirs;
  expect(await me.run('updateViewerEmail', { verificationId })).toMatchObject(failed);
});

test('a code that may not prove for a person gives them no address', async () => {
  const holder = await fixture.createUser({ primaryEmail: 'holder@example.com' });
  const me = await fixture.signInTo(holder.username ?? '');
  await me.run('verifyViewerPassword', { password });
  const { verification } = await me.run('sendViewerCode', { email: 'new@example.com' });
  const verificationId = String(verification.id);
  const code = await codeTo(service, 'new@example.com');
  const { id: roleId } = await prisma.role.findFirstOrThrow({ where: { name: 'Administrator' } });
  await prisma.userRole.create({ data: { userId: holder.id, roleId, setterScopes: ['all'] } });
  // Whoever set it held less than this person, and could read the code.
  const now = clock.now();
  const sender = { channel: 'EMAIL' as const, kind: 'HTTP' as const, settings: {} };
  await prisma.messageSender.create({
    data: { ...sender, setterScopes: [], createdAt: now, updatedAt: now },
  });
  onTestFinished(async () => {
    await prisma.messageSender.deleteMany();
  });

  expect(await me.run('verifyViewerCode', { verificationId, code })).toMatchObject(failed);
  expect(await me.run('updateViewerEmail', { verificationId })).toMatchObject(failed);
});

test('two purposes in one interaction have codes of their own', async () => {
  const send = await begin();
  const recovery = await sentIn(send, 'RESET_PASSWORD');
  const signingIn = await sentIn(send, 'SIGN_IN');
  expect(signingIn.verificationId).not.toBe(recovery.verificationId);
  const { verificationId } = signingIn;
  expect(await step(send, 'verifyCode', { ...recovery, verificationId })).toMatchObject(failed);
  expect(await step(send, 'verifyCode', signingIn)).toHaveProperty('interaction');
});

test('a verification has one owner', async () => {
  const send = await begin();
  const { verificationId: id } = await sentIn(send, 'SIGN_IN');
  const { interactionId } = await prisma.verification.findUniqueOrThrow({ where: { id } });
  const session = { userId: person.id, session: 'session' };
  const row = { type: 'EMAIL' as const, recipient: email, createdAt: clock.now() };
  for (const owner of [
    {},
    session,
    { interactionId },
    { purpose: 'SIGN_IN' as const },
    { interactionId, purpose: 'SIGN_IN' as const },
    { interactionId, purpose: 'SIGN_IN' as const, ...session },
    { ...session, purpose: 'SIGN_IN' as const },
    { userId: person.id },
    { session: 'session' },
  ]) {
    const data = { id: newId('Verification'), ...row, ...owner, expiresAt: clock.now() };
    const names = Object.keys(owner).sort().join();
    const isWhole = ['interactionId,purpose', 'session,userId'].includes(names);
    const created = prisma.verification.create({ data });
    if (isWhole) await created;
    else await expect(created, names).rejects.toThrow();
  }
});

test('those of sessions are purged, those of interactions go with these', async () => {
  const me = await signIn();
  const [mine, theirs] = [await sentAtAccount(me), await sentIn(await begin(), 'SIGN_IN')];
  const expiresAt = new Date(0);
  const ids = [mine.verificationId, theirs.verificationId];
  await prisma.verification.updateMany({ where: { id: { in: ids } }, data: { expiresAt } });
  const purge = purgeProofs(service.app.services);
  while (await quietTransaction(service.app.services.database, purge));
  const left = await prisma.verification.findMany({ where: { id: { in: ids } } });
  expect(left.map(({ id }) => id)).toEqual([theirs.verificationId]);
});
