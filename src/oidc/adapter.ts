import { createHash } from 'node:crypto';
import { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import type { Services } from '../auth/context.ts';
import { toNumericDate } from '../clock.ts';
import type { OidcRecord, Prisma } from '../generated/prisma/client.ts';
import { findClientMetadata } from './clients.ts';

type Store = Pick<Services, 'database' | 'clock'>;

// The model under which the ids of JWT access tokens are kept: the tokens themselves live nowhere.
const issuedJwt = 'IssuedJwt';

// Most ids are credentials (codes, refresh tokens, session cookies): whoever reads the table must not hold them.
const storedId = (id: string) => createHash('sha256').update(id).digest('base64url');

/** Keeps what oidc-provider stores in the table OidcRecord, under the digest of its id. */
export function createAdapter(services: Services): AdapterFactory {
  return (model) => (model === 'Client' ? clientAdapter(services) : recordAdapter(services, model));
}

function clientAdapter(services: Services): Adapter {
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
      const data = {
        payload: withoutIds(payload),
        grantId: payload.grantId ?? null,
        uid: payload.uid ?? null,
        accountId: accountIdOf(payload) ?? null,
        clientId: payload.clientId ?? null,
        expiresAt:
          expiresInSeconds === undefined
            ? null
            : new Date(clock.now().getTime() + expiresInSeconds * 1000),
      };
      await records.upsert({ where: key, create: { ...key.model_id, ...data }, update: data });
    },

    async find(id) {
      const row = await records.findUnique({ where: keyOf(id) });
      return inForce(row) ? { ...payloadOf(row), jti: id } : undefined;
    },

    async findByUid(uid) {
      const row = await records.findFirst({ where: { model, uid } });
      return inForce(row) ? payloadOf(row) : undefined;
    },

    // The device grant alone has user codes.
    findByUserCode: async () => undefined,

    /** @throws {InvalidGrant} for all but the first of those who consume it at once. */
    async consume(id) {
      const { count } = await records.updateMany({
        where: { ...keyOf(id).model_id, consumedAt: null },
        data: { consumedAt: clock.now() },
      });
      if (count === 1) return;
      // The library looked before this, so two that come together both pass there. The second is a replay.
      const row = await records.findUnique({ where: keyOf(id) });
      if (row?.grantId) await revokeGrant({ database, clock }, row.grantId);
      throw new errors.InvalidGrant('consumed at the same time by another request');
    },

    async destroy(id) {
      await records.deleteMany({ where: keyOf(id).model_id });
    },

    async revokeByGrantId(grantId) {
      if (model === 'AccessToken') await revokeJwts({ database }, grantId);
      await records.deleteMany({ where: { model, grantId } });
    },
  };
}

/**
 * Remembers that a JWT access token was issued under a grant, so that it ends with the grant: by reuse of a refresh
 * token, by its revocation, or by sign-out.
 */
export async function rememberJwt(
  { database }: Pick<Services, 'database'>,
  token: { jti: string; grantId: string; accountId: string; clientId: string; expiresAt: Date },
): Promise<void> {
  const { jti, ...data } = token;
  await database.prisma.oidcRecord.create({
    data: { model: issuedJwt, id: jti, payload: {}, ...data },
  });
}

async function revokeJwts(
  { database }: Pick<Services, 'database'>,
  grantId: string,
): Promise<void> {
  await database.prisma.$executeRaw`
    WITH issued AS (
      DELETE FROM "OidcRecord" WHERE "model" = ${issuedJwt} AND "grantId" = ${grantId}
      RETURNING "id", "expiresAt")
    INSERT INTO "RevokedToken" ("jti", "expiresAt") SELECT "id", "expiresAt" FROM issued
    ON CONFLICT DO NOTHING`;
}

async function revokeGrant({ database }: Store, grantId: string): Promise<void> {
  await revokeJwts({ database }, grantId);
  await database.prisma.oidcRecord.deleteMany({
    where: { OR: [{ grantId }, { model: 'Grant', id: storedId(grantId) }] },
  });
}

function withoutIds({ jti: _jti, session, ...payload }: AdapterPayload): Prisma.InputJsonObject {
  // The cookie is the session's id; nothing reads it here.
  const { cookie: _cookie, ...rest } = session ?? {};
  // The payload is what JSON.stringify made of a model: it holds nothing that JSON does not.
  return { ...payload, ...(session ? { session: rest } : {}) } as Prisma.InputJsonObject;
}

const payloadOf = ({ payload, consumedAt }: OidcRecord): AdapterPayload => ({
  ...(payload as Prisma.JsonObject as AdapterPayload),
  ...(consumedAt ? { consumed: toNumericDate(consumedAt) } : {}),
});

// Operations that end a user's sign-ins delete by this: an interaction is the user's too, once one has signed in.
const accountIdOf = ({ accountId, session, result }: AdapterPayload): string | undefined =>
  accountId ?? result?.login?.accountId ?? session?.accountId;
