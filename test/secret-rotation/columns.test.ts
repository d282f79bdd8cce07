import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sealedColumns } from '../../src/keys/sealed-columns.ts';
import { signInTtlSeconds } from '../../src/oidc/first-party/sign-in.ts';
import { interactionTtlSeconds } from '../../src/oidc/provider/storage/grant-lifetime.ts';
import { longestSignInSeconds } from '../../src/secret-rotation/use.ts';

// Digests, and what is public: no secret encrypts them.
const plain = [
  'AddressCount.address',
  'ApplicationSecret.digest',
  'AttemptCount.identifier',
  'BackupCode.digest',
  'Federation.digest',
  'FirstPartySession.digest',
  'Interaction.digest',
  'KeptResult.fingerprint',
  'KeptResult.id',
  'Newcomer.confirmation',
  'OneTimeToken.digest',
  'PasskeyChallenge.challenge',
  'PersonalAccessToken.digest',
  'RegistrationToken.digest',
  'SendingCount.recipient',
  'SentForm.digest',
  'SetupToken.digest',
  'SubjectToken.digest',
  'UserFactor.credentialId',
  'UserFactor.publicKey',
  'VerificationCode.digest',
];

/** Every column of bytes in the Prisma schema. */
function byteColumns(): string[] {
  const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8');
  return [...schema.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)].flatMap(([, model, body = '']) =>
    [...body.matchAll(/^ {2}(\w+)\s+Bytes\b/gm)].map(([, column]) => `${model}.${column}`),
  );
}

test('every column of bytes is encrypted anew when the secret changes, or holds no ciphertext', () => {
  const sealed = Object.values(sealedColumns).map(({ table, column }) => `${table}.${column}`);
  expect(sealed).toContain('SigningKey.privateJwk');
  expect([...sealed, ...plain].sort()).toEqual(byteColumns().sort());
});

test('nothing that a secret signed for a sign-in outlives the wait for it', () => {
  expect(longestSignInSeconds).toBeGreaterThanOrEqual(
    Math.max(interactionTtlSeconds, signInTtlSeconds),
  );
});
