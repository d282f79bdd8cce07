import pg from 'pg';

/** The parts of `pg` that its types leave out. */
export interface Wire {
  readonly stream: { cork(): void; uncork(): void };
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { name: string; text: string }): void;
  bind(portal: object): void;
  execute(portal: object): void;
}
type Callback = (error: Error | null, result: pg.QueryResult) => void;
interface QueryInside {
  name: string | undefined;
  requiresPreparation(): boolean;
  prepare(wire: Wire): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, wire: Wire): void;
  handleError(error: Error, wire: Wire): void;
}
// The types of `pg` leave out how a query uses the connection.
const QueryInside = pg.Query as unknown as new (
  config: object,
  callback?: Callback,
) => QueryInside & pg.Submittable;

/**
 * A statement, sent with others before it whose answers are not wanted: BEGIN, or settings. One Sync ends all: if one
 * fails, PostgreSQL skips those after it. Without BEGIN they are one transaction too.
 */
export class PrefixedQuery extends QueryInside {
  readonly #prefix: readonly string[];
  #hidden: string | undefined;
  #unanswered: number;

  constructor(prefix: readonly string[], config: object, callback?: Callback) {
    super(config, callback);
    this.#prefix = prefix;
    this.#unanswered = prefix.length;
  }

  override requiresPreparation(): boolean {
    return true;
  }

  override prepare(wire: Wire): void {
    for (const text of this.#prefix) {
      wire.parse({ name: '', text });
      wire.bind({});
      wire.execute({});
    }
    super.prepare(wire);
    // The answer to the prefix must not be taken for the answer to the statement.
    this.#hidden = this.name;
    this.name = undefined;
  }

  override handleDataRow(message: object): void {
    if (this.#unanswered === 0) super.handleDataRow(message);
  }

  override handleCommandComplete(message: object, wire: Wire): void {
    if (this.#unanswered === 0) {
      super.handleCommandComplete(message, wire);
      return;
    }
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.name = this.#hidden;
  }

  override handleError(error: Error, wire: Wire): void {
    if (this.#unanswered > 0 && this.#hidden) delete wire.submittedNamedStatements[this.#hidden];
    super.handleError(error, wire);
  }
}
