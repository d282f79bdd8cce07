import { sqlOf, type Transaction } from '../../db/transaction.ts';

/** A part of a table that is partitioned by range: the rows from one bound to below another. */
export interface Part {
  readonly table: string;
  /** SQL for the bounds: a literal, MINVALUE or MAXVALUE. */
  readonly from: string;
  readonly to: string;
}

/** How a table is partitioned. */
export interface Whole {
  readonly table: string;
  /** The column whose ranges the parts are. */
  readonly key: string;
  /** Statements for each new part, beside what the whole has. */
  readonly also?: (part: string) => readonly string[];
}

// A statement that waits for a lock on a table keeps all later ones waiting.
const longestWaitMs = 200;

const run = async (tx: Transaction, ...statements: readonly string[]) => {
  for (const statement of statements) await sqlOf(tx).query('', statement, []);
};

/**
 * Keeps the changes of parts in this transaction from waiting for long.
 *
 * @throws lock_not_available (55P03), from a later statement, when somebody holds a table for longer.
 */
export const waitBriefly = (tx: Transaction) =>
  run(tx, `SET LOCAL lock_timeout = ${longestWaitMs}`);

/** Creates the table of a part, which takes rows of its range alone. It is no part yet. */
export async function createPart(tx: Transaction, whole: Whole, part: Part): Promise<void> {
  const { table, from, to } = part;
  const bounds = [
    ...(from === 'MINVALUE' ? [] : [`"${whole.key}" >= ${from}`]),
    ...(to === 'MAXVALUE' ? [] : [`"${whole.key}" < ${to}`]),
  ].join(' AND ');
  await run(
    tx,
    `CREATE TABLE "${table}" (LIKE "${whole.table}" INCLUDING DEFAULTS INCLUDING INDEXES)`,
    ...(whole.also?.(table) ?? []),
    // With it, an attachment reads no row.
    `ALTER TABLE "${table}" ADD CONSTRAINT "bounds" CHECK (${bounds})`,
  );
}

/** Makes a table a part. Readers and writers go on meanwhile. */
export const attachPart = (tx: Transaction, whole: Whole, { table, from, to }: Part) =>
  run(
    tx,
    `ALTER TABLE "${whole.table}" ATTACH PARTITION "${table}" FOR VALUES FROM (${from}) TO (${to})`,
    `ALTER TABLE "${table}" DROP CONSTRAINT "bounds"`,
  );

/** Makes a part a table of its own again. Nobody reads or writes the whole until the transaction ends. */
export const detachPart = (tx: Transaction, whole: Whole, table: string) =>
  run(tx, `ALTER TABLE "${whole.table}" DETACH PARTITION "${table}"`);

/** Drops a table that is no part any more. */
export const dropTable = (tx: Transaction, table: string) => run(tx, `DROP TABLE "${table}"`);

/** Gives a table another name. */
export const renameTable = (tx: Transaction, table: string, name: string) =>
  run(tx, `ALTER TABLE "${table}" RENAME TO "${name}"`);
