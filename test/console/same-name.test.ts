import { expect, test } from 'vitest';
import { isSameName } from '../../console/src/kit/records/same-name.ts';

test.each([
  ['Grace O’Hopper', "Grace O'Hopper"],
  ['“Harbour” Freight', '"Harbour" Freight'],
  ['„Harbour“ Freight', '"Harbour" Freight'],
  ['2020–2024', '2020-2024'],
  ['North\u00a0Wind  Bakery', 'North Wind Bakery'],
  ['Zoe\u0308', 'Zo\u00eb'],
  [' Shop', 'Shop '],
])('a name is the same as a keyboard has it: %s', (name, typed) => {
  expect(isSameName(typed, name)).toBe(true);
  expect(isSameName(`${typed}s`, name)).toBe(false);
});

test('names that differ in more than their signs are not the same', () => {
  expect(isSameName('shop', 'Shop')).toBe(false);
  expect(isSameName('', 'Shop')).toBe(false);
  expect(isSameName('OHopper', 'O’Hopper')).toBe(false);
});
