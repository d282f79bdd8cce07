import { systemClock } from '../../clock.ts';
import { foldCase } from '../../input.ts';
import {
  importedPasswordAlgorithms,
  readImportedDigest,
} from '../../users/import/imported-password.ts';
import { previewImportedUser } from '../../users/import/imported-user.ts';
import { maxRows } from '../../users/import/operations.ts';
import { fitRecord, type Values } from './fit-record.ts';
import type { Findings, Part } from './part.ts';

/** What goes with a password: without one of them, there is none. */
const passwordFields = ['password', 'passwordDigest', 'passwordAlgorithm'];

/** A body has at most 4 MiB; what is around the rows fits beside this. */
const maxBodyBytes = 3 * 2 ** 20;

/** A user as an export tells of one. */
export interface ExportedUser {
  /** The fields of a row of `importUsers`, as far as they are known. */
  readonly values: Values;
  /** The id at the other system. It comes over as `customData.formerId`. */
  readonly formerId: string | undefined;
  /** Why the user has a password that does not come over. */
  readonly passwordFault?: string | undefined;
}

/** A digest with the algorithm that its own text names. */
export function namedDigest(digest: string): Values | undefined {
  const algorithm = digest.startsWith('$')
    ? importedPasswordAlgorithms.find((one) => readImportedDigest(one, digest) !== undefined)
    : undefined;
  return algorithm && { passwordDigest: digest, passwordAlgorithm: algorithm };
}

/**
 * A time of an export: in milliseconds since 1970, or as ISO 8601 and PostgreSQL write it. Without a zone it is in UTC.
 */
export function timeOf(part: Part, field: string): Date | undefined {
  const at = part.get(field);
  if (at.value == null || at.value === '') return undefined;
  if (/^\d+$/.test(String(at.value))) return new Date(Number(at.value));
  const written = /^(?<day>\d{4}-\d\d-\d\d)[T ](?<time>[\d:.]+) ?(?<zone>Z|[+-]\d\d(?::?\d\d)?)?$/;
  const { day, time, zone = 'Z' } = written.exec(String(at.value))?.groups ?? {};
  // PostgreSQL leaves out the minutes of a zone that has none.
  const instant = new Date(`${day}T${time}${zone.length === 3 ? `${zone}:00` : zone}`);
  if (!Number.isNaN(instant.getTime())) return instant;
  at.leave('must be a time, and is not taken');
  return undefined;
}

/** The users of an export as rows of `importUsers`. What does not fit the service is left out, and told. */
export class UserRows {
  readonly #rows: Values[] = [];
  readonly #seen = new Set<string>();
  readonly #unread = new Map<string, number>();
  readonly #findings: Findings;

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  /** @param part The user in the export, whose other fields are counted. */
  add(part: Part, { values, formerId, passwordFault }: ExportedUser): void {
    for (const field of part.unread()) {
      this.#unread.set(field, (this.#unread.get(field) ?? 0) + 1);
    }
    if (passwordFault) part.leave(`comes without a password: ${passwordFault}`);
    const customData = {
      ...(values['customData'] as Values | undefined),
      ...(formerId === undefined ? {} : { formerId }),
    };
    const row = fitRecord(part, { ...values, customData }, readRow, passwordFields);
    if (!row) return;
    const identifiers = ['username', 'primaryEmail', 'primaryPhone'].flatMap((field) =>
      row[field] === undefined ? [] : `${field} ${foldCase(String(row[field]))}`,
    );
    if (identifiers.length === 0) {
      part.leave('is not taken: it has no user name, e-mail address or telephone number');
      return;
    }
    const double = identifiers.find((one) => this.#seen.has(one));
    if (double) {
      part.leave(`is not taken: another user has its ${double.split(' ')[0]}`);
      return;
    }
    for (const one of identifiers) this.#seen.add(one);
    this.#rows.push(row);
  }

  /** Says which fields of users do not come over, and how many have them. */
  leaveUnread(): void {
    for (const [field, count] of this.#unread) {
      this.#findings.say('users', `${field}, of ${count}: importUsers has no such field`);
    }
  }

  /** The inputs of `importUsers`, each as one line of JSON. */
  *lines(): Generator<string> {
    let rows: string[] = [];
    let bytes = 0;
    for (const row of this.#rows) {
      const text = JSON.stringify(row);
      const size = Buffer.byteLength(text);
      if (rows.length === maxRows || (rows.length > 0 && bytes + size > maxBodyBytes)) {
        yield bodyOf(rows);
        rows = [];
        bytes = 0;
      }
      rows.push(text);
      bytes += size + 1;
    }
    if (rows.length > 0) yield bodyOf(rows);
  }
}

const bodyOf = (rows: readonly string[]) => `{"users":[${rows.join(',')}]}\n`;

const readRow = (values: unknown): object => previewImportedUser(values, systemClock.now());
