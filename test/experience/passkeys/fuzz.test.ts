import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startHeadless, step } from '../../support/people/experience.ts';
import { createAuthenticator } from '../../support/people/passkeys/authenticator.ts';
import {
  createSignInFixture,
  password,
  redirectUri,
} from '../../support/people/sign-in-fixture.ts';
import { changeSettings } from '../../support/people/sign-in-settings.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const client = await fixture.createApplication({ allowHeadlessSignIn: true });
const token = await service.managementToken();
await changeSettings(service, token, { factors: ['PASSKEY'] });

const { origin } = new URL(service.app.services.baseUrl);
const user = await fixture.createUser();
const authenticator = createAuthenticator(origin);
const begin = () => startHeadless(service, { clientId: client.id, redirectUri });

/** Forgets failures, which would lock this person or address out. */
async function calm() {
  await fixture.database.prisma.addressCount.deleteMany();
  await fixture.database.prisma.attemptCount.deleteMany();
}

const refused = ['InvalidInputError', 'VerificationFailedError'];

async function signedIn() {
  const headless = await begin();
  await step(headless.send, 'signInWithPassword', { identifier: user.username, password });
  return headless;
}

const enrolling = await signedIn();
const started = await step(enrolling.send, 'startPasskeyEnrollment');
await step(enrolling.send, 'confirmPasskey', {
  response: authenticator.create(started['options']),
});

/** A change of one byte of one field, or a field of another type or length. */
const damage = fc.record({
  field: fc.nat(),
  at: fc.nat(),
  byte: fc.integer({ min: 1, max: 255 }),
  instead: fc.option(fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.base64String({ maxLength: 200 })), {
    nil: undefined,
  }),
});
type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(response: object, { field, at, byte, instead }: Damage): object {
  const copy = structuredClone(response) as Record<string, unknown>;
  const inner = copy['response'] as Record<string, unknown>;
  const names = Object.keys(inner).filter((name) => name !== 'transports');
  const name = names[field % names.length] ?? '';
  if (instead !== undefined) inner[name] = instead;
  else {
    const bytes = Buffer.from(String(inner[name]), 'base64url');
    bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ byte;
    inner[name] = bytes.toString('base64url');
  }
  return copy;
}

test('a damaged use of a passkey is refused, never a fault', async () => {
  await fc.assert(
    fc.asyncProperty(damage, async (change) => {
      await calm();
      const { send } = await begin();
      const { options } = await step(send, 'startPasskey');
      const response = damaged(authenticator.get(options), change);
      expect(refused).toContain((await step(send, 'verifyPasskey', { response })).__typename);
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('a damaged new passkey is refused, or one that no damage shows in', async () => {
  const { send } = enrolling;
  await fc.assert(
    fc.asyncProperty(damage, async (change) => {
      await calm();
      const { options } = await step(send, 'startPasskeyEnrollment');
      const made = createAuthenticator(origin).create(options);
      const { __typename } = await step(send, 'confirmPasskey', {
        response: damaged(made, change),
      });
      // No attestation is asked for, so nothing signs the public key or the model of the authenticator.
      expect([...refused, 'ConfirmPasskeyPayload']).toContain(__typename);
      const id = { not: Buffer.from(authenticator.ids[0] ?? '', 'base64url') };
      await fixture.database.prisma.userFactor.deleteMany({
        where: { userId: user.id, credentialId: id },
      });
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('any JSON is refused', async () => {
  const { send } = await begin();
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (response) => {
      await calm();
      expect(refused).toContain((await step(send, 'verifyPasskey', { response })).__typename);
      const confirmed = await step(enrolling.send, 'confirmPasskey', { response });
      expect(refused).toContain(confirmed.__typename);
    }),
    { numRuns: 40, seed: 1 },
  );
});

test.each([
  ['a huge field', 'A'.repeat(60_000)],
  // Arrays in arrays, in CBOR.
  ['deep nesting', Buffer.alloc(12_000, 0x81).toString('base64url')],
  ['a map that says it is huge', Buffer.from('bbffffffffffffffff', 'hex').toString('base64url')],
  ['a list that says it is huge', Buffer.from('9b00ffffffffffffff', 'hex').toString('base64url')],
  ['a text that says it is huge', Buffer.from('7b00ffffffffffffff', 'hex').toString('base64url')],
  ['a tag', Buffer.from('c249010000000000000000', 'hex').toString('base64url')],
])('%s is refused', async (_case, attestationObject) => {
  const { options } = await step(enrolling.send, 'startPasskeyEnrollment');
  const made = createAuthenticator(origin).create(options);
  const response = { ...made, response: { ...made.response, attestationObject } };
  const confirmed = await step(enrolling.send, 'confirmPasskey', { response });
  expect(refused).toContain(confirmed.__typename);
});
