import { shown } from '../configuration/plan.ts';

/** Tells, line by line, what an import could not take, and why. */
export class Findings {
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  say(place: string, why: string): void {
    this.#write(`${shown(place)}: ${shown(why)}\n`);
  }
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value says nothing: what exports write for a setting that nobody has set. */
const isNothing = (value: unknown): boolean =>
  value == null ||
  value === false ||
  value === '' ||
  value === 'false' ||
  (typeof value === 'object' && Object.values(value).every(isNothing));

// What people know a record by, in the three systems.
const labels = ['name', 'clientId', 'alias', 'connectorName', 'indicator', 'username', 'email'];

// A keyword of Auth0's deploy CLI, which an export can preserve.
const unset = /##\w+##|@@\w+@@/;

/**
 * A value in an export, with its place. It remembers which of its fields were asked for, so that all others can be told.
 * A field of another type than the one asked for counts as absent, and is told.
 */
export class Part {
  readonly value: unknown;
  readonly place: string;
  readonly findings: Findings;
  readonly #separator: string;
  readonly #asked = new Set<string>();

  /** @param separator What stands between its place and that of a part of it: after a file a colon, else a dot. */
  constructor(value: unknown, place: string, findings: Findings, separator = ': ') {
    this.value = value;
    this.place = place;
    this.findings = findings;
    this.#separator = separator;
  }

  /** Says why this is not taken. */
  leave(why: string): void {
    this.findings.say(this.place, why);
  }

  /** A field. */
  get(field: string): Part {
    this.#asked.add(field);
    const value =
      isMap(this.value) && Object.hasOwn(this.value, field) ? this.value[field] : undefined;
    return this.#child(field, value);
  }

  /** Another value in this place: the same, read. */
  with(value: unknown): Part {
    return new Part(value, this.place, this.findings, this.#separator);
  }

  has(field: string): boolean {
    return isMap(this.value) && Object.hasOwn(this.value, field) && this.value[field] != null;
  }

  /** A text. Numbers are texts too: YAML does not tell them apart. */
  text(field: string): string | undefined {
    return this.get(field).#text();
  }

  number(field: string): number | undefined {
    const { value, place } = this.get(field);
    if (value == null || value === '') return undefined;
    const number = typeof value === 'string' ? Number(value) : value;
    return typeof number === 'number' && Number.isFinite(number)
      ? number
      : this.#misfit(place, 'a number');
  }

  flag(field: string): boolean | undefined {
    const { value, place } = this.get(field);
    if (value == null || value === '') return undefined;
    if (value === 'true' || value === 'false') return value === 'true';
    return typeof value === 'boolean' ? value : this.#misfit(place, 'true or false');
  }

  /** The items of a list. */
  list(field: string): Part[] {
    const part = this.get(field);
    if (part.value == null) return [];
    return Array.isArray(part.value) ? part.items() : (this.#misfit(part.place, 'a list') ?? []);
  }

  /** The texts of a list. */
  texts(field: string): string[] {
    return this.list(field).flatMap((item) => item.#text() ?? []);
  }

  /** The items of this list. */
  items(): Part[] {
    if (!Array.isArray(this.value)) return [];
    return this.value.map((item: unknown, index) => {
      const label = isMap(item) && labels.map((name) => item[name]).find((one) => one);
      return this.#child(typeof label === 'string' ? `${index} (${label})` : `${index}`, item);
    });
  }

  /** The fields of this map, each with its value. */
  entries(): [string, Part][] {
    return isMap(this.value)
      ? Object.keys(this.value).map((field) => [field, this.get(field)])
      : [];
  }

  /** Passes over fields that mean nothing elsewhere. */
  ignore(...fields: readonly string[]): void {
    for (const field of fields) this.#asked.add(field);
  }

  /** The fields that say something, and that nobody has asked for. */
  unread(): string[] {
    if (!isMap(this.value)) return [];
    return Object.entries(this.value)
      .filter(([field, value]) => !this.#asked.has(field) && !isNothing(value))
      .map(([field]) => field);
  }

  /** Says which fields are not taken, because nobody has asked for them. */
  leaveUnread(why = 'Signet has no such setting'): void {
    const fields = this.unread();
    if (fields.length > 0) this.leave(`${fields.join(', ')}: ${why}`);
  }

  #text(): string | undefined {
    const { value, place } = this;
    if (value == null) return undefined;
    if (typeof value !== 'string' && typeof value !== 'number') return this.#misfit(place, 'text');
    const text = String(value);
    if (!unset.test(text)) return text;
    this.leave(`${text} stands for a value that is not in the export`);
    return undefined;
  }

  #child(field: string, value: unknown): Part {
    return new Part(value, `${this.place}${this.#separator}${field}`, this.findings, '.');
  }

  #misfit(place: string, what: string): undefined {
    this.findings.say(place, `must be ${what}, and is not taken`);
    return undefined;
  }
}
