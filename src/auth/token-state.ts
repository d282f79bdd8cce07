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

/** SQL for the array that {@link joinedIds} wrote as text. */
export const splitIds = (column: string): string => `string_to_array(${column}, ' ')`;

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
  if (kindOfId(claims.sub) !== 'User') return undefined;
  if (state.userId === null || state.isSuspended) return 'token of an inactive user';
  const { tokensValidAfter } = state;
  if (tokensValidAfter && issuedAt(claims) <= tokensValidAfter) return 'token no longer valid';
  return undefined;
}

/** Reads why a token with a good signature is no longer accepted; undefined if it is. */
export async function readTokenFault(
  sql: Sql,
  claims: AccessTokenClaims,
): Promise<string | undefined> {
  // Not a list of one: every request pays for this, and with 1,000 revoked tokens a list costs three times as much.
  const [state] = await sql.query<TokenState>(
    'token-state',
    `SELECT ${tokenStateColumns({ client: '$1', ids: '$2::text[]' })}
       FROM (SELECT 1) AS one LEFT JOIN "User" u ON u."id" = $3`,
    [claims.client_id, revocableIds(claims), claims.sub],
  );
  if (!state) throw new Error('A statement that gives one row gave none.');
  return faultOfState(claims, state);
}
