import { expect, test } from 'vitest';
import { failuresFile, sampleFile } from '../../console/src/users/import/files.ts';
import { readUsers } from '../../console/src/users/import/read-users.ts';

test.each([
  ['commas', ','],
  ['semicolons', ';'],
  ['tabs', '\t'],
])('cells are separated by %s', (_signs, sign) => {
  const lines = [
    ['username', 'primaryEmail', 'name'],
    ['ada', '', 'Lovelace; Ada, Countess'],
    ['', '', ''],
    ['grace', 'grace@example.com', ''],
  ];
  const text = lines.map((cells) => cells.map((cell) => cell && `"${cell}"`).join(sign)).join('\n');
  expect(readUsers(text)).toEqual([
    { row: 1, user: { username: 'ada', name: 'Lovelace; Ada, Countess' } },
    { row: 2, user: { username: 'grace', primaryEmail: 'grace@example.com' } },
  ]);
});

test('the sample can be imported', () => {
  expect(readUsers(sampleFile)).toMatchObject([
    { user: { username: 'ada', isEmailVerified: true } },
    { user: { username: 'grace', isEmailVerified: false } },
  ]);
});

test('a file of failed rows is a table without formulas', () => {
  const failures = [
    { row: 2, who: 'ada', reason: 'Another user has "ada", so no.' },
    { row: 7, who: '=HYPERLINK("https://evil.example")', reason: '' },
  ];
  expect(failuresFile(failures)).toBe(
    'row,who,reason\r\n2,ada,"Another user has ""ada"", so no."\r\n7,"\'=HYPERLINK(""https://evil.example"")",\r\n',
  );
});
