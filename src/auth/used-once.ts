import { hash } from 'node:crypto';
import { createSharedStatement } from '../db/batch.ts';
import type { Sql } from '../db/sql.ts';

/** Something that may be used once, until it expires. */
interface OneUse {
  /** What it is, whose, and its own id, such as a `jti`: as sent, of any length. */
  readonly what: readonly string[];
  readonly expiresAt: Date;
  readonly at: Date;
}

// Rows in the order of their ids, so that two nodes never wait for each other. One that has expired may come again.
const statement = `
  INSERT INTO "UsedToken" AS t ("id", "expiresAt")
  SELECT q.id, q."expiresAt" FROM unnest($2::text[], $3::timestamptz[]) AS q(id, "expiresAt") ORDER BY q.id
  ON CONFLICT ("id") DO UPDATE SET "expiresAt" = excluded."expiresAt" WHERE t."expiresAt" <= $1::timestamptz
  RETURNING "id"`;

const idOf = ({ what }: OneUse) => hash('sha256', JSON.stringify(what), 'base64url');

// Each use has the answer whether it was the first.
async function useAll(sql: Sql, uses: readonly OneUse[]): Promise<boolean[]> {
  const ids = uses.map(idOf);
  const first = new Map<string, OneUse>();
  for (const [index, use] of uses.entries()) {
    const id = ids[index] as string;
    if (!first.has(id)) first.set(id, use);
  }
  const rows = await sql.query<{ id: string }>('use-once', statement, [
    uses.at(-1)?.at.toISOString(),
    [...first.keys()],
    [...first.values()].map(({ expiresAt }) => expiresAt.toISOString()),
  ]);
  const inserted = new Set(rows.map(({ id }) => id));
  return uses.map((use, index) => {
    const id = ids[index] as string;
    return inserted.has(id) && first.get(id) === use;
  });
}

/**
 * Uses something that may be used once, on any node. Concurrent uses share a statement.
 *
 * @returns Whether this was its first use.
 */
export const useOnce = createSharedStatement(useAll);
