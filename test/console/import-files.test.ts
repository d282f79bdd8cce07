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

test('roles, suspension and times of creation are read from cells and from JSON', () => {
  const createdAt = '2024-02-03T04:05:06Z';
  const cells = [
    'username,roleIds,isSuspended,createdAt',
    `ada,role_1 role_2,TRUE,${createdAt}`,
    'grace,,,2024-02-03',
    'linus,,maybe,',
  ];
  const expected = [
    {
      row: 1,
      user: { username: 'ada', roleIds: ['role_1', 'role_2'], isSuspended: true, createdAt },
    },
    { row: 2, fault: { kind: 'notATime', field: 'createdAt' } },
    { row: 3, fault: { kind: 'notABoolean', field: 'isSuspended' } },
  ];
  expect(readUsers(cells.join('\n'))).toEqual(expected);
  const objects = [
    { username: 'ada', roleIds: ['role_1', 'role_2'], isSuspended: true, createdAt },
    { createdAt: '2024-02-33T04:05:06Z' },
    { isSuspended: 'maybe' },
    { roleIds: 'role_1' },
    { roleIds: [1] },
  ];
  expect(readUsers(JSON.stringify(objects))).toEqual([
    ...expected,
    { row: 4, fault: { kind: 'notAList', field: 'roleIds' } },
    { row: 5, fault: { kind: 'notAList', field: 'roleIds' } },
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
