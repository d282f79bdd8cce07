import { randomBytes } from 'node:crypto';
import { Prisma } from '../../../src/generated/prisma/client.ts';
import { newId } from '../../../src/ids.ts';
import { digestOf } from '../../../src/keys/digest.ts';
import { purposeOf, type SealedColumn, sealedColumns } from '../../../src/keys/sealed-columns.ts';
import type { Services } from '../../../src/services.ts';

type Kind = keyof typeof sealedColumns;

/** The kinds of encrypted values. */
export const kinds = Object.keys(sealedColumns) as Kind[];

/** What encrypted values say; no other place in the database may hold it. */
const plaintextOf = (kind: Kind) => `in clear: ${kind}`;

/** Writes a row with an encrypted value of each kind that the start does not write. */
export async function writeSealedRows({ database: { prisma }, cipher, clock }: Services) {
  const [createdAt, expiresAt] = [clock.now(), new Date(clock.now().getTime() + 3_600_000)];
  const stamps = { createdAt, updatedAt: createdAt };
  const seal = (kind: Kind, owner: string) =>
    cipher.encrypt(plaintextOf(kind), purposeOf(kind, owner));
  const bytes = () => new Uint8Array(randomBytes(32));

  const userId = newId('User');
  await prisma.user.create({ data: { id: userId, ...stamps } });
  const factorId = newId('UserFactor');
  await prisma.userFactor.create({
    data: { id: factorId, userId, type: 'TOTP', secret: seal('totp', factorId), createdAt },
  });
  const holder = newId('Session');
  await prisma.totpEnrollment.create({
    data: { holder, userId, expiresAt, secret: seal('totp-enrollment', `${holder}:${userId}`) },
  });
  const webhookId = newId('Webhook');
  await prisma.webhook.create({
    data: {
      ...{ id: webhookId, name: 'Sealed', url: 'http://127.0.0.1:9/', enabled: false },
      headers: seal('webhook-headers', webhookId),
      ...stamps,
    },
  });
  const secretId = newId('WebhookSecret');
  await prisma.webhookSecret.create({
    data: { id: secretId, webhookId, secret: seal('webhook-secret', secretId), createdAt },
  });
  const identityProviderId = newId('IdentityProvider');
  await prisma.identityProvider.create({
    data: {
      ...{ id: identityProviderId, name: identityProviderId, kind: 'SOCIAL', clientId: 'signet' },
      issuer: 'http://127.0.0.1:9',
      clientSecret: seal('identity-provider', identityProviderId),
      ...stamps,
    },
  });
  const digest = digestOf(identityProviderId);
  await prisma.federation.create({
    data: {
      ...{ digest, identityProviderId, userId, nonce: 'nonce', createdAt, expiresAt },
      codeVerifier: seal('federation', Buffer.from(digest).toString('hex')),
    },
  });
  const messageId = newId('Message');
  await prisma.message.create({
    data: {
      ...{ id: messageId, channel: 'EMAIL', recipient: 'ada@example.com', template: 'SIGN_IN' },
      ...{ language: 'en', traceId: 'trace', status: 'FAILED', createdAt, expiresAt },
      content: seal('message', messageId),
    },
  });
  const sender = { kind: 'HTTP', settings: {}, secret: seal('message-sender', 'SMS') } as const;
  await prisma.messageSender.upsert({
    where: { channel: 'SMS' },
    create: { channel: 'SMS', ...sender, ...stamps },
    update: sender,
  });
  const id = bytes();
  await prisma.keptResult.create({
    data: {
      ...{ id, fingerprint: bytes(), scopes: [], expiresAt },
      result: seal('kept-result', Buffer.from(id).toString('base64')),
    },
  });
}

/** An encrypted value as stored. */
export interface SealedValue {
  readonly kind: Kind;
  readonly owner: string;
  readonly sealed: Uint8Array;
}

/** Reads every encrypted value. */
export async function readSealedValues({
  database: { prisma },
}: Pick<Services, 'database'>): Promise<SealedValue[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const { table, column, owner }: SealedColumn = sealedColumns[kind];
      const sealed = Prisma.raw(`"${column}"`);
      const rows = await prisma.$queryRaw<{ owner: string; sealed: Uint8Array }[]>`
        SELECT ${owner} AS "owner", ${sealed} AS "sealed" FROM ${Prisma.raw(`"${table}"`)}
         WHERE ${sealed} IS NOT NULL`;
      return rows.map((row) => ({ kind, ...row }));
    }),
  );
  return lists.flat();
}
