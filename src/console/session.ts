import { randomBytes } from 'node:crypto';
import { consoleApplicationId } from '../applications/own.ts';
import { newJti } from '../auth/access-token.ts';
import type { Caller } from '../auth/caller.ts';
import { readHoldings } from '../auth/granting.ts';
import { managementIndicator } from '../auth/scopes.ts';
import { faultOfState } from '../auth/token-state.ts';
import { toNumericDate } from '../clock.ts';
import { NotFoundError } from '../errors.ts';
import { newId } from '../ids.ts';
import { digestOf } from '../keys/digest.ts';
import { endUserSession } from '../oidc/sessions/operations.ts';
import { type Services, systemActor } from '../services.ts';

/** How long a session lasts. */
export const sessionMaxSeconds = 12 * 3600;
/** How long a session lasts without a request that a person caused. */
export const sessionIdleSeconds = 3600;
/** How old the note of the last request may become, so that not every request writes. */
const renewAfterMs = 60_000;

type Store = Pick<Services, 'database' | 'clock' | 'issuer'>;

/** A session in force. */
export interface ConsoleSession {
  readonly id: string;
  readonly userId: string;
  readonly scopes: ReadonlySet<string>;
  /** When it ends if nothing more is asked. */
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly grant: string;
}

/** Who has signed in, by the provider. */
export interface SignedIn {
  readonly userId: string;
  /** The provider's session. */
  readonly providerSessionId: string;
  /** The grant, as access tokens name it. */
  readonly grant: string;
}

/** Begins a session and returns its cookie's value, which is not stored. */
export async function beginConsoleSession(
  { database, clock }: Store,
  { userId, providerSessionId, grant }: SignedIn,
): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  const createdAt = clock.now();
  const held = await readHoldings(database.prisma, [userId]);
  await database.prisma.consoleSession.create({
    data: {
      id: newId('ConsoleSession'),
      digest: digestOf(secret),
      userId,
      providerSessionId,
      grant,
      scopes: [...(held.get(userId) ?? [])],
      createdAt,
      lastActiveAt: createdAt,
      expiresAt: new Date(createdAt.getTime() + sessionMaxSeconds * 1000),
    },
  });
  return secret;
}

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
    FROM "ConsoleSession" s JOIN "User" u ON u."id" = s."userId"`;

const endOf = ({ lastActiveAt, expiresAt }: Pick<Row, 'lastActiveAt' | 'expiresAt'>): Date =>
  new Date(Math.min(lastActiveAt.getTime() + sessionIdleSeconds * 1000, expiresAt.getTime()));

/** Why a session is over; undefined if it is in force. The rules for tokens hold: a session stands for one. */
function faultOfSession({ issuer, clock }: Store, row: Row, held: ReadonlySet<string>) {
  if (endOf(row) <= clock.now()) return 'session expired';
  const fault = faultOfState(claimsOf(issuer, row), {
    clientExists: true,
    isRevoked: row.isRevoked,
    userId: row.userId,
    isSuspended: row.isSuspended,
    tokensValidAfter: row.tokensValidAfter,
  });
  if (fault) return fault;
  return row.scopes.every((scope) => held.has(scope)) ? undefined : 'a role was taken away';
}

/** The claims of the access token that a session stands for. */
const claimsOf = (
  issuer: string,
  {
    userId,
    grant,
    createdAt,
    expiresAt,
  }: Pick<Row, 'userId' | 'grant' | 'createdAt' | 'expiresAt'>,
): Caller['claims'] => ({
  iss: issuer,
  sub: userId,
  aud: managementIndicator,
  client_id: consoleApplicationId,
  iat: toNumericDate(createdAt),
  exp: toNumericDate(expiresAt),
  jti: newJti(createdAt),
  lineage: [grant],
});

/**
 * Finds the session of a cookie, or by its id, and notes that it was used. A session that is over is deleted.
 *
 * @param options.isIdle Nobody caused the request: the session does not last longer for it.
 * @returns Undefined if it is over, or never was.
 */
export async function useConsoleSession(
  store: Store,
  by: { readonly secret: string } | { readonly id: string },
  { isIdle = false }: { readonly isIdle?: boolean } = {},
): Promise<ConsoleSession | undefined> {
  const { database, clock } = store;
  const [row] =
    'secret' in by
      ? await database.tokens.query<Row>(
          'console-session',
          `${selectSessions} WHERE s."digest" = $1`,
          [digestOf(by.secret)],
        )
      : await database.tokens.query<Row>(
          'console-session-by-id',
          `${selectSessions} WHERE s."id" = $1`,
          [by.id],
        );
  if (!row) return undefined;
  const { id, userId, createdAt, grant, expiresAt } = row;
  const scopes = (await readHoldings(database.prisma, [userId])).get(userId) ?? new Set<string>();
  if (faultOfSession(store, row, scopes)) {
    // It does not begin again when a suspension ends, or a role is given back.
    await database.prisma.consoleSession.deleteMany({ where: { id } });
    return undefined;
  }
  let { lastActiveAt } = row;
  const now = clock.now();
  const isRenewed = !isIdle && now.getTime() - lastActiveAt.getTime() >= renewAfterMs;
  if (isRenewed || scopes.size > row.scopes.length) {
    if (isRenewed) lastActiveAt = now;
    await database.prisma.consoleSession.updateMany({
      where: { id },
      data: { lastActiveAt, scopes: [...scopes] },
    });
  }
  return { id, userId, scopes, expiresAt: endOf({ lastActiveAt, expiresAt }), createdAt, grant };
}

/** The caller that a session stands for: the user, with the scopes of their roles. */
export function callerOf({ issuer }: Pick<Services, 'issuer'>, session: ConsoleSession): Caller {
  return {
    actor: { type: 'USER', id: session.userId, clientId: consoleApplicationId },
    scopes: session.scopes,
    expiresAt: session.expiresAt,
    claims: claimsOf(issuer, session),
    consoleSessionId: session.id,
  };
}

/** Why each of these sessions is over; no entry for those in force. */
export async function faultsOfSessions(
  store: Store,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { database } = store;
  const rows = await database.tokens.query<Row>(
    'console-sessions',
    `${selectSessions} WHERE s."id" = ANY ($1::text[])`,
    [[...ids]],
  );
  const held = await readHoldings(
    database.prisma,
    rows.map(({ userId }) => userId),
  );
  const faults = new Map(ids.map((id) => [id, 'signed out']));
  for (const row of rows) {
    const fault = faultOfSession(store, row, held.get(row.userId) ?? new Set());
    if (fault) faults.set(row.id, fault);
    else faults.delete(row.id);
  }
  return faults;
}

/** Ends a session whose browser has begun another (OWASP ASVS 5.0, 7.2.4). */
export async function forgetConsoleSession(
  { database }: Pick<Store, 'database'>,
  secret: string | undefined,
): Promise<void> {
  if (secret === undefined) return;
  await database.prisma.consoleSession.deleteMany({ where: { digest: digestOf(secret) } });
}

/** Signs a browser out: ends the session, and the provider's with all that came from it. */
export async function endConsoleSession(
  services: Services & { readonly traceId: string },
  secret: string,
): Promise<void> {
  const { prisma } = services.database;
  const digest = digestOf(secret);
  const session = await prisma.consoleSession.findUnique({ where: { digest } });
  if (!session) return;
  await prisma.consoleSession.deleteMany({ where: { id: session.id } });
  try {
    await endUserSession(
      { ...services, actor: systemActor },
      { userId: session.userId, sessionId: session.providerSessionId },
    );
  } catch (error) {
    // It may have ended before.
    if (!(error instanceof NotFoundError)) throw error;
  }
}
