import type { Sql } from '../db/sql.ts';
import type { Services } from '../services.ts';
import { revocableIds } from './access-token.ts';
import { type Caller, faultOfState, type TokenState } from './caller.ts';

/** Watches the tokens of connections that stay open. */
export interface TokenWatch {
  /**
   * Watches a caller's token until it is no longer valid.
   *
   * @param onFault Called once, with the class of fault, when the token expires or is refused.
   * @returns A function that ends the watch.
   */
  watch(caller: Caller, onFault: (fault: string) => void): () => void;
  stop(): Promise<void>;
}

const expiryMs = 1_000;
const stateMs = 5_000;

/** Starts the watch. It notices expiry within a second, and a change in the database within five. */
export function startTokenWatch({
  clock,
  database,
  log,
}: Pick<Services, 'clock' | 'database' | 'log'>): TokenWatch {
  const watched = new Map<symbol, { caller: Caller; onFault: (fault: string) => void }>();
  let underWay = Promise.resolve();

  function refuse(entry: symbol, fault: string) {
    const watcher = watched.get(entry);
    if (watched.delete(entry)) watcher?.onFault(fault);
  }

  function checkExpiry() {
    const now = clock.now();
    for (const [entry, { caller }] of watched) {
      if (caller.expiresAt <= now) refuse(entry, 'token expired');
    }
  }

  // One statement for any number of connections.
  async function checkState(): Promise<void> {
    const entries = [...watched];
    if (entries.length === 0) return;
    const claims = entries.map(([, { caller }]) => caller.claims);
    try {
      const states = await readTokenStates(database.tokens, claims);
      for (const [index, [entry, { caller }]] of entries.entries()) {
        const state = states[index];
        const fault = state && faultOfState(caller.claims, state);
        if (fault) refuse(entry, fault);
      }
    } catch (error) {
      log.warn({ err: error }, 'the tokens of open connections could not be checked');
    }
  }

  const timers = [
    setInterval(checkExpiry, expiryMs),
    setInterval(() => {
      underWay = underWay.then(checkState);
    }, stateMs),
  ];
  return {
    watch(caller, onFault) {
      const entry = Symbol();
      watched.set(entry, { caller, onFault });
      return () => void watched.delete(entry);
    },
    async stop() {
      for (const timer of timers) clearInterval(timer);
      watched.clear();
      await underWay;
    },
  };
}

async function readTokenStates(
  sql: Sql,
  claims: readonly Caller['claims'][],
): Promise<TokenState[]> {
  const rows = await sql.query<{
    clientExists: boolean;
    isRevoked: boolean;
    userId: string | null;
    isSuspended: boolean;
    tokensValidAfter: Date | null;
  }>(
    'token-states',
    `SELECT EXISTS (SELECT 1 FROM "Application" a WHERE a."id" = t."clientId") AS "clientExists",
            EXISTS (SELECT 1 FROM "RevokedToken" r
                     WHERE r."jti" = ANY (string_to_array(t."jtis", ' '))) AS "isRevoked",
            u."id" AS "userId", u."isSuspended", u."tokensValidAfter"
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS t("clientId", "jtis", "sub", "number")
       LEFT JOIN "User" u ON u."id" = t."sub"
      ORDER BY t."number"`,
    [
      claims.map(({ client_id: clientId }) => clientId),
      claims.map((each) => revocableIds(each).join(' ')),
      claims.map(({ sub }) => sub),
    ],
  );
  return rows.map(({ clientExists, isRevoked, userId, ...user }) => ({
    clientExists,
    isRevoked,
    user: userId === null ? null : user,
  }));
}
