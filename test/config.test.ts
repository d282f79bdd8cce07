import { describe, expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';

describe('TRUST_PROXY', () => {
  test.each([
    [undefined, false],
    ['false', false],
    ['0', false],
    ['1', 1],
    ['2', 2],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['127.0.0.1, ::1,2001:db8::/32', ['127.0.0.1', '::1', '2001:db8::/32']],
  ])('%s is understood', (value, expected) => {
    expect(readConfig({ TRUST_PROXY: value }).trustProxy).toEqual(expected);
  });

  test.each(['yes', '-1', '1.5', '100', '10.0.0.0/33', '::1/129', 'proxy', '10.0.0.1,', '1,2'])(
    '%s is refused',
    (value) => {
      expect(() => readConfig({ TRUST_PROXY: value })).toThrow(/^TRUST_PROXY must be false/);
    },
  );

  test('true is refused, with the reason', () => {
    expect(() => readConfig({ TRUST_PROXY: 'true' })).toThrow(
      /TRUST_PROXY must not be true.*claims/,
    );
  });
});

describe('SIGNET_SECRET', () => {
  test.each([
    'x',
    'a secret for tests only',
    'x'.repeat(64),
    'abc'.repeat(20),
    '12345678'.repeat(4),
  ])('%s is refused, and not repeated', (value) => {
    const read = () => readConfig({ SIGNET_SECRET: value });
    expect(read).toThrow(/SIGNET_SECRET must/);
    if (value.length > 1) expect(read).not.toThrow(value);
  });

  test('32 random digits are taken', () => {
    const secret = 'c0ffee5bd2a94e17b36f08d1a7c5e249';
    expect(readConfig({ SIGNET_SECRET: secret }).secret).toBe(secret);
  });
});
