import { csvText } from '../../kit/save-file.ts';
import type { FailedRow } from './import-users.ts';

/** A file to begin with, for a spreadsheet. */
export const sampleFile = [
  'username,primaryEmail,isEmailVerified,name',
  'ada,ada@example.com,true,Ada Lovelace',
  'grace,grace@example.com,false,Grace Hopper',
  '',
].join('\r\n');

/** The rows that failed, as a file: which they were, whom they were about, and why. */
export const failuresFile = (failures: readonly FailedRow[]): string =>
  csvText([
    ['row', 'who', 'reason'],
    ...failures.map(({ row, who, reason }) => [String(row), who, reason]),
  ]);
