import { createSharedStatement } from '../db/batch.ts';
import { askedTogether, type Sql } from '../db/sql.ts';
import { kindOfId } from '../ids.ts';
import { type AccessTokenClaims, applicationsOf, issuedAt, revocableIds } from './access-token.ts';

/** What the database knows about a token, beside the token's own claims. */
export interface TokenState {
  /** Whether all of the token's {@link applicationsOf} exist. */
  readonly clientsExist: boolean;
  readonly isRevoked: boolean;
  /** Null when the subject is not a user, or the user was deleted; then the next two are null too. */
  readonly userId: string | null;
  readonly isSuspended: boolean | null;
  readonly tokensValidAfter: Date | null;
}

/** The column `clientsExist`: whether each of a token's {@link applicationsOf} exists, given SQL for their array or null. */
const clientsExist = (clients: string) => `
  (SELECT count(*) FROM "Application" i WHERE i."id" = ANY (${clients}))
    IS NOT DISTINCT FROM cardinality(${clients}) AS "clientsExist"`;

/**
 * The other columns of {@link TokenState}, for a statement that has the user's row, or none, as `u`.
 *
 * @param ids SQL for the array of the token's {@link revocableIds}.
 */
export const tokenStateColumns = (ids: string) => `
  EXISTS (SELECT 1 FROM "RevokedToken" t WHERE t."jti" = ANY (${ids})) AS "isRevoked",
  u."id" AS "userId", u."isSuspended", u."tokensValidAfter"`;

// Each word is looked up. Claims that are not verified yet may have thousands in one id, and others wait for them.
const possible = /^[^ ]{1,2048}$/;

/** Ids as one text, for {@link splitIds}: one word each, be it one that is no id. */
const joined = (ids: readonly string[]): string =>
  ids.map((id) => (possible.test(id) ? id : '-')).join(' ');

/** Token ids as one text, for {@link splitIds}: PostgreSQL has no arrays of arrays of different lengths. */
export const joinedIds = (claims: Parameters<typeof revocableIds>[0]): string =>
  joined(revocableIds(claims));

/** Applications as one text, for {@link splitIds}: null, which is never all of them, if there are none. */
export const joinedApplications = (ids: readonly string[]): string | null => joined(ids) || null;

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
    `SELECT ${clientsExist(splitIds('q.clients'))}, ${tokenStateColumns(splitIds('q.ids'))}
       FROM ${askedTogether(['clients', 'ids', 'subject'])}
       LEFT JOIN "User" u ON u."id" = q.subject
      ORDER BY q.n`,
    [
      claims.map((one) => joinedApplications(applicationsOf(one))),
      claims.map(joinedIds),
      claims.map(({ sub }) => sub),
    ],
  );

/**
 * Why a token with a good signature is no longer accepted; undefined if it is. It may be revoked, its user or an
 * application that it came through may be deleted, its user may be suspended, or it may be older than the user's last
 * suspension, password change or sign-out.
 */
export const faultOfState = (claims: AccessTokenClaims, state: TokenState): string | undefined =>
  faultOfOrigin(state) ??
  (kindOfId(claims.sub) === 'User' ? faultOfUser(state, issuedAt(claims)) : undefined);

/** Why a token is no longer accepted, whoever its subject is; undefined if it is. */
export function faultOfOrigin({
  isRevoked,
  clientsExist,
}: Pick<TokenState, 'isRevoked' | 'clientsExist'>): string | undefined {
  if (isRevoked) return 'token revoked';
  return clientsExist ? undefined : 'token of an application that is gone';
}

/** Whether a user exists and is not suspended. */
export const isActiveUser = ({
  userId,
  isSuspended,
}: Pick<TokenState, 'userId' | 'isSuspended'>): boolean => userId !== null && !isSuspended;

/** Why a user's token of any type, issued at that instant, is no longer accepted; undefined if it is. */
export function faultOfUser(
  state: Pick<TokenState, 'userId' | 'isSuspended' | 'tokensValidAfter'>,
  at: Date,
): string | undefined {
  if (!isActiveUser(state)) return 'token of an inactive user';
  const { tokensValidAfter } = state;
  return tokensValidAfter && at <= tokensValidAfter ? 'token no longer valid' : undefined;
}

const readTokenState = createSharedStatement(readTokenStates);

/**
 * Reads why a token with a good signature is no longer accepted; undefined if it is. Concurrent requests share a
 * statement.
 */
export const readTokenFault = async (
  sql: Sql,
  claims: AccessTokenClaims,
): Promise<string | undefined> => faultOfState(claims, await readTokenState(sql, claims));
