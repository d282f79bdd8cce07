import { hashSync, type Version } from '@node-rs/argon2';
import { describe, expect, test } from 'vitest';
import {
  readImportedDigest,
  verifyImportedPassword,
} from '../../src/users/import/imported-password.ts';
import { rehashPassword, standardPasswordCost } from '../../src/users/password.ts';
import { withoutRefusals } from '../support/events.ts';
import { send } from '../support/operations/graphql.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { signIn } from '../support/people/sign-in.ts';
import {
  createSignInFixture,
  openSignInPage,
  redirectUri,
} from '../support/people/sign-in-fixture.ts';
import { startService } from '../support/service.ts';
import { exchange } from '../support/tokens.ts';

const service = await startService({}, { passwordCost: standardPasswordCost });
const { prisma } = service.app.services.database;

const fixture = await createSignInFixture(service);
const headless = await fixture.createApplication({ allowHeadlessSignIn: true });

/** Whom a user name and a password sign in. */
const signInAs = async (identifier: string, password: string) => {
  const { send: sendStep } = await startHeadless(service, { clientId: headless.id, redirectUri });
  const { interaction } = await step(sendStep, 'signInWithPassword', { identifier, password });
  if (!interaction) return null;
  return (await prisma.interaction.findUniqueOrThrow({ where: { id: interaction.id } })).userId;
};
const token = await service.managementToken('users:write');

interface Imported {
  readonly users: readonly { readonly id: string; readonly username: string | null }[];
  readonly failures: readonly {
    readonly index: number;
    readonly code: string;
    readonly message: string;
  }[];
}

async function importUsers(users: readonly object[]) {
  const { data, errors } = await send<{ importUsers: { __typename: string } & Imported }, object>(
    { url: service.url, token },
    `mutation ($users: [ImportedUserInput!]!) { importUsers(input: { users: $users }) {
      __typename
      ... on ImportUsersPayload { users { id username hasPassword } failures { index code message } }
      ... on InvalidInputError { issues { path } } } }`,
    { users },
  );
  if (errors || !data) throw new Error(JSON.stringify(errors));
  return data.importUsers;
}

const argon2Options = { memoryCost: 256, timeCost: 1, parallelism: 1 };
const phrase = 'correct horse battery staple';
const firebase = [
  '$firescrypt$ln=14,r=8,p=1$42xEC+ixf3L2lw==',
  'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
  'Bw==',
  'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
].join('$');
const wordPress = '$wp$2y$06$m0CrhHm10qJ3lXRY.5zDGO0tQnQ9qpPh3ma/yA1KthHLb5CkCQLP2';
// Made with Python's hashlib, hmac and crypt, but for those of Argon2 (the reference implementation's tests), bcrypt
// (jBCrypt's), PBKDF2-SHA256 (passlib's documentation), ASP.NET Core (its tests) and Firebase (the README of its
// scrypt).
const digests: [algorithm: string, digest: string, password: string][] = [
  [
    'Argon2i',
    '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8',
    'password',
  ],
  [
    'Argon2id',
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    'password',
  ],
  ['Bcrypt', '$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe', 'a'],
  ['Bcrypt', '$2y$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe', 'a'],
  ['Bcrypt', wordPress, phrase],
  ['Bcrypt', wordPress, `\t ${phrase}\n\0`],
  ['Bcrypt', 'bcrypt_sha256$$2b$06$m0CrhHm10qJ3lXRY.5zDGOXNQ.mfpwLlwNiAZcglFMQ/X6lrUbimC', phrase],
  ['Bcrypt', 'bcrypt$$2b$06$m0CrhHm10qJ3lXRY.5zDGOQTu.CUoSryz6UnVs2CtTVR2.OAGkpNa', phrase],
  [
    'Argon2id',
    'argon2$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    'password',
  ],
  ['PBKDF2', 'AQAAAAIAAAAyAAAAEOMwvh3+FZxqkdMBz2ekgGhwQ4B6pZWND6zgESBuWiHw', 'my password'],
  ['PBKDF2', 'AQAAAAAAAAD6AAAAEAhftMyfTJylOlZT+eEotFXd1elee8ih5WsjXaR3PA9M', 'my password'],
  ['Scrypt', firebase, 'user1password'],
  ['Scrypt', firebase.replaceAll('+', '-').replaceAll('/', '_'), 'user1password'],
  [
    'PBKDF2',
    '$pbkdf2-sha256$29000$N2YMIWQsBWBMae09x1jrPQ$1t8iyB2A.WF/Z5JZv.lfCIhXXN33N23OSgQYThBYRfk',
    'toomanysecrets',
  ],
  [
    'PBKDF2',
    '$pbkdf2-sha512$i=10000$MDEyMzQ1Njc4OWFiY2RlZg$65k18lcTeFdukscQY3D3rRdwY5aW4wdAVnY52d5rJSdq3bBmC871USjyB75nPDYhNt2RBZGJYOqmA3AxJjx2Gg',
    phrase,
  ],
  ['PBKDF2', '$pbkdf2$20000$MDEyMzQ1Njc4OWFiY2RlZg$bGA8dYbWVrVXsKOE00I1ClfNGpo', phrase],
  [
    'PBKDF2',
    'pbkdf2_sha256$30000$0123456789abcdef$FpJgn3choeFxT5c1DujOl5S2Dx9L/a8Fjd1HvwF+ink=',
    phrase,
  ],
  [
    'Scrypt',
    '$scrypt$ln=14,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$tjK03tRvEjqCcPwmgtddMkgjlXrk8U/b9rIvfeBMKCc',
    phrase,
  ],
  ['MD5', '{SMD5}pvS7kRBgPi3Xq0xyanGD3jAxMjM0NTY3ODlhYmNkZWY=', phrase],
  ['MD5', 'md5$0123456789abcdef$2aaa1f63bc2d3f5d98e4eb5dcedd6f74', phrase],
  ['MD5', '9cc2ae8a1ba7a93da39b46fc1019c481', phrase],
  ['SHA1', '{SSHA}mkaOTPuM2ZkdM60L+1fasPpqPI4wMTIzNDU2Nzg5YWJjZGVm', phrase],
  ['SHA1', 'sha1$0123456789abcdef$a1edf0ede2c71feec2f23dfa0cfad8d7ce541231', phrase],
  ['SHA1', 'abf7aad6438836dbe526aa231abde2d0eef74d42', phrase],
  ['SHA256', '{SSHA256}wImdw1oXfw0CjcZkz9j0Sj8gcX3hJL/IvOXjbHgPspswMTIzNDU2Nzg5YWJjZGVm', phrase],
  [
    'SHA-256',
    'sha256$0123456789abcdef$a82a3210f69c0ac67e8a254d6e6c7d27c042352a0b14534d400553d9bfe0bcb3',
    phrase,
  ],
  ['SHA256', 'C4BBCB1FBEC99D65BF59D85C8CB62EE2DB963F0FE106F483D9AFA73BD4E39A8A', phrase],
  [
    'SHA512',
    '{SSHA512}pPbE/LK1Lwx8IRz/O6PIKtMRGmlRjkit5hO3fscb6dJf0fuft5Tf48PHF1NXZ1RoSWxNeuLUtwe+eLtC6pNijTAxMjM0NTY3ODlhYmNkZWY=',
    phrase,
  ],
  [
    'SHA512',
    'sha512$0123456789abcdef$0941db3600458053020108a025beb94669e5adc30abaec46fa976d890c07fd9a2fdbf6444d47c87edb5cca1a29cd09261291abb260e885ae841a26c36d8d353f',
    phrase,
  ],
  [
    'SHA512',
    'be5ef7679d88ab9a9045f6267e55f5e5784b4b8cd764b5cd855a5244f91c626953cd46c43d7668873fd6efbd3b221249315580031963472a078781fe046e62ae',
    phrase,
  ],
];

test.each(digests)(
  'a password of %s, %s, is imported and signs in',
  async (passwordAlgorithm, passwordDigest, password) => {
    const username = `digest_${(await prisma.user.count()) + 1}`;
    const { users, failures } = await importUsers([
      { username, passwordDigest, passwordAlgorithm },
    ]);
    expect(failures).toEqual([]);
    const id = users[0]?.id as string;
    const stored = async () => prisma.user.findUniqueOrThrow({ where: { id } });
    const imported = await stored();

    expect(await signInAs(username, `${password}!`)).toBeNull();
    expect(await stored()).toEqual(imported);
    const events = await prisma.event.count({ where: withoutRefusals });
    expect(await signInAs(username, password)).toBe(id);

    const rehashed = await stored();
    expect(rehashed).toEqual({
      ...imported,
      passwordDigest: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/),
      passwordAlgorithm: 'Argon2id',
      passwordCost: null,
    });
    expect(await prisma.event.count({ where: withoutRefusals })).toBe(events);
    expect(await signInAs(username, password)).toBe(id);
    expect(await signInAs(username, `${password}!`)).toBeNull();
    expect(await stored()).toEqual(rehashed);
  },
);

test('a re-hash at the sign-in page ends no session', async () => {
  await importUsers([
    {
      username: 'migrated',
      passwordAlgorithm: 'bcrypt',
      passwordDigest: '$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe',
    },
  ]);
  const request = {
    client: fixture.client,
    redirectUri,
    username: 'migrated',
    password: 'a',
    resource: fixture.resource.indicator,
  };
  const first = await signIn(service, request);
  await signIn(service, request);
  const backend = await fixture.directory.createClient({ allowTokenExchange: true });
  const answer = await exchange(service, backend, {
    subject_token: first.access_token,
    resource: fixture.resource.indicator,
  });
  expect(answer.status).toBe(200);
});

test('a password changed while it was being re-hashed stays changed', async () => {
  const user = await fixture.createUser({ passwordDigest: 'sha1$x$00' });
  await prisma.user.update({ where: { id: user.id }, data: { passwordDigest: 'another' } });
  await rehashPassword(service.app.services, { id: user.id, passwordDigest: 'sha1$x$00' }, 'old');
  expect(await prisma.user.findUnique({ where: { id: user.id } })).toMatchObject({
    passwordDigest: 'another',
  });
});

test.each([
  ['padding', (digest: string) => `${digest}=`],
  ['bits that say nothing', (digest: string) => digest.replace('c29tZXNhbHQ', 'c29tZXNhbHR')],
  ['zeros before its numbers', (digest: string) => digest.replace('m=256', 'm=0256')],
])('a digest with %s is converted for the library', async (_what, respell) => {
  const digest = hashSync('a password', { ...argon2Options, salt: Buffer.from('somesalt') });
  expect(digest).toContain('$c29tZXNhbHQ$');
  const username = `spelled_${(await prisma.user.count()) + 1}`;
  const { failures } = await importUsers([
    { username, passwordDigest: respell(digest), passwordAlgorithm: 'Argon2id' },
  ]);
  expect(failures).toEqual([]);
  expect(await signInAs(username, 'a password')).not.toBeNull();
});

test('a digest of Argon2’s first version signs in', async () => {
  const digest = hashSync('a password', { ...argon2Options, version: 0 as Version.V0x10 });
  expect(digest).toContain('$v=16$');
  const username = 'first_argon2';
  const passwordDigest = digest.replace('v=16$', '');
  await importUsers([{ username, passwordDigest, passwordAlgorithm: 'Argon2id' }]);
  expect(await signInAs(username, 'a password')).not.toBeNull();
});

test.each(['garbage', '$argon2id$v=18$m=8,t=1,p=1$c29t$AAAA', '$argon2id$v=19$m=19456,t=2,p=1$x'])(
  'an unreadable stored digest, %s, fits no password',
  async (passwordDigest) => {
    const { username } = await fixture.createUser({ passwordDigest });
    const { visit, browser } = await openSignInPage(service, fixture.client);
    const answer = await browser.submit(visit, { identifier: username ?? '', password: phrase });
    expect(answer.status).toBe(422);
    expect(answer.body).toContain('role="alert"');
  },
);

const argon2id =
  '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';

function aspNet({ prf = 1, iterations = 1_000, saltLength = 16 }): string {
  const bytes = Buffer.alloc(13 + 48, 7);
  bytes[0] = 1;
  for (const [index, value] of [prf, iterations, saltLength].entries()) {
    bytes.writeUInt32BE(value, 1 + 4 * index);
  }
  return bytes.toString('base64');
}

describe('a digest is refused', () => {
  test.each([
    [
      'Argon2id',
      '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8',
    ],
    [
      'Argon2id',
      '$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
    ],
    // Another version, a salt too short, less memory than lanes need, and what is no Base64.
    ['Argon2id', argon2id.replace('v=19', 'v=18')],
    ['Argon2id', argon2id.replace('c29tZXNhbHQ', 'c2FsdA')],
    ['Argon2id', argon2id.replace('m=256,t=2,p=1', 'm=16,t=2,p=4')],
    ['Argon2id', argon2id.replace('c29tZXNhbHQ', 'c29tZXNhbHQA1')],
    // RFC 7914 §2: r=1 goes with an N below 2^16.
    [
      'Scrypt',
      '$scrypt$ln=16,r=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$tjK03tRvEjqCcPwmgtddMkgjlXrk8U/b9rIvfeBMKCc',
    ],
    ['Bcrypt', '$2a$31$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe'],
    ['Bcrypt', 'plaintext'],
    ['PBKDF2', '$pbkdf2-sha256$i=999999999$c2FsdA$Y11AchqV4b0sUisdZd0Xr97KWoymNE0LNNrnEgY4H9M'],
    ['PBKDF2', '$pbkdf2-md5$i=1000$c2FsdA$Y11AchqV4b0sUisdZd0Xr97KWoymNE0LNNrnEgY4H9M'],
    [
      'Scrypt',
      '$scrypt$ln=30,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$tjK03tRvEjqCcPwmgtddMkgjlXrk8U/b9rIvfeBMKCc',
    ],
    ['Scrypt', '$scrypt$ln=14,r=8,p=1$MDEy$'],
    // A key that is another than what was encrypted, and none at all.
    ['Scrypt', `${firebase.slice(0, -8)}`],
    ['Scrypt', firebase.slice(0, firebase.lastIndexOf('$') + 1)],
    ['Scrypt', firebase.replace('ln=14', 'ln=30')],
    ['Bcrypt', wordPress.replace('$06$', '$31$')],
    ['Bcrypt', `bcrypt_sha256$${wordPress}`],
    [
      'Argon2id',
      'argon2$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8',
    ],
    // Another function, too many iterations, a salt longer than all, an empty one, no hash, and only a beginning.
    ['PBKDF2', aspNet({ prf: 3 })],
    ['PBKDF2', aspNet({ iterations: 2 ** 32 - 1 })],
    ['PBKDF2', aspNet({ saltLength: 2 ** 32 - 1 })],
    ['PBKDF2', aspNet({ saltLength: 0 })],
    ['PBKDF2', aspNet({ saltLength: 48 })],
    ['PBKDF2', 'AQAAAAIAAAAy'],
    ['SHA1', aspNet({})],
    ['SHA1', '{SSHA256}wImdw1oXfw0CjcZkz9j0Sj8gcX3hJL/IvOXjbHgPspswMTIzNDU2Nzg5YWJjZGVm'],
    ['SHA1', '{SSHA}mkaOTPuM2ZkdM60L+1fasPpqPI4='],
    ['SHA256', 'sha1$0123456789abcdef$a1edf0ede2c71feec2f23dfa0cfad8d7ce541231'],
    ['SHA512', 'abf7aad6438836dbe526aa231abde2d0eef74d42'],
    ['Rot13', 'cnffjbeq'],
  ])('%s: %s', async (passwordAlgorithm, passwordDigest) => {
    const users = await prisma.user.count();
    const { failures } = await importUsers([{ passwordAlgorithm, passwordDigest }]);
    expect(failures).toMatchObject([{ index: 0, code: 'INVALID_INPUT' }]);
    expect(failures[0]?.message).toMatch(/^password(Digest|Algorithm): must be/);
    // What the message repeats would be in logs.
    expect(failures[0]?.message).not.toContain(passwordDigest);
    expect(await prisma.user.count()).toBe(users);
  });

  test('without its algorithm, without a digest, or beside a password', async () => {
    const digest = 'abf7aad6438836dbe526aa231abde2d0eef74d42';
    const { failures } = await importUsers([
      { passwordDigest: digest },
      { passwordAlgorithm: 'SHA1' },
      { password: phrase, passwordDigest: digest, passwordAlgorithm: 'SHA1' },
    ]);
    expect(failures.map(({ index, code }) => [index, code])).toEqual([
      [0, 'INVALID_INPUT'],
      [1, 'INVALID_INPUT'],
      [2, 'INVALID_INPUT'],
    ]);
  });
});

const hashes = {
  bcrypt: 'm0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe',
  pbkdf2: 'c2FsdHNhbHQ$Y11AchqV4b0sUisdZd0Xr97KWoymNE0LNNrnEgY4H9M',
  scrypt: 'MDEyMzQ1Njc4OWFiY2RlZg$tjK03tRvEjqCcPwmgtddMkgjlXrk8U/b9rIvfeBMKCc',
  argon2: 'c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
};
const long = Buffer.alloc(64).toString('base64').replaceAll('=', '');

describe('the cost of a digest is bounded', () => {
  test.each([
    ['Bcrypt', `$2b$14$${hashes.bcrypt}`, `$2b$15$${hashes.bcrypt}`, '14'],
    ['Bcrypt', `$wp$2y$14$${hashes.bcrypt}`, `$wp$2y$15$${hashes.bcrypt}`, '14'],
    [
      'Bcrypt',
      `bcrypt_sha256$$2b$14$${hashes.bcrypt}`,
      `bcrypt_sha256$$2b$15$${hashes.bcrypt}`,
      '14',
    ],
    // A hash of 32 bytes after the salt of 16: one block.
    ['PBKDF2', aspNet({ iterations: 2_000_000 }), aspNet({ iterations: 2_000_001 }), '2000000'],
    [
      'Scrypt',
      firebase.replace('ln=14,r=8,p=1', 'ln=18,r=8,p=1'),
      firebase.replace('ln=14,r=8,p=1', 'ln=18,r=8,p=2'),
      '2097152',
    ],
    [
      'PBKDF2',
      `$pbkdf2-sha256$i=2000000$${hashes.pbkdf2}`,
      `$pbkdf2-sha256$i=2000001$${hashes.pbkdf2}`,
      '2000000',
    ],
    // Two blocks of SHA-256.
    [
      'PBKDF2',
      `$pbkdf2-sha256$i=1000000$c2FsdHNhbHQ$${long}`,
      `$pbkdf2-sha256$i=1000001$c2FsdHNhbHQ$${long}`,
      '2000000',
    ],
    [
      'Scrypt',
      `$scrypt$ln=18,r=8,p=1$${hashes.scrypt}`,
      `$scrypt$ln=18,r=8,p=2$${hashes.scrypt}`,
      '2097152',
    ],
    [
      'Argon2id',
      `$argon2id$v=19$m=262144,t=4,p=1$${hashes.argon2}`,
      `$argon2id$v=19$m=262145,t=1,p=1$${hashes.argon2}`,
      '262144',
    ],
    [
      'Argon2id',
      `$argon2id$v=19$m=65536,t=16,p=4$${hashes.argon2}`,
      `$argon2id$v=19$m=65536,t=17,p=4$${hashes.argon2}`,
      '1048576',
    ],
    [
      'Argon2id',
      `$argon2id$v=19$m=8192,t=32,p=32$${hashes.argon2}`,
      `$argon2id$v=19$m=8192,t=33,p=32$${hashes.argon2}`,
      '32',
    ],
  ])('%s: %s', async (passwordAlgorithm, within, beyond, bound) => {
    const { users, failures } = await importUsers([
      { passwordAlgorithm, passwordDigest: within },
      { passwordAlgorithm, passwordDigest: beyond },
    ]);
    expect(users).toHaveLength(1);
    expect(failures).toMatchObject([{ index: 1, code: 'INVALID_INPUT' }]);
    expect(failures[0]?.message).toMatch(new RegExp(`^passwordDigest: .*\\b${bound}\\b`));
    await prisma.user.delete({ where: { id: users[0]?.id as string } });
  });
});

test('a digest verifies only its own password', async () => {
  const stored = readImportedDigest('SHA1', 'abf7aad6438836dbe526aa231abde2d0eef74d42') as string;
  expect(await verifyImportedPassword(stored, phrase)).toBe(true);
  expect(await verifyImportedPassword(stored, '')).toBe(false);
});

test('a thousand rows: faulty ones are reported, others imported', async () => {
  const role = await prisma.role.create({
    data: {
      id: 'role_01h455vb4pex5vsknk084sn02q',
      name: 'Everyone',
      type: 'USER',
      isDefault: true,
      createdAt: service.clock.now(),
      updatedAt: service.clock.now(),
    },
  });
  await fixture.createUser({ username: 'Taken', primaryPhone: '+4915112345678' });
  const rows: Record<string, unknown>[] = Array.from({ length: 1000 }, (_, i) => ({
    username: `bulk_${i}`,
    primaryEmail: `bulk_${i}@example.com`,
    customData: { row: i },
  }));
  rows[3] = { ...rows[3], username: 'taken' };
  rows[5] = { ...rows[5], primaryEmail: 'not an address', username: '1' };
  rows[7] = { ...rows[7], primaryEmail: 'BULK_6@example.com' };
  rows[9] = { ...rows[9], primaryPhone: '+4915112345678' };
  rows[11] = { ...rows[11], password: phrase };
  const before = await prisma.event.count({ where: withoutRefusals });

  const { users, failures } = await importUsers(rows);
  expect(failures.map(({ index, code }) => [index, code])).toEqual([
    [3, 'CONFLICT'],
    [5, 'INVALID_INPUT'],
    [7, 'CONFLICT'],
    [9, 'CONFLICT'],
  ]);
  expect(failures.map(({ message }) => message)).toEqual([
    expect.stringContaining('username'),
    expect.stringMatching(/username.*primaryEmail/),
    expect.stringContaining('primaryEmail'),
    expect.stringContaining('primaryPhone'),
  ]);
  const wrong = new Set([3, 5, 7, 9]);
  expect(users.map(({ username }) => username)).toEqual(
    rows.flatMap(({ username }, i) => (wrong.has(i) ? [] : [username])),
  );
  expect(await prisma.userRole.count({ where: { roleId: role.id } })).toBe(996);
  const events = await prisma.event.findMany({
    where: withoutRefusals,
    skip: before,
    orderBy: { position: 'asc' },
  });
  expect(events.map(({ type, subjectId }) => [type, subjectId])).toEqual(
    users.map(({ id }) => ['User.Created', id]),
  );
  expect(events[0]?.data).toMatchObject({ username: 'bulk_0', customData: { row: 0 } });
  expect(await signInAs('bulk_11', phrase)).not.toBeNull();
});

test('more than a thousand rows are refused as a whole', async () => {
  const before = await prisma.user.count();
  const result = await importUsers(Array.from({ length: 1001 }, () => ({})));
  expect(result).toMatchObject({ __typename: 'InvalidInputError', issues: [{ path: ['users'] }] });
  expect(await prisma.user.count()).toBe(before);
});

test('an empty import imports nothing', async () => {
  const before = await prisma.event.count({ where: withoutRefusals });
  expect(await importUsers([])).toMatchObject({ users: [], failures: [] });
  expect(await prisma.event.count({ where: withoutRefusals })).toBe(before);
});

test('concurrent imports create each user once', async () => {
  const rows = Array.from({ length: 200 }, (_, i) => ({ username: `twice_${i}` }));
  const both = await Promise.all([importUsers(rows), importUsers([...rows].reverse())]);
  expect(await prisma.user.count({ where: { username: { startsWith: 'twice_' } } })).toBe(200);
  expect(both.flatMap(({ users }) => users)).toHaveLength(200);
  expect(both.flatMap(({ failures }) => failures)).toHaveLength(200);
});
