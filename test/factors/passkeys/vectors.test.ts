import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readAuthentication, readRegistration } from '../../../src/factors/passkeys/responses.ts';
import {
  PasskeyRefused,
  verifyAuthentication,
  verifyRegistration,
} from '../../../src/factors/passkeys/verify.ts';

type Hex<Names extends string> = Readonly<Record<Names, string>>;

interface Vector {
  readonly title: string;
  readonly section: string;
  readonly registration: Hex<
    'challenge' | 'credential_id' | 'clientDataJSON' | 'attestationObject'
  >;
  readonly authentication: Hex<'challenge' | 'authenticatorData' | 'clientDataJSON' | 'signature'>;
}

const file = new URL('../../fixtures/webauthn/level-3-test-vectors.json', import.meta.url);
const { vectors, rpId, origin } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly rpId: string;
  readonly origin: string;
  readonly vectors: readonly Vector[];
};
const relyingParty = { id: rpId, origin };
const base64url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url');

// What a passkey here is not: made for an algorithm that is not offered, or in a frame of another site.
const refused = /ES384|ES512|Ed448|crossOrigin|topOrigin/;

function register({ registration }: Vector) {
  const id = base64url(registration.credential_id);
  const response = readRegistration({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: base64url(registration.clientDataJSON),
      attestationObject: base64url(registration.attestationObject),
    },
  });
  return verifyRegistration(relyingParty, base64url(registration.challenge), response);
}

async function authenticate(vector: Vector, changed: Partial<Vector['authentication']> = {}) {
  const passkey = await register(vector);
  const used = { ...vector.authentication, ...changed };
  const id = base64url(vector.registration.credential_id);
  const response = readAuthentication({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: {
      clientDataJSON: base64url(used.clientDataJSON),
      authenticatorData: base64url(used.authenticatorData),
      signature: base64url(used.signature),
    },
  });
  return verifyAuthentication(relyingParty, base64url(used.challenge), response, passkey, {
    requireUserVerification: false,
  });
}

const flip = (hex: string) => `${hex.slice(0, -2)}${hex.endsWith('00') ? '01' : '00'}`;

describe('the test vectors of WebAuthn Level 3 (§16)', () => {
  test('are all here', () => {
    expect(vectors).toHaveLength(15);
    expect(vectors.filter(({ title }) => refused.test(title))).toHaveLength(5);
  });

  test.each(vectors.filter(({ title }) => !refused.test(title)))('$title', async (vector) => {
    const passkey = await register(vector);
    expect(Buffer.from(passkey.credentialId).toString('hex')).toBe(
      vector.registration.credential_id,
    );
    await expect(authenticate(vector)).resolves.toMatchObject({ signCount: 0n });
    const { signature, challenge } = vector.authentication;
    await expect(authenticate(vector, { signature: flip(signature) })).rejects.toThrow(
      PasskeyRefused,
    );
    await expect(authenticate(vector, { challenge: flip(challenge) })).rejects.toThrow(
      PasskeyRefused,
    );
  });

  test.each(vectors.filter(({ title }) => refused.test(title)))(
    'refuses $title',
    async (vector) => {
      await expect(register(vector)).rejects.toThrow(PasskeyRefused);
    },
  );
});
