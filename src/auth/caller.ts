import { createBatch } from '../db/batch.ts';
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

/** The caller of the management API, proved by an access token. */
export interface Caller {
  readonly actor: Actor;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: Date;
  readonly claims: AccessTokenClaims;
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

/** Reads the states of tokens in one statement. */
export async function readTokenStates(
  sql: Sql,
  claims: readonly AccessTokenClaims[],
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

// As for an exchange: see grant-state.ts.
const maxBatchSize = 50;
const maxBatchesUnderWay = 2;
const readers = new WeakMap<Sql, (claims: AccessTokenClaims) => Promise<TokenState>>();

/** Reads the state of a token; those that are asked for together in one statement. */
export function readTokenState(sql: Sql, claims: AccessTokenClaims): Promise<TokenState> {
  let read = readers.get(sql);
  if (!read) {
    read = createBatch((all) => readTokenStates(sql, all), maxBatchSize, maxBatchesUnderWay);
    readers.set(sql, read);
  }
  return read(claims);
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
