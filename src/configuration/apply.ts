import type { GraphQLSchema } from 'graphql';
import { createQueue } from '../admission/queue.ts';
import { aroundHere } from '../db/around.ts';
import { lockName } from '../db/lock.ts';
import { untold } from '../db/told.ts';
import { inOneTransaction, sqlOf, type Transaction, transaction } from '../db/transaction.ts';
import { ConfigurationMovedError, InvalidInputError } from '../errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { assertMayCall } from '../graphql/operations/scopes.ts';
import { requestError } from '../graphql/request-error.ts';
import { type Change, changesBetween } from './changes.ts';
import { readDocument } from './document.ts';
import type { KindName } from './kinds.ts';
import { Moved, runSteps } from './run-steps.ts';
import { mutationsOfSecrets } from './secrets.ts';
import { readState, type State } from './state.ts';
import { stepsTo } from './steps.ts';

/** What a document comes to. */
export interface Plan {
  /** The digest of the configuration that it was compared with. */
  readonly digest: string;
  readonly changes: readonly Change[];
  /** The events that the changes raise, in their order: their names in the catalogue. */
  readonly events: readonly { readonly type: string }[];
  readonly warnings: readonly { readonly message: string }[];
}

interface Wish {
  /** YAML or JSON. */
  readonly document: string;
  /** The kinds of which it names all that may stay. */
  readonly prune?: readonly KindName[] | null | undefined;
  /** The digest that the configuration must have. */
  readonly expectedDigest?: string | null | undefined;
}

/**
 * Finds what a document would change: the changes are made by the operations that make them in earnest, and undone.
 *
 * @throws {InvalidInputError} {@link NotAllowedError} {@link ConfigurationMovedError} when others change the same
 *   records meanwhile. FORBIDDEN as for {@link applyConfiguration}.
 */
export const planConfiguration = (
  context: GraphQLContext,
  schema: GraphQLSchema,
  wish: Wish,
): Promise<Plan> => make(context, schema, wish, { isRehearsal: true });

/**
 * Makes the configuration what a document wants, in one transaction, with all events, or not at all.
 *
 * @throws {InvalidInputError} with a path into the document for each fault; {@link NotAllowedError};
 *   {@link ConfigurationMovedError} when the configuration has another digest, or others change the same records
 *   meanwhile. FORBIDDEN when the caller lacks the scope of one of the operations, or
 *   that of setting a secret which the document gives.
 */
export const applyConfiguration = (
  context: GraphQLContext,
  schema: GraphQLSchema,
  wish: Wish,
): Promise<Plan> => make(context, schema, wish, { isRehearsal: false });

/** How many records a document may change at once: a transaction has 15 seconds. */
const maxChanges = 1_000;

/** How many documents wait in a process; beyond that they are refused. */
export const maxWaitingConfigurations = 20;

// Each holds a connection until it is done, seconds for a large one, and a dozen at once would leave none to sign-ins.
const oneAfterAnother = createQueue({
  concurrency: 1,
  maxWaiting: maxWaitingConfigurations,
  busy: () =>
    requestError(
      'RATE_LIMITED',
      'Too many configurations are being compared. Try again in a few seconds.',
    ),
});

async function make(
  context: GraphQLContext,
  schema: GraphQLSchema,
  wish: Wish,
  { isRehearsal }: { readonly isRehearsal: boolean },
): Promise<Plan> {
  const wanted = readDocument(schema, wish.document);
  for (const mutation of mutationsOfSecrets(wanted))
    assertMayCall(context.caller, schema, mutation);
  const prune = new Set(wish.prune ?? []);
  const keep =
    context.actor.type === 'APPLICATION' ? context.actor.id : (context.actor.clientId ?? null);
  const { database } = context;
  const work = async () => {
    // One after the other, so that each compares with what the one before has left.
    if (!isRehearsal)
      await transaction(database, async (tx) => untold(await lockName(tx, 'signet:configuration')));
    const before = await readState(context, schema);
    if (wish.expectedDigest != null && wish.expectedDigest !== before.digest) throw new Moved();
    const { steps, ids, warnings } = stepsTo(schema, wanted, before, { prune, keep });
    if (steps.length > maxChanges) throw tooManyChanges(steps.length);
    await runSteps(context, schema, { steps, ids });
    const after = steps.length === 0 ? before : await readState(context, schema);
    return { before, after, warnings };
  };
  try {
    let start = 0n;
    const compare = () =>
      inOneTransaction(database, work, {
        isRehearsal,
        first: async (tx) => {
          start = await lastEventOf(tx);
        },
        last: async (done, tx) => ({
          ...planOf(done),
          events: tx ? await eventsSince(tx, start) : [],
        }),
      });
    // What holds a connection already would hold it while it waits, from whoever is first in the queue.
    return await (aroundHere()?.tx ? compare() : oneAfterAnother.run(compare));
  } catch (error) {
    if (!(error instanceof Moved)) throw error;
    throw new ConfigurationMovedError((await readState(context, schema)).digest);
  }
}

const tooManyChanges = (count: number) =>
  new InvalidInputError([
    {
      path: ['document'],
      message: `changes ${count} records, and at most ${maxChanges} are changed at once: apply a part of it first`,
      code: 'TOO_LONG',
    },
  ]);

const planOf = ({
  before,
  after,
  warnings,
}: {
  readonly before: State;
  readonly after: State;
  readonly warnings: readonly string[];
}) => ({
  digest: before.digest,
  changes: changesBetween(before, after),
  warnings: warnings.map((message) => ({ message })),
});

async function lastEventOf(tx: Transaction): Promise<bigint> {
  const [row] = await sqlOf(tx).query<{ position: string }>(
    'last-event-of-transaction',
    `SELECT coalesce(max("position"), 0)::text AS "position" FROM "Event" WHERE "xid" = pg_current_xact_id()`,
    [],
  );
  return BigInt(row?.position ?? 0);
}

const eventsSince = (tx: Transaction, position: bigint) =>
  sqlOf(tx).query<{ type: string }>(
    'events-of-transaction',
    `SELECT "type" FROM "Event"
      WHERE "xid" = pg_current_xact_id() AND "position" > $1::bigint ORDER BY "position"`,
    [position.toString()],
  );
