import { randomBytes } from 'node:crypto';
import { type AccessTokenClaims, newJti } from '../../auth/access-token.ts';
import { readHoldings } from '../../auth/granting/holdings.ts';
import { faultOfState } from '../../auth/token-state.ts';
import { toNumericDate } from '../../clock.ts';
import { NotFoundError } from '../../errors.ts';
import { newId } from '../../ids.ts';
import { digestOf } from '../../keys/digest.ts';
import type { Call, Services } from '../../services.ts';
import { endUserSession } from '../sessions/operations.ts';
import type { FirstPartyApp } from './app.ts';
import type { SignedIn } from './code.ts';
import { findSessionSecret, setSessionCookie } from './cookies.ts';

/** How long a session lasts. */
export const sessionMaxSeconds = 12 * 3600;
/** How old the stored time of the last request may become: not every request writes it. */
const renewAfterMs = 60_000;

type Store = Pick<Services, 'database' | 'clock' | 'issuer' | 'baseUrl'>;

/** A browser's `Cookie` header. */
type Cookies = string | undefined;

/** A browser's session at a first-party app, in force. */
export interface FirstPartySession {
  readonly id: string;
  readonly userId: string;
  /** The grant that it began with, as access tokens name it. */
  readonly grant: string;
  readonly scopes: ReadonlySet<string>;
  /** When it ends if nothing more is asked. */
  readonly expiresAt: Date;
  /** The claims of the access token that it stands for. */
  readonly claims: AccessTokenClaims;
}

/** Begins a session and returns the `Set-Cookie` header with its secret, of which only a digest is stored. */
export async function beginFirstPartySession(
  store: Store,
  app: FirstPartyApp,
  { userId, providerSessionId, grant }: SignedIn,
): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  const createdAt = store.clock.now();
  const held = await readScopes(store, app, [userId]);
  await store.database.prisma.firstPartySession.create({
    data: {
      id: newId('FirstPartySession'),
      digest: digestOf(secret),
      applicationId: app.applicationId,
      userId,
      providerSessionId,
      grant,
      scopes: [...(held.get(userId) ?? [])],
      createdAt,
      lastActiveAt: createdAt,
      expiresAt: new Date(createdAt.getTime() + sessionMaxSeconds * 1000),
    },
  });
  return setSessionCookie(store, app, secret, sessionMaxSeconds);
}

/** The scopes that each of these users has at an app now. */
const readScopes = async (
  { database }: Pick<Store, 'database'>,
  { scopes }: FirstPartyApp,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> =>
  scopes ? new Map(userIds.map((id) => [id, scopes])) : readHoldings(database.prisma, userIds);

interface Row {
  readonly id: string;
  readonly userId: string;
  readonly grant: string;
  readonly scopes: string[];
  readonly createdAt: Date;
  readonly lastActiveAt: Date;
  readonly expiresAt: Date;
  readonly isSuspended: boolean;
  readonly tokensValidAfter: Date | null;
  readonly isRevoked: boolean;
}

const selectSessions = `
  SELECT s."id", s."userId", s."grant", s."scopes", s."createdAt", s."lastActiveAt", s."expiresAt",
         u."isSuspended", u."tokensValidAfter",
         EXISTS (SELECT 1 FROM "RevokedToken" r WHERE r."jti" = s."grant") AS "isRevoked"
    FROM "FirstPartySession" s JOIN "User" u ON u."id" = s."userId"
   WHERE s."applicationId" = $1`;

const endOf = (
  { idleSeconds = sessionMaxSeconds }: FirstPartyApp,
  { lastActiveAt, expiresAt }: Pick<Row, 'lastActiveAt' | 'expiresAt'>,
): Date => new Date(Math.min(lastActiveAt.getTime() + idleSeconds * 1000, expiresAt.getTime()));

/** Why a session is over; undefined if it is in force. It ends by the same rules as an access token. */
function faultOfSession(
  { issuer, clock }: Store,
  app: FirstPartyApp,
  row: Row,
  held: ReadonlySet<string>,
): string | undefined {
  if (endOf(app, row) <= clock.now()) return 'session expired';
  const fault = faultOfState(claimsOf(issuer, app, row), { ...row, clientsExist: true });
  if (fault) return fault;
  return row.scopes.every((scope) => held.has(scope)) ? undefined : 'a role was taken away';
}

const claimsOf = (
  issuer: string,
  { applicationId, audience }: FirstPartyApp,
  { userId, grant, createdAt, expiresAt }: Row,
): AccessTokenClaims => ({
  iss: issuer,
  sub: userId,
  aud: audience,
  client_id: applicationId,
  iat: toNumericDate(createdAt),
  exp: toNumericDate(expiresAt),
  jti: newJti(createdAt),
  lineage: [grant],
});

/**
 * Finds the session of a browser, or by its id, and notes that it was used. A session that is over is deleted.
 *
 * @param options.isIdle Nobody caused the request: the session does not last longer for it.
 * @returns Undefined if it is over, or never was.
 */
export async function useFirstPartySession(
  store: Store,
  app: FirstPartyApp,
  by: { readonly cookies: Cookies } | { readonly id: string },
  { isIdle = false }: { readonly isIdle?: boolean } = {},
): Promise<FirstPartySession | undefined> {
  const { database, clock, issuer } = store;
  const row = await findRow(store, app, by);
  if (!row) return undefined;
  const { id, userId, grant } = row;
  const scopes = (await readScopes(store, app, [userId])).get(userId) ?? new Set<string>();
  if (faultOfSession(store, app, row, scopes)) {
    // It does not begin again when a suspension ends, or a role is given back.
    await database.prisma.firstPartySession.deleteMany({ where: { id } });
    return undefined;
  }
  const now = clock.now();
  const isRenewed = !isIdle && now.getTime() - row.lastActiveAt.getTime() >= renewAfterMs;
  const lastActiveAt = isRenewed ? now : row.lastActiveAt;
  if ((isRenewed && app.idleSeconds !== undefined) || scopes.size > row.scopes.length) {
    await database.prisma.firstPartySession.updateMany({
      where: { id },
      data: { lastActiveAt, scopes: [...scopes] },
    });
  }
  const expiresAt = endOf(app, { ...row, lastActiveAt });
  return { id, userId, grant, scopes, expiresAt, claims: claimsOf(issuer, app, row) };
}

async function findRow(
  { database, baseUrl }: Store,
  app: FirstPartyApp,
  by: Parameters<typeof useFirstPartySession>[2],
): Promise<Row | undefined> {
  const { applicationId } = app;
  if ('id' in by) {
    const sql = `${selectSessions} AND s."id" = $2`;
    return (
      await database.tokens.query<Row>('first-party-session-by-id', sql, [applicationId, by.id])
    )[0];
  }
  const secret = findSessionSecret({ baseUrl }, app, by.cookies);
  if (secret === undefined) return undefined;
  const sql = `${selectSessions} AND s."digest" = $2`;
  return (
    await database.tokens.query<Row>('first-party-session', sql, [applicationId, digestOf(secret)])
  )[0];
}

/** Why each of these sessions is over; no entry for those in force. */
export async function faultsOfSessions(
  store: Store,
  app: FirstPartyApp,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await store.database.tokens.query<Row>(
    'first-party-sessions',
    `${selectSessions} AND s."id" = ANY ($2::text[])`,
    [app.applicationId, [...ids]],
  );
  const held = await readScopes(
    store,
    app,
    rows.map(({ userId }) => userId),
  );
  const faults = new Map(ids.map((id) => [id, 'signed out']));
  for (const row of rows) {
    const fault = faultOfSession(store, app, row, held.get(row.userId) ?? new Set());
    if (fault) faults.set(row.id, fault);
    else faults.delete(row.id);
  }
  return faults;
}

/** The stored session of a browser, in force or not. */
const whereOf = (store: Pick<Store, 'baseUrl'>, app: FirstPartyApp, cookies: Cookies) => ({
  digest: digestOf(findSessionSecret(store, app, cookies) ?? ''),
  applicationId: app.applicationId,
});

/** Ends the session of a browser that has begun another (OWASP ASVS 5.0, 7.2.4). */
export async function deleteFirstPartySession(
  store: Pick<Store, 'database' | 'baseUrl'>,
  app: FirstPartyApp,
  cookies: Cookies,
): Promise<void> {
  const where = whereOf(store, app, cookies);
  await store.database.prisma.firstPartySession.deleteMany({ where });
}

/**
 * Signs a browser out: ends its session, and the provider's with all that came from it. Raises `User.Session.Ended`.
 */
export async function signOut(
  services: Services & Call,
  app: FirstPartyApp,
  cookies: Cookies,
): Promise<void> {
  const { prisma } = services.database;
  const where = whereOf(services, app, cookies);
  const session = await prisma.firstPartySession.findUnique({ where });
  if (!session) return;
  await prisma.firstPartySession.deleteMany({ where });
  const { userId, providerSessionId: sessionId } = session;
  try {
    await endUserSession(
      { ...services, actor: { type: 'USER', id: userId, clientId: app.applicationId } },
      { userId, sessionId, reason: 'SIGN_OUT' },
    );
  } catch (error) {
    // It may have ended before.
    if (!(error instanceof NotFoundError)) throw error;
  }
}
