import { generateKeyPairSync, KeyObject } from 'node:crypto';
import { compactVerify, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { signingAlgorithms } from '../../src/config.ts';
import { signCompact, verifyCompact } from '../../src/keys/compact-jws.ts';

describe.each(signingAlgorithms)('%s', async (algorithm) => {
  const options = { extractable: true, ...(algorithm === 'EdDSA' ? { crv: 'Ed25519' } : {}) };
  const { publicKey, privateKey } = await generateKeyPair(algorithm, options);
  const header = { alg: algorithm, typ: 'at+jwt', kid: 'key_1' };
  const payload = { sub: 'ü', act: { sub: 'app' } };

  test('jose verifies our signatures', async () => {
    const signed = await signCompact(
      { algorithm, key: KeyObject.from(privateKey) },
      header,
      payload,
    );
    const verified = await compactVerify(signed, publicKey);
    expect(verified.protectedHeader).toEqual(header);
    expect(JSON.parse(new TextDecoder().decode(verified.payload))).toEqual(payload);
  });

  test('verifies jose’s signatures, and no changed or foreign ones', async () => {
    const signed = await new SignJWT(payload).setProtectedHeader(header).sign(privateKey);
    const end = signed.lastIndexOf('.');
    const [text, signature] = [signed.slice(0, end), signed.slice(end + 1)];
    const key = { algorithm, key: KeyObject.from(publicKey) };
    expect(await verifyCompact(key, text, signature)).toBe(true);
    expect(await verifyCompact(key, `${text}x`, signature)).toBe(false);
    expect(await verifyCompact(key, text, signature.slice(4))).toBe(false);
    expect(await verifyCompact(key, text, '')).toBe(false);
    const other = await generateKeyPair(algorithm, options);
    expect(
      await verifyCompact({ algorithm, key: KeyObject.from(other.publicKey) }, text, signature),
    ).toBe(false);
  });
});

test('a remembered signature counts for its text and key only', async () => {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [ours, other] = [pair(), pair()];
  const signed = await signCompact(
    { algorithm: 'ES256', key: ours.privateKey },
    { alg: 'ES256' },
    { a: 1 },
  );
  const [header, payload, signature = ''] = signed.split('.');
  const forged = `${header}.${Buffer.from('{"a":2}').toString('base64url')}`;
  for (let time = 1; time <= 2; time += 1) {
    const [right, wrong] = [ours.publicKey, other.publicKey].map((key) => ({
      algorithm: 'ES256',
      key,
    }));
    if (!right || !wrong) throw new Error('Two keys were made.');
    expect(await verifyCompact(right, `${header}.${payload}`, signature)).toBe(true);
    expect(await verifyCompact(right, forged, signature)).toBe(false);
    expect(await verifyCompact(right, `${header}.${payload}`, signature.slice(0, -4))).toBe(false);
    expect(await verifyCompact(wrong, `${header}.${payload}`, signature)).toBe(false);
  }
});
