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
  const now = context.clock.now();
  const end = new Date(now.getTime() + sendWindowSeconds * 1000);
  const key = keyedDigest(context.cipher, 'recipient', [recipient.trim().toLowerCase()]);
  // The first message past the limit raises the event. The row is locked until the commit, so there is only one.
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
  if (row.count <= sendLimit) return { allowed: true };
  if (row.count === sendLimit + 1) {
    const data = { action, recipient };
    await recordEvent(tx, { ...context, actor: systemActor }, 'Message.RateLimited', data);
  }
  const milliseconds = row.expiresAt.getTime() - now.getTime();
  return { allowed: false, retryAfterSeconds: Math.max(Math.ceil(milliseconds / 1000), 1) };
}
