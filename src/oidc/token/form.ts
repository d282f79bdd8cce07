import { isUtf8 } from 'node:buffer';
import { InvalidRequest, InvalidTarget } from './oauth-errors.ts';

/** The parameters of a token request. One without a value counts as absent (RFC 6749 §3.2). */
export class Form {
  readonly #values: ReadonlyMap<string, string>;
  readonly #isResourceRepeated: boolean;

  constructor(values: ReadonlyMap<string, string>, isResourceRepeated: boolean) {
    this.#values = values;
    this.#isResourceRepeated = isResourceRepeated;
  }

  /** The parameter's value; undefined if it is absent. */
  find(name: string): string | undefined {
    return this.#values.get(name) || undefined;
  }

  /** @throws {InvalidRequest} when the parameter is absent. */
  get(name: string): string {
    const value = this.find(name);
    if (value === undefined) throw new InvalidRequest(`${name} is missing`);
    return value;
  }

  /** The form with other values of some parameters: what becomes of each that is there. */
  with(names: Iterable<string>, become: (value: string) => string): Form {
    const others = [...names].flatMap((name) => {
      const value = this.find(name);
      const other = value === undefined ? value : become(value);
      return other === undefined || other === value ? [] : [[name, other] as const];
    });
    if (others.length === 0) return this;
    return new Form(new Map([...this.#values, ...others]), this.#isResourceRepeated);
  }

  /**
   * The one resource indicator of the request.
   *
   * @throws {InvalidRequest} when there is none. {@link InvalidTarget} when there are several: a token is for one.
   */
  getResource(): string {
    if (this.#isResourceRepeated) throw new InvalidTarget('resource must be given once');
    return this.get('resource');
  }
}

/**
 * Reads `application/x-www-form-urlencoded`.
 *
 * @throws {InvalidRequest} when it is not UTF-8, or a parameter other than `resource` is repeated (RFC 6749 §3.2).
 *   RFC 8707 §2 allows several `resource` parameters; the grant decides about them.
 */
export function parseForm(body: Buffer): Form {
  if (!isUtf8(body)) throw new InvalidRequest('the body is not UTF-8');
  const values = new Map<string, string>();
  let isResourceRepeated = false;
  for (const pair of body.toString('utf8').split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decodeFormText(equals === -1 ? pair : pair.slice(0, equals));
    const value = equals === -1 ? '' : decodeFormText(pair.slice(equals + 1));
    if (name === undefined || value === undefined) {
      throw new InvalidRequest('a parameter is not percent-encoded UTF-8');
    }
    if (values.has(name)) {
      if (name !== 'resource') throw new InvalidRequest('a parameter is repeated');
      isResourceRepeated = true;
    }
    values.set(name, value);
  }
  return new Form(values, isResourceRepeated);
}

/** Decodes form encoding (RFC 6749 Appendix B); undefined if the text is not encoded that way. */
export function decodeFormText(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return undefined;
  }
}
