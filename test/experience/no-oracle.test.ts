import { expect, test } from 'vitest';
import { hashPassword } from '../../src/users/password.ts';
import { seedDirectory } from '../support/operations/directory.ts';
import { type Send, startHeadless, step } from '../support/people/experience.ts';
import { redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const { app, clock, executed } = await startService({}, { isObserved: true });

const { prisma } = app.services.database;
const directory = seedDirectory(app.services.database, clock);
const client = await directory.createClient({
  type: 'TRADITIONAL',
  redirectUris: [redirectUri],
  allowHeadlessSignIn: true,
});
await prisma.signInExperience.create({
  data: {
    id: 'settings',
    settings: { signUpIdentifiers: ['USERNAME', 'EMAIL'] },
    updatedAt: clock.now(),
  },
});
const passwordDigest = await hashPassword(app.services, 'correct horse battery staple');
const account = { passwordDigest, passwordAlgorithm: 'Argon2id' };
await directory.createUser({
  username: 'someone',
  primaryEmail: 'someone@example.com',
  ...account,
});
await directory.createUser({
  username: 'suspended',
  primaryEmail: 'suspended@example.com',
  isSuspended: true,
  ...account,
});
await directory.createUser({ username: 'no-secret', primaryEmail: 'no-secret@example.com' });

/** What a step does to the tables: what the service does beside it by the clock is left out. */
const byAPerson = (statement: string) =>
  /"(User|Interaction|Verification|VerificationCode|AttemptCount|SendingCount|AddressCount)"/.test(
    statement,
  ) || /INSERT INTO [^ ]*"Message"/.test(statement);

type Take = (send: Send, name: string) => Promise<object>;

async function wrongCode(send: Send, email: string) {
  const { verification } = await step(send, 'sendCode', { purpose: 'SIGN_IN', email });
  return step(send, 'verifyCode', { verificationId: verification.id, code: 'wrong' });
}
const sendCode =
  (purpose: string): Take =>
  (send, name) =>
    step(send, 'sendCode', { purpose, email: `${name}@example.com` });

test.each<[string, Take]>([
  [
    'a wrong password',
    (send, name) => step(send, 'signInWithPassword', { identifier: name, password: 'wrong' }),
  ],
  ['a code to sign in with', sendCode('SIGN_IN')],
  ['a code to recover with', sendCode('RESET_PASSWORD')],
  ['a code to register with', sendCode('REGISTER')],
  ['a wrong code', (send, name) => wrongCode(send, `${name}@example.com`)],
  [
    'a wrong one-time token',
    (send, name) =>
      step(send, 'redeemOneTimeToken', { email: `${name}@example.com`, token: 'wrong' }),
  ],
])('%s: same answer, statements and messages, whoever is there', async (_case, take) => {
  const seen = [];
  for (const name of ['someone', 'nobody1', 'suspended', 'no-secret', 'nobody2']) {
    const { send } = await startHeadless({ url: app.url }, { clientId: client.id, redirectUri });
    const [before, messages] = [executed.length, await prisma.message.count()];
    const answer = JSON.stringify(await take(send, name));
    seen.push({
      answer: answer
        .replaceAll(name, 'name')
        .replaceAll(/(interaction|verification)_\w+|[a-z]•••|\d{4}-\d\d-\d\dT[^"]*/g, ''),
      statements: executed.slice(before).filter(byAPerson),
      messages: (await prisma.message.count()) - messages,
    });
  }
  const [first, ...others] = seen;
  expect(first?.statements.length).toBeGreaterThan(2);
  for (const other of others) expect(other).toEqual(first);
});
