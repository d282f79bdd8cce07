import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { toNumericDate } from '../../../clock.ts';
import { type OidcRecord, Prisma } from '../../../generated/prisma/client.ts';
import { keyedDigest } from '../../../protection/keyed-digest.ts';
import type { Services } from '../../../services.ts';
import { fromLibrary, toLibrary } from '../storage/library-time.ts';
import { storedId } from '../storage/stored-id.ts';
import { pollIntervalSeconds } from './grant.ts';

const model = 'DeviceCode';
type Store = Pick<Services, 'database' | 'clock' | 'cipher'>;

/** Somebody else was faster to confirm a code or to decline it, or it has ended. */
export class DeviceCodeUsed extends errors.InvalidRequest {
  constructor() {
    super('the code was used already, or it has ended');
  }
}

/**
 * Keeps device codes. Of concurrent requests one moves a code on, on all nodes: from open to confirmed by a browser, and
 * from there to allowed or refused.
 *
 * @param records Keeps records of any kind.
 */
export function deviceCodeAdapter(services: Store, records: Adapter): Adapter {
  const { database, clock } = services;
  const { prisma } = database;
  // The table holds only a keyed digest: a user code has but 34 bits.
  const uidOf = (userCode: string) =>
    Buffer.from(keyedDigest(services.cipher, 'user-code', [userCode])).toString('base64url');

  return {
    ...records,

    /** @throws {DeviceCodeUsed} */
    async upsert(id, { userCode, ...payload }, expiresInSeconds) {
      const isOpen = !payload.inFlight && payload.accountId === undefined && !payload['error'];
      if (isOpen) {
        const uid = uidOf(String(userCode));
        return records.upsert(id, { ...payload, uid }, expiresInSeconds);
      }
      if (!(await move(services, id, payload))) throw new DeviceCodeUsed();
    },

    /** @throws {SlowDown} when a device polls too soon. */
    async find(id) {
      const row = await prisma.oidcRecord.findUnique({
        where: { model_id: { model, id: rowIdOf(id) } },
      });
      if (!row) return undefined;
      if (Provider.ctx?.oidc.route === 'token') await notePoll(services, row);
      return payloadOf(services, row, id);
    },

    async findByUserCode(userCode) {
      const rows = await prisma.oidcRecord.findMany({
        where: { model, uid: uidOf(userCode), expiresAt: { gt: clock.now() }, consumedAt: null },
        take: 2,
      });
      const [row] = rows;
      // Two devices may have got the same code by chance. Nobody could tell which of them a person means.
      if (!row || rows.length > 1) return undefined;
      // It may have been switched off since.
      const isAllowed = { id: row.clientId ?? '', allowDeviceGrant: true };
      if ((await prisma.application.count({ where: isAllowed })) === 0) return undefined;
      return { ...payloadOf(services, row, referenceTo(row)), userCode };
    },
  };
}

// Who types a user code does not know the device code, and the table has its digest alone. So the records of a sign-in
// name the row. No device can present that name.
const reference = 'row:';
const referenceTo = ({ id }: OidcRecord): string => `${reference}${id}`;
const browserRoutes: ReadonlySet<string | undefined> = new Set([
  'code_verification',
  'device_resume',
]);

const rowIdOf = (id: string): string =>
  id.startsWith(reference) && browserRoutes.has(Provider.ctx?.oidc.route)
    ? id.slice(reference.length)
    : storedId(id);

function payloadOf(
  { clock }: Pick<Store, 'clock'>,
  { payload, consumedAt, expiresAt }: OidcRecord,
  jti: string,
): AdapterPayload {
  const isExpired = expiresAt === null || expiresAt <= clock.now();
  return {
    ...toLibrary(clock, payload as Prisma.JsonObject as AdapterPayload),
    jti,
    // The library tells a device by this that its code has expired.
    ...(isExpired ? { exp: 1 } : {}),
    ...(consumedAt ? { consumed: toNumericDate(consumedAt) } : {}),
  };
}

/** Moves a code on, if nobody else has. What {@link notePoll} has written stays. */
async function move(
  { database, clock }: Store,
  id: string,
  { jti: _jti, ...record }: AdapterPayload,
): Promise<boolean> {
  const payload = fromLibrary(clock, record);
  const { accountId = null, grantId = null } = payload;
  const isConfirmed =
    Boolean(payload.inFlight) && (accountId !== null || Boolean(payload['error']));
  const count = await database.prisma.$executeRaw`
    UPDATE "OidcRecord"
       SET "payload" = "payload" || ${JSON.stringify(payload)}::jsonb,
           "accountId" = ${accountId}, "grantId" = ${grantId},
           "address" = CASE WHEN ${accountId}::text IS NULL THEN "address" END
     WHERE "model" = ${model} AND "id" = ${rowIdOf(id)}
       AND "consumedAt" IS NULL AND "expiresAt" > ${clock.now()}::timestamptz
       AND "accountId" IS NULL AND "payload"->'error' IS NULL
       AND (${isConfirmed} OR "payload"->'inFlight' IS NULL)`;
  return count === 1;
}

// A poll is on its way for some time, and not always for as long.
const toleranceSeconds = 1;

/** Notes a poll for a code that nobody has answered (RFC 8628 §3.5). One statement, so all nodes count together. */
async function notePoll({ database, clock }: Store, { id }: OidcRecord): Promise<void> {
  const { client } = Provider.ctx?.oidc ?? {};
  const now = clock.now();
  const seconds = Prisma.sql`coalesce(("payload"->>'pollSeconds')::int, ${pollIntervalSeconds}::int)`;
  const isTooSoon = Prisma.sql`
    coalesce(("payload"->>'polledAt')::float8
             + (${seconds} - ${toleranceSeconds}::int) * 1000 > ${now.getTime()}::float8, false)`;
  const [poll] = await database.prisma.$queryRaw<{ isTooSoon: boolean }[]>`
    UPDATE "OidcRecord"
       SET "payload" = "payload" || jsonb_build_object(
             'polledAt', ${now.getTime()}::float8, 'isTooSoon', ${isTooSoon},
             'pollSeconds', ${seconds} + CASE WHEN ${isTooSoon} THEN ${pollIntervalSeconds}::int ELSE 0 END)
     WHERE "model" = ${model} AND "id" = ${id} AND "clientId" = ${client?.clientId ?? ''}
       AND "consumedAt" IS NULL AND "expiresAt" > ${now}::timestamptz
       AND "accountId" IS NULL AND "payload"->'error' IS NULL
    RETURNING ("payload"->'isTooSoon')::bool AS "isTooSoon"`;
  if (poll?.isTooSoon) throw new errors.SlowDown();
}
