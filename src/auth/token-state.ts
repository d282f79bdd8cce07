import { createBatch } from '../db/batch.ts';
import type { Sql } from '../db/sql.ts';
import { kindOfId } from '../ids.ts';
import { type AccessTokenClaims, issuedAt, revocableIds } from './access-token.ts';

/** What the database knows about a token, beside the token's own claims. */
export interface TokenState {
  readonly clientExists: boolean;
  readonly isRevoked: boolean;
  /** Null when the subject is not a user, or the user was deleted; then the next two are null too. */
  readonly userId: string | null;
  readonly isSuspended: boolean | null;
  readonly tokensValidAfter: Date | null;
}

/**
 * The columns of {@link TokenState}, for a statement that has the user's row, or none, as `u`.
 *
 * @param token SQL for the id of the token's application, and for the array of its {@link revocableIds}.
 */
export const tokenStateColumns = (token: { readonly client: string; readonly ids: string }) => `
  EXISTS (SELECT 1 FROM "Application" i WHERE i."id" = ${token.client}) AS "clientExists",
  EXISTS (SELECT 1 FROM "RevokedToken" t WHERE t."jti" = ANY (${token.ids})) AS "isRevoked",
  u."id" AS "userId", u."isSuspended", u."tokensValidAfter"`;

/** Token ids as one text, for {@link splitIds}: PostgreSQL has no arrays of arrays of different lengths. */
export const joinedIds = (claims: Parameters<typeof revocableIds>[0]): string =>
  revocableIds(claims).join(' ');

/** SQL for the array that {@link joinedIds} wrote as text: as a subquery, or it is split again for each row compared. */
export const splitIds = (column: string): string =>
  `(SELECT string_to_array(${column}, ' '))::text[]`;

/** Reads the states of tokens, in their order, in one statement for any number of them. */
export const readTokenStates = (
  sql: Sql,
  claims: readonly AccessTokenClaims[],
): Promise<TokenState[]> =>
  sql.query<TokenState>(
    'token-states',
    `SELECT ${tokenStateColumns({ client: 'q.client', ids: splitIds('q.ids') })}
       FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS q(client, ids, subject, n)
       LEFT JOIN "User" u ON u."id" = q.subject
      ORDER BY q.n`,
    [
      claims.map(({ client_id: clientId }) => clientId),
      claims.map(joinedIds),
      claims.map(({ sub }) => sub),
    ],
  );

/**
 * Why a token with a good signature is no longer accepted; undefined if it is. It may be revoked, its application or
 * user may be deleted, its user may be suspended, or it may be older than the user's last suspension, password change
 * or sign-out.
 */
export function faultOfState(claims: AccessTokenClaims, state: TokenState): string | undefined {
  if (state.isRevoked) return 'token revoked';
  if (!state.clientExists) return 'token of an application that is gone';
  return kindOfId(claims.sub) === 'User' ? faultOfUser(state, issuedAt(claims)) : undefined;
}

/** Why a user's token of any type, issued at that instant, is no longer accepted; undefined if it is. */
export function faultOfUser(
  {
    userId,
    isSuspended,
    tokensValidAfter,
  }: Pick<TokenState, 'userId' | 'isSuspended' | 'tokensValidAfter'>,
  at: Date,
): string | undefined {
  if (userId === null || isSuspended) return 'token of an inactive user';
  return tokensValidAfter && at <= tokensValidAfter ? 'token no longer valid' : undefined;
}

// As for an exchange: see oidc/token/grant-state.ts.
const maxBatchSize = 50;
const maxBatchesUnderWay = 2;
const readers = new WeakMap<Sql, (claims: AccessTokenClaims) => Promise<TokenState>>();

/**
 * Reads why a token with a good signature is no longer accepted; undefined if it is. Concurrent requests share a
 * statement.
 */
export async function readTokenFault(
  sql: Sql,
  claims: AccessTokenClaims,
): Promise<string | undefined> {
  let read = readers.get(sql);
  if (!read) {
    read = createBatch((all) => readTokenStates(sql, all), maxBatchSize, maxBatchesUnderWay);
    readers.set(sql, read);
  }
  return faultOfState(claims, await read(claims));
}
