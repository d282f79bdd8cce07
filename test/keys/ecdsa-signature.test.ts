import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { derForm, jwsForm } from '../../src/keys/ecdsa-signature.ts';

describe.each([
  ['P-256', 32],
  ['P-384', 48],
] as const)('%s', (namedCurve, size) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
  const inJws = (key: typeof publicKey) => ({ key, dsaEncoding: 'ieee-p1363' }) as const;

  test('numbers of each length are the same in both forms', () => {
    for (const first of [0x01, 0x7f, 0x80, 0xff]) {
      for (let length = 1; length <= size; length += 1) {
        const jws = Buffer.alloc(2 * size);
        jws.writeUInt8(first, size - length);
        jws.writeUInt8(first, size);
        const der = derForm(jws, size) ?? Buffer.alloc(0);
        expect(jwsForm(der, size)).toEqual(jws);
        expect(der).toHaveLength(6 + length + size + (first < 0x80 ? 0 : 2));
      }
    }
  });

  // Half of the numbers need a sign.
  test('signatures of each length are the same in both forms', () => {
    const lengths = new Set<number>();
    for (let i = 0; i < 200; i += 1) {
      const text = Buffer.from(`text ${i}`);
      const der = sign('sha256', text, privateKey);
      lengths.add(der.length);
      const jws = jwsForm(der, size);
      expect(jws).toHaveLength(2 * size);
      expect(derForm(jws, size)).toEqual(der);
    }
    expect(lengths.size).toBeGreaterThan(2);
  });

  test('Node reads and writes the same form', () => {
    const text = Buffer.from('text');
    const ours = jwsForm(sign('sha256', text, privateKey), size);
    expect(verify('sha256', text, inJws(publicKey), ours)).toBe(true);
    const theirs = derForm(sign('sha256', text, inJws(privateKey)), size);
    expect(theirs && verify('sha256', text, publicKey, theirs)).toBe(true);
  });

  test('a number of zeros is one zero, and verifies nothing', () => {
    const der = derForm(Buffer.alloc(2 * size), size);
    expect(der).toEqual(Buffer.from('3006020100020100', 'hex'));
    expect(der && verify('sha256', Buffer.from('text'), publicKey, der)).toBe(false);
  });

  test.each([0, 1, 2 * size - 1, 2 * size + 1])('%i bytes are no signature', (length) => {
    expect(derForm(Buffer.alloc(length, 1), size)).toBeUndefined();
  });
});
