import type { Transaction } from '../db/transaction.ts';
import { recordEvent } from '../events/record.ts';
import { type Context, systemActor } from '../services.ts';
import type { CodePolicy } from '../sign-in-experience/settings.ts';
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
  context: Pick<Context, 'clock' | 'cipher' | 'traceId'>,
  { sendLimit, sendWindowSeconds }: Pick<CodePolicy, 'sendLimit' | 'sendWindowSeconds'>,
  { action, recipient }: Sending,
): Promise<SendingDecision> {
  const { count, decision } = await countSending(
    tx,
    context,
    { sendLimit, sendWindowSeconds },
    { action, key: keyedDigest(context.cipher, 'recipient', [recipient.trim().toLowerCase()]) },
  );
  // The first message past the limit raises the event. The row is locked until the commit, so there is only one.
  if (count === sendLimit + 1) {
    const data = { action, recipient };
    await recordEvent(tx, { ...context, actor: systemActor }, 'Message.RateLimited', data);
  }
  return decision;
}

/** How many recipients' share one person may have sent. */
export const recipientsOfPerson = 3;

/**
 * Takes one of the messages that a person may have sent in a window, to whatever addresses: otherwise somebody with an
 * account could send messages, which cost money, to any number of strangers. Like {@link takeSending}, without an event.
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
  const milliseconds = expiresAt.getTime() - now.getTime();
  const retryAfterSeconds = Math.max(Math.ceil(milliseconds / 1000), 1);
  return { count, decision: { allowed: false, retryAfterSeconds } };
}
