import { expect, test } from 'vitest';
import { defaultSignInExperience } from '../../src/sign-in-experience/settings.ts';
import { isOfPossibleLength, rejections } from '../../src/users/password-policy.ts';

const policy = { ...defaultSignInExperience.passwordPolicy, blocklist: ['Hogwarts'] };
const about = {
  username: 'ada.lovelace',
  primaryEmail: 'countess@analytical.example.com',
  primaryPhone: '+4915112345678',
  name: 'Ada Lovelace',
  productName: 'Acme Cloud',
};
const codes = (password: string, changes: object = {}) =>
  rejections({ ...policy, ...changes }, password, about).map(({ code }) => code);

test.each([
  'correct horse battery staple',
  'zwölf Boxkämpfer',
  'пароль не для всех',
  '🦄🐙🦊🐝🌵🍄🎲🧩',
  'xxxZq81!k',
  'my lovelace poem of 1843, chapter two',
])('accepts %s', (password) => {
  expect(codes(password)).toEqual([]);
});

test.each<[string, string, string[]]>([
  ['seven characters', 'k3Zq!pw', ['TOO_SHORT']],
  ['seven emoji, which are more UTF-16 units', '🦄🐙🦊🐝🌵🍄🎲', ['TOO_SHORT']],
  ['seven letters, decomposed', 'zwölfxy'.normalize('NFD'), ['TOO_SHORT']],
  ['what is too long', 'kZ3!'.repeat(65), ['TOO_LONG']],
  ['a NUL character', 'correct\0horse', ['INVALID_CHARACTER']],
  ['half a surrogate pair', 'correct \ud83d horse', ['INVALID_CHARACTER']],
  ['a common one', 'password1', ['COMMON']],
  ['a common one, whatever its case', 'Iloveyou1', ['COMMON']],
  ['one that repeats', 'abcabcabcabc', ['COMMON']],
  ['a row of letters', 'cdefghijk', ['COMMON']],
  ['a row of digits, downwards', '98765432', ['COMMON']],
  ['the user name', 'Ada.Lovelace', ['USER_DATA']],
  ['a name with a year', 'Lovelace1843', ['USER_DATA']],
  ['a name with dots and a sign', 'L.o.v.e.l.a.c.e!', ['USER_DATA']],
  ['the e-mail address', 'countess@analytical.example.com', ['USER_DATA']],
  ['the domain', 'analytical99', ['USER_DATA']],
  ['the telephone number', '+49 151 12345678', ['USER_DATA']],
  ['the product', 'AcmeCloud!1', ['USER_DATA']],
  ['the service', 'Signet2026', ['USER_DATA']],
  ['a blocked word', 'hogwarts7', ['BLOCKLISTED']],
])('refuses %s', (_what, password, expected) => {
  expect(codes(password)).toEqual(expected);
});

test('each rule but length can be switched off', () => {
  expect(codes('password1', { rejectCommon: false })).toEqual([]);
  expect(codes('Ada.Lovelace', { rejectUserData: false })).toEqual([]);
  expect(codes('hogwarts7', { blocklist: [] })).toEqual([]);
  expect(codes('correct horse', { minLength: 15 })).toEqual(['TOO_SHORT']);
});

test('reasons are words, and never hold the password', () => {
  for (const { message } of rejections(policy, 'hogwarts', { ...about, username: 'hogwarts' })) {
    expect(message).toMatch(/^The password .*\.$/);
    expect(message).not.toContain('hogwarts');
  }
});

test('256 code points are hashed, however many bytes', () => {
  expect(isOfPossibleLength('🦄'.repeat(256))).toBe(true);
  expect(isOfPossibleLength('o\u0308'.repeat(256))).toBe(true);
  expect(isOfPossibleLength('x'.repeat(257))).toBe(false);
});

test('very long and patterned passwords are judged quickly', () => {
  expect(codes('a'.repeat(1_000_000))).toEqual(['TOO_LONG']);
  expect(codes('ab'.repeat(128))).toEqual(['COMMON']);
  expect(codes('[a-z]*.+(x+x+)+y')).toEqual([]);
});
