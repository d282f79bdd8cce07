import { expect, onTestFinished, test } from 'vitest';
import {
  createImportedChecks,
  importedChecks,
  maxWaitingImportedChecks,
} from '../../src/users/import/imported-checks.ts';
import { hashPassword, verifyPassword } from '../../src/users/password.ts';
import { send } from '../support/operations/graphql.ts';
import { startHeadless } from '../support/people/experience.ts';
import { createSignInFixture, password, redirectUri } from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';

const bcrypt = (cost: string) =>
  `$2b$${cost}$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe`;

test('what fails does the work of the costliest imported digest, whatever there is', async () => {
  const done: unknown[] = [];
  const checks = createImportedChecks({
    verify: async (digest, typed) => {
      done.push(digest);
      return typed === 'right';
    },
    pause: async () => done.push('pause'),
  });
  const work = async (digest: string | null, spellings: readonly string[]) => {
    done.length = 0;
    const isRight = await checks.check(digest, spellings, bcrypt('12'));
    return [isRight, ...done];
  };
  expect(await work(bcrypt('10'), ['wrong'])).toEqual([
    false,
    // To learn how long it takes.
    bcrypt('12'),
    bcrypt('10'),
    'pause',
  ]);
  expect(await work(bcrypt('10'), ['wrong'])).toEqual([false, bcrypt('10'), 'pause']);
  expect(await work(bcrypt('10'), ['right'])).toEqual([true, bcrypt('10')]);
  expect(await work(bcrypt('12'), ['wrong'])).toEqual([false, bcrypt('12')]);
  // Nobody's digest fits nobody, even if the password is that of the other.
  expect(await work(null, ['right'])).toEqual([false, bcrypt('12')]);
  expect(await work(null, ['wrong', 'spelled'])).toEqual([false, bcrypt('12'), bcrypt('12')]);
});

const service = await startService();
const fixture = await createSignInFixture(service);
const { prisma } = fixture.database;
const headless = await fixture.createApplication({ allowHeadlessSignIn: true });
await fixture.createUser({
  username: 'no_password',
  passwordDigest: null,
  passwordAlgorithm: null,
});

const digests = [
  ['Bcrypt', '$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe'],
  ['SHA1', 'abf7aad6438836dbe526aa231abde2d0eef74d42'],
];

async function importDigests(): Promise<void> {
  const users = digests.map(([passwordAlgorithm, passwordDigest]) => ({
    username: `of_${passwordAlgorithm}`,
    passwordAlgorithm,
    passwordDigest,
  }));
  const { data } = await send<{ importUsers: { failures: object[] } }, object>(
    { url: service.url, token: await service.managementToken('users:write') },
    `mutation ($users: [ImportedUserInput!]!) { importUsers(input: { users: $users }) {
       ... on ImportUsersPayload { failures { index } } } }`,
    { users },
  );
  expect(data?.importUsers.failures).toEqual([]);
}
await importDigests();

/** What a guess comes to: the member of the result, or the code of an error. */
async function guess(identifier: string, typed: string): Promise<string> {
  const { send: sendStep } = await startHeadless(service, { clientId: headless.id, redirectUri });
  const { body } = await sendStep(
    'mutation ($input: SignInWithPasswordInput!) { signInWithPassword(input: $input) { __typename } }',
    { input: { identifier, password: typed } },
  );
  return (
    body.data?.['signInWithPassword']?.__typename ?? String(body.errors?.[0]?.extensions['code'])
  );
}

const hasRoom = () => {
  try {
    importedChecks.queue.assertRoom();
    return true;
  } catch {
    return false;
  }
};

/** Takes all places in the queue of imported digests but some, until the test ends. */
function fill(left = 0): () => Promise<void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const waiting = Array.from({ length: 1 + maxWaitingImportedChecks - left }, () =>
    importedChecks.queue.run(() => released),
  );
  const end = async () => {
    release();
    await Promise.all(waiting);
  };
  onTestFinished(end);
  return end;
}

const failing = ['Ada', 'nobody', 'no_password', 'of_Bcrypt', 'of_SHA1'];

test('the queue of imported digests holds up nobody whose digest is ours', async () => {
  fill();
  expect(await guess('Ada', password)).toBe('SignInWithPasswordPayload');
});

test('beyond that queue, all that would fail is answered the same, and counts', async () => {
  fill();
  for (const identifier of failing) expect(await guess(identifier, 'wrong')).toBe('RATE_LIMITED');
  expect(await guess('of_Bcrypt', 'a')).toBe('RATE_LIMITED');
  const counts = await prisma.attemptCount.findMany({ select: { count: true } });
  expect(counts.map(({ count }) => count).sort()).toEqual([1, 1, 1, 1, 2]);
});

test.each(failing)('a wrong password of %s takes one place in it', async (identifier) => {
  const release = fill(1);
  expect(hasRoom()).toBe(true);
  const answer = guess(identifier, 'wrong');
  await expect.poll(hasRoom).toBe(false);
  await release();
  expect(await answer).toBe('VerificationFailedError');
  await expect.poll(hasRoom).toBe(true);
});

test('when the last imported digest is gone, nobody waits any more', async () => {
  expect(await prisma.user.count({ where: { passwordCost: { not: null } } })).toBe(2);
  expect(await guess('of_Bcrypt', 'a')).toBe('SignInWithPasswordPayload');
  expect(await guess('of_SHA1', password)).toBe('SignInWithPasswordPayload');
  expect(await prisma.user.count({ where: { passwordCost: { not: null } } })).toBe(0);
  fill();
  for (const identifier of failing)
    expect(await guess(identifier, 'wrong')).toBe('VerificationFailedError');
});

test('a new password ends the cost of an imported one', async () => {
  const user = await fixture.createUser({
    passwordDigest: digests[0]?.[1] as string,
    passwordAlgorithm: 'Bcrypt',
    passwordCost: 4,
  });
  await send(
    { url: service.url, token: await service.managementToken('users:write') },
    `mutation { updateUserPassword(input: { id: "${user.id}", password: "correct horse" }) { __typename } }`,
  );
  expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
    passwordAlgorithm: 'Argon2id',
    passwordCost: null,
  });
});

test('a password is right in every Unicode composition', async () => {
  const [composed, decomposed] = ['zw\u00f6lf Boxk\u00e4mpfer', 'zwo\u0308lf Boxka\u0308mpfer'];
  const { services } = service.app;
  const made = [await hashPassword(services, composed), await hashPassword(services, decomposed)];
  for (const digest of made) {
    expect(await verifyPassword(services, digest, composed)).toBe('right');
    expect(await verifyPassword(services, digest, decomposed)).toBe('right');
    expect(await verifyPassword(services, digest, 'zwolf Boxkampfer')).toBe('wrong');
  }
});
