import { createDecipheriv, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSealing } from '../../src/keys/cipher.ts';

const before = 'the secret of before, for tests only';
const coming = 'the coming secret, for tests only as well';
const third = 'a third secret that nobody else has ever used';

test('with two secrets, each side reads what the other wrote, and nobody else does', () => {
  const [old, moved] = [createSealing(before, coming), createSealing(coming, before)];
  for (const [one, other] of [
    [old, moved],
    [moved, old],
    [createSealing(before), moved],
    [createSealing(coming), old],
  ] as const) {
    const sealed = one.encrypt('a text', 'message:1');
    expect(other.decrypt(sealed, 'message:1')).toBe('a text');
    expect(other.secretOf(sealed, 'message:1')?.id).toBe(one.first.id);
    expect(() => other.decrypt(sealed, 'message:2')).toThrow();
    expect(createSealing(third, `${third} too`).secretOf(sealed, 'message:1')).toBeUndefined();
    const changed = Uint8Array.from(sealed);
    changed.set([(changed.at(-1) ?? 0) ^ 1], changed.length - 1);
    expect(() => other.decrypt(changed, 'message:1')).toThrow();
  }
});

test('a value names its secret while there are two, and the name tells nothing of it', () => {
  const moved = createSealing(coming, before);
  const sealed = moved.encrypt('a text', 'message:1');
  expect(sealed.subarray(0, 8)).toEqual(moved.first.prefix);
  expect(moved.first.id).not.toBe(moved.previous?.id);
  expect(createSealing(coming).first.id).toBe(moved.first.id);
  // The name is a key of its own: not the beginning of another one.
  const keys = ['secrets-at-rest', 'cookies', 'sign-in-form'].map((use) =>
    Buffer.from(hkdfSync('sha256', coming, '', `signet:${use}`, 32)).toString('hex'),
  );
  expect(keys.filter((key) => key.startsWith(moved.first.id))).toEqual([]);
});

test('what is cut off is refused', () => {
  const moved = createSealing(coming, before);
  const sealed = moved.encrypt('a text', 'message:1');
  for (let length = 0; length < sealed.length; length += 1)
    expect(() => moved.decrypt(sealed.subarray(0, length), 'message:1')).toThrow();
});

test('what is signed is verified with either secret, and signed with the first', () => {
  const [old, moved] = [createSealing(before, coming), createSealing(coming, before)];
  expect(moved.passingKeys('cookies')).toEqual(old.passingKeys('cookies').toReversed());
  expect(createSealing(coming).passingKeys('cookies')).toEqual([moved.passingKeys('cookies')[0]]);
});

test('a node of the version before reads what is written while there is one secret', async () => {
  const sealed = createSealing(before).encrypt('for both versions', 'message:1');
  // As that version had it.
  const key = Buffer.from(hkdfSync('sha256', before, '', 'signet:secrets-at-rest', 32));
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), {
    authTagLength: 16,
  })
    .setAAD(Buffer.from('message:1'))
    .setAuthTag(sealed.subarray(12, 28));
  const body = Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]);
  expect(body.toString()).toBe('for both versions');
});
