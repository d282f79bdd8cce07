import { withCommitCheck } from '../../db/transaction.ts';
import { noting } from './asked.ts';
import { type Opening, openingsOf } from './openings.ts';
import { type Granter, mayDoEverything } from './setter-scopes.ts';

/** What the given fields of an operation's input can open. */
export function openingsOfInput(operation: string, input: object): ReadonlySet<Opening> {
  const row = openingsOf[operation];
  if (!row) throw new Error(`What ${operation} can open is not in the table.`);
  return new Set(
    Object.entries(input).flatMap(([field, value]) => {
      const opening = row[field];
      if (opening === undefined)
        throw new Error(`What ${operation}.${field} can open is not in the table.`);
      return value === undefined ? [] : (opening ?? []);
    }),
  );
}

/**
 * Runs an operation, which can commit only after the checks that its input needs. A forgotten check is a fault for
 * every caller without `all`, and no way to more rights. So is an operation that anybody could call: the checks would
 * take nobody for Signet itself.
 *
 * @param operation The name of the mutation.
 */
export function guarded<T>(
  granter: Granter,
  { operation, input }: { readonly operation: string; readonly input: object },
  run: () => Promise<T>,
): Promise<T> {
  const needed = openingsOfInput(operation, input);
  if (granter.caller == null) throw new Error(`${operation} was called by nobody.`);
  if (mayDoEverything(granter) || needed.size === 0) return run();
  const done = new Set<Opening>();
  const check = () => {
    const forgotten = needed.difference(done);
    if (forgotten.size === 0) return;
    throw new Error(`${operation} did not ask whether it may open ${[...forgotten].join(', ')}.`);
  };
  return noting(done, () => withCommitCheck(check, run));
}
