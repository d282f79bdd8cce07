import { secondsUntil } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Transaction } from '../db/transaction.ts';
import { recordEvent } from '../events/record.ts';
import type { MessageChannel } from '../generated/prisma/client.ts';
import { foldCase } from '../input.ts';
import { type Call, type Context, systemActor } from '../services.ts';
import type { CodePolicy } from '../sign-in-experience/settings.ts';
import { clientOf } from './addresses.ts';
import { keyedDigest } from './keyed-digest.ts';

/** A message that somebody requests. */
export interface Sending {
  /** The message's template, such as `SIGN_IN`; each template has its own count. */
  readonly action: string;
  /** An e-mail address or a telephone number. */
  readonly recipient: string;
}

/** Whether a message may be sent. */
export type SendingDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly retryAfterSeconds: number };

/**
 * Takes one of the messages that a recipient may get in a window, even if nobody has the address. Beyond the limit it
 * refuses, and raises `Message.RateLimited` once in a window. The transaction must commit in both cases, or neither the
 * count nor the event is kept; so throw a refusal only after the commit.
 */
export async function takeSending(
  tx: Transaction,
  context: Call & Pick<Context, 'clock' | 'cipher'>,
  { sendLimit, sendWindowSeconds }: Pick<CodePolicy, 'sendLimit' | 'sendWindowSeconds'>,
  { action, recipient }: Sending,
): Promise<SendingDecision> {
  const { count, decision } = await countSending(
    tx,
    context,
    { sendLimit, sendWindowSeconds },
    { action, key: keyedDigest(context.cipher, 'recipient', [foldCase(recipient.trim())]) },
  );
  // The first message past the limit raises the event. The row is locked until the commit, so there is only one.
  if (count === sendLimit + 1) {
    const data = { action, recipient };
    await recordEvent(tx, { ...context, actor: systemActor }, 'Message.RateLimited', data);
  }
  return decision;
}

/** How many recipients' shares of messages one person may have sent. */
export const recipientsOfPerson = 3;

/**
 * Takes one of the messages that a person may have sent in a window, to any addresses. Without this limit, an account
 * could send messages, which cost money, to any number of strangers. Like {@link takeSending}, without an event.
 */
export async function takeSendingBy(
  tx: Transaction,
  context: Pick<Context, 'clock' | 'cipher'>,
  { sendLimit, sendWindowSeconds }: Pick<CodePolicy, 'sendLimit' | 'sendWindowSeconds'>,
  { action, userId }: { readonly action: string; readonly userId: string },
): Promise<SendingDecision> {
  const { decision } = await countSending(
    tx,
    context,
    { sendLimit: sendLimit * recipientsOfPerson, sendWindowSeconds },
    { action, key: keyedDigest(context.cipher, 'sender', [userId]) },
  );
  return decision;
}

/** The most codes that one client address may have sent in a window, by channel: an SMS costs money. */
export const addressShares = { windowSeconds: 600, EMAIL: 300, SMS: 30 } as const;

/** The most that all client addresses together may have sent in a window. */
export const serviceShare = (
  { codesPerMinute }: Pick<Config, 'codesPerMinute'>,
  channel: MessageChannel,
): number => (codesPerMinute[channel] * addressShares.windowSeconds) / 60;

/**
 * Takes one of the messages that may be sent in a window for a client address, and one of those for all client
 * addresses together, to any recipients. One statement counts both, so that nodes share them. A message that the
 * address may not send does not count for the service. Like {@link takeSending}, without an event.
 *
 * @param ip The address of the client.
 */
export async function takeSendingFrom(
  tx: Transaction,
  { clock, cipher, config, log }: Pick<Context, 'clock' | 'cipher' | 'config' | 'log'>,
  { channel, ip }: { readonly channel: MessageChannel; readonly ip: string },
): Promise<SendingDecision> {
  const ofAddress = addressShares[channel];
  const ofService = serviceShare(config, channel);
  const now = clock.now();
  const end = new Date(now.getTime() + addressShares.windowSeconds * 1000);
  const address = keyedDigest(cipher, 'sending-address', [clientOf(ip)]);
  const service = keyedDigest(cipher, 'sending-service', []);
  // The row of the service comes last, and is locked until the commit: no two transactions wait for each other.
  const rows = await tx.$queryRaw<{ count: number; most: number; expiresAt: Date }[]>`
    WITH "ofAddress" AS (
      INSERT INTO "SendingCount" AS s ("recipient", "action", "count", "expiresAt")
      VALUES (${address}::bytea, ${channel}, 1, ${end}::timestamptz)
      ON CONFLICT ("recipient", "action") DO UPDATE SET
        "count" = CASE WHEN s."expiresAt" <= ${now}::timestamptz THEN 1
                       ELSE least(s."count", ${ofAddress}::int) + 1 END,
        "expiresAt" = CASE WHEN s."expiresAt" <= ${now}::timestamptz THEN EXCLUDED."expiresAt"
                           ELSE s."expiresAt" END
      RETURNING "count", ${ofAddress}::int AS "most", "expiresAt"
    ), "ofService" AS (
      INSERT INTO "SendingCount" AS s ("recipient", "action", "count", "expiresAt")
      SELECT ${service}::bytea, ${channel}, 1, ${end}::timestamptz FROM "ofAddress" WHERE "count" <= "most"
      ON CONFLICT ("recipient", "action") DO UPDATE SET
        "count" = CASE WHEN s."expiresAt" <= ${now}::timestamptz THEN 1
                       ELSE least(s."count", ${ofService}::int) + 1 END,
        "expiresAt" = CASE WHEN s."expiresAt" <= ${now}::timestamptz THEN EXCLUDED."expiresAt"
                           ELSE s."expiresAt" END
      RETURNING "count", ${ofService}::int AS "most", "expiresAt"
    )
    SELECT * FROM "ofAddress" UNION ALL SELECT * FROM "ofService"`;
  const over = rows.find(({ count, most }) => count > most);
  if (!over) return { allowed: true };
  if (over === rows[1]) log.warn({ channel }, 'the service sends no more messages for now');
  return { allowed: false, retryAfterSeconds: secondsUntil(clock, over.expiresAt) };
}

async function countSending(
  tx: Transaction,
  { clock }: Pick<Context, 'clock'>,
  { sendLimit, sendWindowSeconds }: Pick<CodePolicy, 'sendLimit' | 'sendWindowSeconds'>,
  { action, key }: { readonly action: string; readonly key: Uint8Array<ArrayBuffer> },
): Promise<{ readonly count: number; readonly decision: SendingDecision }> {
  const now = clock.now();
  const end = new Date(now.getTime() + sendWindowSeconds * 1000);
  const [row] = await tx.$queryRaw<{ count: number; expiresAt: Date }[]>`
    INSERT INTO "SendingCount" AS s ("recipient", "action", "count", "expiresAt")
    VALUES (${key}::bytea, ${action}, 1, ${end}::timestamptz)
    ON CONFLICT ("recipient", "action") DO UPDATE SET
      "count" = CASE WHEN s."expiresAt" <= ${now}::timestamptz THEN 1
                     ELSE least(s."count", ${sendLimit + 1}) + 1 END,
      "expiresAt" = CASE WHEN s."expiresAt" <= ${now}::timestamptz THEN EXCLUDED."expiresAt"
                         ELSE s."expiresAt" END
    RETURNING "count", "expiresAt"`;
  if (!row) throw new Error('An upsert gave no row.');
  const { count, expiresAt } = row;
  if (count <= sendLimit) return { count, decision: { allowed: true } };
  return {
    count,
    decision: { allowed: false, retryAfterSeconds: secondsUntil(clock, expiresAt) },
  };
}
