import type { Sql } from '../db/sql.ts';
import { kindOfId } from '../ids.ts';
import type { Actor, Services } from '../services.ts';
import {
  type AccessTokenClaims,
  issuedAt,
  revocableIds,
  TokenFault,
  verifyAccessToken,
} from './access-token.ts';
import { managementIndicator } from './scopes.ts';

/** The caller of the management API, proved by an access token or by a session of the console. */
export interface Caller {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: Date;
  readonly claims: AccessTokenClaims;
  /** The session of the console that stands for a token; absent with a token. */
  readonly consoleSessionId?: string;
}

/** What the database knows about a token, beside the token's own claims. */
export interface TokenState {
  readonly clientExists: boolean;
  readonly isRevoked: boolean;
  /** Null when the subject is not a user, or the user was deleted. */
  readonly user: { readonly isSuspended: boolean; readonly tokensValidAfter: Date | null } | null;
}

/**
 * Why a token with a good signature is no longer accepted; undefined if it is. It may be revoked, its application or
 * user may be deleted, its user may be suspended, or it may be older than the user's last suspension, password change
 * or sign-out.
 */
export function faultOfState(claims: AccessTokenClaims, state: TokenState): string | undefined {
  if (state.isRevoked) return 'token revoked';
  if (!state.clientExists) return 'token of an application that is gone';
  if (kindOfId(claims.sub) !== 'User') return undefined;
  if (!state.user || state.user.isSuspended) return 'token of an inactive user';
  const { tokensValidAfter } = state.user;
  if (tokensValidAfter && issuedAt(claims) <= tokensValidAfter) return 'token no longer valid';
  return undefined;
}

/** Reads the state of a token in one statement. */
export async function readTokenState(sql: Sql, claims: AccessTokenClaims): Promise<TokenState> {
  const [row] = await sql.query<{
    clientExists: boolean;
    isRevoked: boolean;
    userId: string | null;
    isSuspended: boolean;
    tokensValidAfter: Date | null;
  }>(
    'token-state',
    `SELECT EXISTS (SELECT 1 FROM "Application" WHERE "id" = $1) AS "clientExists",
            EXISTS (SELECT 1 FROM "RevokedToken" WHERE "jti" = ANY ($2::text[])) AS "isRevoked",
            u."id" AS "userId", u."isSuspended", u."tokensValidAfter"
       FROM (SELECT 1) AS one LEFT JOIN "User" u ON u."id" = $3`,
    [claims.client_id, revocableIds(claims), claims.sub],
  );
  if (!row) throw new Error('A statement without FROM gave no row.');
  return {
    clientExists: row.clientExists,
    isRevoked: row.isRevoked,
    user: row.userId === null ? null : row,
  };
}

/** Why a caller whose token was accepted is no longer accepted; undefined if it still is. */
export async function faultOfCaller(
  { clock, database }: Pick<Services, 'clock' | 'database'>,
  { claims, expiresAt }: Caller,
): Promise<string | undefined> {
  if (expiresAt <= clock.now()) return 'token expired';
  return faultOfState(claims, await readTokenState(database.tokens, claims));
}

/**
 * Finds out who calls the management API.
 *
 * @param authorization The `Authorization` header: `Bearer` and an access token (RFC 6750 §2.1).
 * @throws {TokenFault} when the header or its token cannot be accepted.
 */
export async function authenticate(services: Services, authorization: string): Promise<Caller> {
  const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? [];
  if (!token) throw new TokenFault('the Authorization header is not "Bearer" and a token');
  const claims = await verifyAccessToken(services, token, { audience: managementIndicator });
  const fault = faultOfState(claims, await readTokenState(services.database.tokens, claims));
  if (fault) throw new TokenFault(fault);
  return {
    actor:
      kindOfId(claims.sub) === 'User'
        ? { type: 'USER', id: claims.sub, clientId: claims.client_id }
        : { type: 'APPLICATION', id: claims.client_id },
    scopes: new Set(claims.scope?.split(' ')),
    expiresAt: new Date(claims.exp * 1000),
    claims,
  };
}
