import Provider, { type Adapter, type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import { toNumericDate } from '../../../clock.ts';
import { quietTransaction, type Transaction } from '../../../db/transaction.ts';
import type { OidcRecord, Prisma } from '../../../generated/prisma/client.ts';
import { kindOfId } from '../../../ids.ts';
import { clientOf } from '../../../protection/addresses.ts';
import { maxAccessTokenTtlSeconds } from '../../../resources/operations.ts';
import type { Services } from '../../../services.ts';
import { recordSessionsEnded } from '../../../users/sign-out.ts';
import { deviceCodeAdapter } from '../device/codes.ts';
import { endingOf } from '../ending.ts';
import { unfinishedShare } from '../request-bounds.ts';
import { requestOf } from '../requests.ts';
import { assertBinding, bindingOf } from './bound-refresh-token.ts';
import { findClientMetadata, isPublicClient } from './clients.ts';
import { freshCode, isNewSignIn } from './fresh-code.ts';
import { prolongGrant } from './grant-lifetime.ts';
import { fromLibrary, toLibrary } from './library-time.ts';
import {
  isPushedByAnybody,
  isTooLate,
  keptSeconds,
  usedMeanwhile,
  withoutInnerTimes,
} from './pushed-request.ts';
import { mayComeAgain, predecessorOf, useRefreshToken } from './refresh-reuse.ts';
import { storedId } from './stored-id.ts';

type Store = Pick<Services, 'database' | 'clock'>;

/** The name of a grant inside access tokens. It is not the grant's id, which clients do not need. */
export const grantReference = storedId;

/** Stores oidc-provider's records in the table OidcRecord, under the digest of their ids. */
export function createAdapter(services: Services): AdapterFactory {
  return (model) => {
    if (model === 'Client') return clientAdapter(services);
    const records = recordAdapter(services, model);
    return model === 'DeviceCode' ? deviceCodeAdapter(services, records) : records;
  };
}

/** Whether anyone can create this record without signing in, and leave it unfinished. */
const isBegunAlone = (model: string, { result, accountId }: AdapterPayload): boolean =>
  (model === 'Interaction' && !result?.login) ||
  (model === 'Session' && accountId === undefined) ||
  isPushedByAnybody(model, Provider.ctx) ||
  (model === 'DeviceCode' && isOfPublicClient());

function isOfPublicClient(): boolean {
  const client = Provider.ctx?.oidc.client;
  return client !== undefined && isPublicClient(client);
}

/** The address share that the current request counts in; undefined without a request. */
function currentShare(): string | undefined {
  const { ctx } = Provider;
  return ctx && clientOf(requestOf(ctx).ip);
}

async function keepWithinShare(
  { database }: Pick<Services, 'database'>,
  address: string,
): Promise<void> {
  await database.prisma.$executeRaw`
    DELETE FROM "OidcRecord" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "OidcRecord" WHERE "address" = ${address}
       ORDER BY "expiresAt" DESC OFFSET ${unfinishedShare}))`;
}

function clientAdapter(services: Pick<Services, 'database' | 'clock' | 'baseUrl'>): Adapter {
  const refuse = async () => {
    throw new Error('Applications change through their operations alone.');
  };
  return {
    find: (id) => findClientMetadata(services, id),
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
    upsert: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  };
}

function recordAdapter({ database, clock }: Store, model: string): Adapter {
  const records = database.prisma.oidcRecord;
  const keyOf = (id: string) => ({ model_id: { model, id: storedId(id) } });
  const inForce = (row: OidcRecord | null): row is OidcRecord =>
    row !== null && (row.expiresAt === null || row.expiresAt > clock.now());

  return {
    async upsert(id, payload, expiresInSeconds) {
      const key = keyOf(id);
      const address = isBegunAlone(model, payload) ? currentShare() : null;
      const data = {
        payload: {
          ...withoutIds(fromLibrary(clock, withoutInnerTimes(model, payload))),
          ...(model === 'AuthorizationCode' && isNewSignIn(Provider.ctx)
            ? { [freshCode]: true }
            : {}),
          ...(model === 'RefreshToken' ? bindingOf(Provider.ctx, payload) : {}),
        },
        grantId: payload.grantId ?? null,
        uid: (model === 'RefreshToken' ? predecessorOf(payload) : payload.uid) ?? null,
        accountId: accountIdOf(payload) ?? null,
        ...(address === undefined ? {} : { address }),
        clientId: payload.clientId ?? null,
        expiresAt:
          expiresInSeconds === undefined
            ? null
            : new Date(clock.now().getTime() + keptSeconds(model, expiresInSeconds) * 1000),
      };
      await records.upsert({ where: key, create: { ...key.model_id, ...data }, update: data });
      if (model === 'RefreshToken' && payload.grantId) {
        await prolongGrant({ database, clock }, storedId(payload.grantId));
      }
      await noteActivity({ database, clock }, model, payload, data.expiresAt);
      if (address != null) await keepWithinShare({ database }, address);
    },

    async find(id) {
      const row = await records.findUnique({ where: keyOf(id) });
      // A request that was running when its grant ended may have stored the grant again.
      if (model === 'Grant' && (await isRevoked({ database }, id, row))) return undefined;
      if (model === 'Session' && (await hasEnded({ database }, row))) return undefined;
      if (model === 'RefreshToken') assertBinding(Provider.ctx, row);
      if (!inForce(row)) return undefined;
      const stored = payloadOf(row);
      if (isTooLate(model, stored, Provider.ctx, clock)) return undefined;
      const payload = toLibrary(clock, stored);
      if (model === 'RefreshToken' && mayComeAgain(Provider.ctx)) delete payload['consumed'];
      return { ...payload, jti: id };
    },

    async findByUid(uid) {
      const row = await records.findFirst({ where: { model, uid } });
      if (model === 'Session' && (await hasEnded({ database }, row))) return undefined;
      return inForce(row) ? toLibrary(clock, payloadOf(row)) : undefined;
    },

    // Only the device grant has user codes.
    findByUserCode: async () => undefined,

    /** @throws {InvalidGrant} {@link InvalidRequestUri} for all but the first of concurrent requests. */
    async consume(id) {
      if (model === 'RefreshToken') {
        if (await useRefreshToken({ database, clock }, id)) return;
      } else {
        const { count } = await records.updateMany({
          where: { ...keyOf(id).model_id, consumedAt: null },
          data: { consumedAt: clock.now() },
        });
        if (count === 1) return;
      }
      // The library has checked before, but two concurrent requests both pass that check. The second is a replay.
      const row = await records.findUnique({ where: keyOf(id) });
      if (row?.grantId) await endTokens({ database, clock }, row.grantId);
      throw usedMeanwhile(model);
    },

    async destroy(id) {
      // The library destroys a grant at the same time as its tokens; whichever comes first ends both.
      if (model === 'Grant') await endTokens({ database, clock }, id);
      else await records.deleteMany({ where: keyOf(id).model_id });
    },

    async revokeByGrantId(grantId) {
      // The library calls this for each model, always for access tokens too; one call ends the whole grant.
      if (model === 'AccessToken') await endTokens({ database, clock }, grantId);
    },
  };
}

/**
 * Ends grants and all that came from them: codes, refresh tokens, access tokens, and the tokens those were exchanged
 * for. JWT access tokens are stored nowhere; they name their grant, so one that is being issued now, on any node, is
 * dead too.
 */
export async function endGrants(
  { database, clock }: Store,
  grantIds: readonly string[],
): Promise<void> {
  if (grantIds.length === 0) return;
  await quietTransaction(database, (tx) => endGrantsWithin(tx, { clock }, grantIds));
}

/**
 * Like {@link endGrants} for one grant. Raises `User.Session.Ended` without a session if the grant was in force, unless
 * the session ends too and raises it.
 */
export async function endTokens({ database, clock }: Store, grantId: string): Promise<void> {
  await quietTransaction(database, async (tx) => {
    const [grant] = await endGrantsWithin(tx, { clock }, [grantId]);
    if (!grant?.accountId) return;
    const { accountId: userId, clientId } = grant;
    const { reason, endsSession, ...origin } = endingOf(userId, clientId);
    if (endsSession) return;
    const ended = { userId, reason, sessions: [], endsTokens: true };
    await recordSessionsEnded(tx, { ...origin, clock }, ended);
  });
}

/** Like {@link endGrants}, inside a transaction. Returns the grants that were in force. */
export async function endGrantsWithin(
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  grantIds: readonly string[],
): Promise<Pick<OidcRecord, 'accountId' | 'clientId'>[]> {
  if (grantIds.length === 0) return [];
  const references = grantIds.map(grantReference);
  await revokeGrantsWithin(tx, { clock }, references);
  await tx.oidcRecord.deleteMany({
    // A running sign-in also names the grant, but continues for another person.
    where: { grantId: { in: [...grantIds] }, model: { not: 'Interaction' } },
  });
  return tx.$queryRaw`
    WITH "ended" AS (
      DELETE FROM "OidcRecord" WHERE "model" = 'Grant' AND "id" = ANY (${references}::text[])
      RETURNING "accountId", "clientId", "expiresAt")
    SELECT "accountId", "clientId" FROM "ended" WHERE "expiresAt" > ${clock.now()}::timestamptz`;
}

/** Ends the access tokens of grants, as tokens name them, and the tokens those were exchanged for. */
export async function revokeGrantsWithin(
  tx: Transaction,
  { clock }: Pick<Services, 'clock'>,
  references: readonly string[],
): Promise<void> {
  if (references.length === 0) return;
  const now = clock.now().getTime();
  const expiresAt = new Date(now + maxAccessTokenTtlSeconds * 1000).toISOString();
  await tx.$executeRaw`
    INSERT INTO "RevokedToken" ("jti", "expiresAt")
    SELECT DISTINCT r, ${expiresAt}::timestamptz FROM unnest(${[...references]}::text[]) r
    ON CONFLICT ("jti") DO UPDATE SET "expiresAt" = excluded."expiresAt"`;
}

/** Whether a grant was ended, or belongs to a third-party application that the person has not allowed anything. */
async function isRevoked(
  { database }: Pick<Services, 'database'>,
  grantId: string,
  row: OidcRecord | null,
): Promise<boolean> {
  const [found] = await database.prisma.$queryRaw<{ isRevoked: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM "RevokedToken" WHERE "jti" = ${grantReference(grantId)})
        OR EXISTS (SELECT 1 FROM "Application" a
                    WHERE a."id" = ${row?.clientId ?? ''} AND a."isThirdParty"
                      AND NOT EXISTS (SELECT 1 FROM "UserGrant" g
                                       WHERE g."userId" = ${row?.accountId ?? ''} AND g."applicationId" = a."id"))
           AS "isRevoked"`;
  return found?.isRevoked === true;
}

/** Whether a user's session was ended; a request that was running may have stored it again. */
async function hasEnded(
  { database }: Pick<Services, 'database'>,
  row: OidcRecord | null,
): Promise<boolean> {
  if (!row?.uid || kindOfId(row.uid) !== 'Session') return false;
  return (await database.prisma.session.count({ where: { id: row.uid } })) === 0;
}

/** Records the use of a session: at the authorization endpoint, or by a refresh token. */
async function noteActivity(
  { database, clock }: Store,
  model: string,
  { uid, sessionUid, authorizations }: AdapterPayload,
  expiresAt: Date | null,
): Promise<void> {
  const id = model === 'Session' ? uid : model === 'RefreshToken' ? sessionUid : undefined;
  if (id === undefined || kindOfId(id) !== 'Session') return;
  await database.prisma.session.updateMany({
    where: { id },
    data: {
      lastActiveAt: clock.now(),
      ...(model === 'Session' && expiresAt ? { expiresAt } : {}),
      ...(authorizations ? { applicationIds: Object.keys(authorizations) } : {}),
    },
  });
}

function withoutIds({ jti: _jti, session, ...payload }: AdapterPayload): Prisma.InputJsonObject {
  // The cookie is the session's id; nothing here reads it.
  const { cookie: _cookie, ...rest } = session ?? {};
  // The payload is made for JSON.stringify, so it holds only JSON.
  return { ...payload, ...(session ? { session: rest } : {}) } as Prisma.InputJsonObject;
}

const payloadOf = ({ payload, consumedAt }: OidcRecord): AdapterPayload => ({
  ...(payload as Prisma.JsonObject as AdapterPayload),
  ...(consumedAt ? { consumed: toNumericDate(consumedAt) } : {}),
});

// Operations that end a user's sign-ins delete by account id. A signed-in interaction belongs to its user too.
const accountIdOf = ({ accountId, session, result }: AdapterPayload): string | undefined =>
  accountId ?? result?.login?.accountId ?? session?.accountId;
