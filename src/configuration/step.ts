import type { Call, KindName } from './kinds.ts';

/** The ids of records by their kind and what people call them; grows as records are created. */
export class Ids {
  readonly #ids = new Map<string, string>();
  readonly #places = new Map<string, string>();

  add(kind: KindName, name: string, id: string): void {
    this.#ids.set(`${kind} ${name}`, id);
  }

  /** Tells the id of the record that stands at a place of the document: several may share a name. */
  place(path: readonly string[], id: string): void {
    this.#places.set(path.join('.'), id);
  }

  /** The id of the record at a place of the document. @throws {Unmade} if it could not be created. */
  at(path: readonly string[]): string {
    const id = this.#places.get(path.join('.'));
    if (id === undefined) throw new Unmade();
    return id;
  }

  /** Undefined if the record could not be created. */
  find(kind: KindName, name: string): string | undefined {
    return this.#ids.get(`${kind} ${name}`);
  }

  /** @throws {Unmade} if one of the records could not be created. */
  all(kind: KindName, names: readonly string[]): string[] {
    return names.map((name) => {
      const id = this.find(kind, name);
      if (id === undefined) throw new Unmade();
      return id;
    });
  }
}

/** A step depends on a record whose creation was refused. That fault is told already. */
export class Unmade extends Error {}

/** One change that a document leads to. */
export interface Step {
  readonly kind: KindName;
  /** Where the record stands in the document; empty for one that it leaves out. */
  readonly path: readonly string[];
  /** What people call the record. */
  readonly name: string;
  /** The record's id; undefined for one to create. */
  readonly id?: string | undefined;
  /** Creates, changes or deletes the record; undefined if only its links change. */
  readonly call?: ((ids: Ids) => Call) | undefined;
  /** Changes the links of the record. */
  readonly links?: ((ids: Ids, id: string) => readonly Call[]) | undefined;
}
