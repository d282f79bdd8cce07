import type { ImportedUserInput, PasswordAlgorithm } from '../../generated/graphql.ts';

/** The fields of a row, as `importUsers` names them. */
export const fieldsOfRow = [
  'username',
  'primaryEmail',
  'isEmailVerified',
  'primaryPhone',
  'isPhoneVerified',
  'name',
  'avatar',
  'password',
  'passwordDigest',
  'passwordAlgorithm',
  'profile',
  'customData',
  'isSuspended',
  'roleIds',
  'createdAt',
] as const satisfies readonly (keyof ImportedUserInput)[];

const isField = (name: string): name is (typeof fieldsOfRow)[number] =>
  (fieldsOfRow as readonly string[]).includes(name);

/** A fault of a row or a file, and the field that it is about. */
export interface Fault {
  readonly kind:
    | 'noRows'
    | 'notReadable'
    | 'openQuote'
    | 'unknownField'
    | 'notABoolean'
    | 'notAText'
    | 'notAnAlgorithm'
    | 'notJson'
    | 'notAList'
    | 'notATime'
    | 'notARow'
    | 'tooManyCells';
  readonly field: string;
}

/** A row of a file. Numbers start at 1, without the line that names the columns. */
export type Row =
  | { readonly row: number; readonly user: ImportedUserInput }
  | { readonly row: number; readonly fault: Fault };

const booleans: ReadonlySet<string> = new Set<keyof ImportedUserInput>([
  'isEmailVerified',
  'isPhoneVerified',
  'isSuspended',
]);

// As the scalar DateTime takes it.
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads users from a JSON array or from CSV (RFC 4180) whose first line names the columns. */
export function readUsers(text: string): readonly Row[] | Fault {
  const content = text.replace(/^\uFEFF/, '');
  if (content.trim() === '') return { kind: 'noRows', field: '' };
  const rows = /^\s*[[{]/.test(content) ? rowsOfJson(content) : rowsOfCsv(content.trimStart());
  return Array.isArray(rows) && rows.length === 0 ? { kind: 'noRows', field: '' } : rows;
}

function rowsOfJson(text: string): readonly Row[] | Fault {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    return { kind: 'notReadable', field: '' };
  }
  if (!Array.isArray(values)) return { kind: 'notReadable', field: '' };
  return values.map((value: unknown, index): Row => {
    const row = index + 1;
    if (!isObject(value)) return { row, fault: { kind: 'notARow', field: '' } };
    const unknown = Object.keys(value).find((name) => !isField(name));
    if (unknown !== undefined) return { row, fault: { kind: 'unknownField', field: unknown } };
    return checked(row, value);
  });
}

// The service refuses a whole batch for one value of the wrong type.
function checked(row: number, user: Record<string, unknown>): Row {
  for (const [field, value] of Object.entries(user)) {
    const kind = value === null ? undefined : faultIn(field, value);
    if (kind) return { row, fault: { kind, field } };
  }
  return { row, user };
}

function faultIn(field: string, value: unknown): Fault['kind'] | undefined {
  if (booleans.has(field)) return typeof value === 'boolean' ? undefined : 'notABoolean';
  if (field === 'profile' || field === 'customData') return isObject(value) ? undefined : 'notJson';
  if (field === 'roleIds') {
    const isList = Array.isArray(value) && value.every((id) => typeof id === 'string');
    return isList ? undefined : 'notAList';
  }
  if (typeof value !== 'string') return 'notAText';
  if (field === 'createdAt' && !(time.test(value) && Number.isFinite(Date.parse(value))))
    return 'notATime';
  if (field === 'passwordAlgorithm' && !algorithms.has(bare(value))) return 'notAnAlgorithm';
  return undefined;
}

const bare = (name: string): string => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');

const algorithms: ReadonlySet<string> = new Set([
  'ARGON2D',
  'ARGON2I',
  'ARGON2ID',
  'BCRYPT',
  'MD5',
  'PBKDF2',
  'SCRYPT',
  'SHA1',
  'SHA256',
  'SHA512',
] satisfies PasswordAlgorithm[]);

function rowsOfCsv(text: string): readonly Row[] | Fault {
  const records = cellsOfCsv(text);
  if (!records) return { kind: 'openQuote', field: '' };
  const [header = [], ...lines] = records;
  const columns = header.map((name) => name.trim());
  const unknown = columns.find((name) => !isField(name));
  if (unknown !== undefined) {
    return { kind: columns.some(isField) ? 'unknownField' : 'notReadable', field: unknown };
  }
  return lines.map((cells, index) => rowOfCells(index + 1, columns, cells));
}

function rowOfCells(row: number, columns: readonly string[], cells: readonly string[]): Row {
  if (cells.length > columns.length) return { row, fault: { kind: 'tooManyCells', field: '' } };
  const user: Record<string, unknown> = {};
  for (const [index, cell] of cells.entries()) {
    const field = columns[index] as string;
    if (cell === '') continue;
    if (booleans.has(field)) {
      const word = cell.trim().toLowerCase();
      user[field] = word === 'true' || word === 'false' ? word === 'true' : cell;
    } else if (field === 'profile' || field === 'customData') user[field] = parsed(cell);
    // Ids have no spaces.
    else if (field === 'roleIds') user[field] = cell.trim().split(/[\s,;]+/);
    else user[field] = cell;
  }
  return checked(row, user);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Spreadsheets separate cells by semicolons in countries that write decimals with a comma, and by tabs when copied. No
// field has any of them in its name.
const separatorOf = (text: string): string => {
  const [header = ''] = text.split(/\r?\n/, 1);
  return header.match(/[,;\t]/)?.[0] ?? ',';
};

// Undefined if a quote is not closed. Empty lines are skipped.
function cellsOfCsv(text: string): readonly (readonly string[])[] | undefined {
  const separator = separatorOf(text);
  const records: string[][] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRecord = () => {
    cells.push(cell);
    if (cells.some((one) => one !== '')) records.push(cells);
    cells = [];
    cell = '';
  };
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index] as string;
    if (isQuoted) {
      if (sign !== '"') cell += sign;
      else if (text[index + 1] === '"') {
        cell += '"';
        index += 1;
      } else isQuoted = false;
    } else if (sign === '"' && cell === '') isQuoted = true;
    else if (sign === separator) {
      cells.push(cell);
      cell = '';
    } else if (sign === '\n') endRecord();
    else if (sign !== '\r' || text[index + 1] !== '\n') cell += sign;
  }
  if (isQuoted) return undefined;
  endRecord();
  return records;
}
