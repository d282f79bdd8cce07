import type { Services } from '../services.ts';
import type { ClaimedMessage, RecordedSending } from './queue.ts';
import { nextAttempt } from './schedule.ts';
import { openContent } from './sealed.ts';
import type { OutgoingMessage, Send, SendResult } from './senders/sender.ts';
import { renderMessage } from './templates/render.ts';

// A mail server may delay its greeting on purpose.
const timeoutMs = 30_000;
const maxErrorLength = 500;

/** The outcome of an attempt: its record, and a label for metrics. */
export interface MessageOutcome extends RecordedSending {
  readonly outcome: SendResult['outcome'] | 'expired';
}

/** The data of an attempt. */
interface Attempt {
  readonly message: ClaimedMessage;
  readonly send: Send | undefined;
  readonly productName: string;
}

/**
 * Sends a message once, unless it has expired. It never rejects: a failure is part of the outcome.
 *
 * @returns Undefined if the signal ended the attempt.
 */
export async function attemptMessage(
  services: Services,
  { message, send, productName }: Attempt,
  stopping: AbortSignal,
): Promise<MessageOutcome | undefined> {
  const { clock, log } = services;
  const startedAt = performance.now();
  const remainingMs = message.expiresAt.getTime() - clock.now().getTime();
  if (remainingMs <= 0) return expired(message, null);
  const deadline = AbortSignal.timeout(Math.min(timeoutMs, remainingMs));
  let result: SendResult;
  let outgoing: OutgoingMessage | undefined;
  try {
    outgoing = outgoingOf(services, message, productName);
    if (!send) throw new Error('the channel has no sender');
    result = await send(outgoing, AbortSignal.any([stopping, deadline]));
  } catch (error) {
    if (stopping.aborted) return undefined;
    const reason = deadline.aborted ? 'no answer in time' : reasonOf(error);
    result = { outcome: 'failed', error: reason };
  }
  const error = result.error === undefined ? null : withoutContent(result.error, outgoing);
  const outcome = judge(services, message, { ...result, error });
  log[outcome.status === 'SENT' ? 'info' : 'warn'](
    {
      traceId: message.traceId,
      messageId: message.id,
      channel: message.channel,
      template: message.template,
      attempt: message.attemptCount + 1,
      outcome: outcome.outcome,
      error: error ?? undefined,
      durationMs: Math.round(performance.now() - startedAt),
    },
    'message attempt',
  );
  return outcome;
}

function outgoingOf(
  { clock, cipher, baseUrl }: Services,
  message: ClaimedMessage,
  productName: string,
): OutgoingMessage {
  const { id, channel, recipient, template, language, createdAt, expiresAt } = message;
  const { code = null, link = null } = openContent(cipher, message);
  const minutes = Math.ceil((expiresAt.getTime() - clock.now().getTime()) / 60_000);
  const values = { channel, template, language, productName, code, link, minutes, baseUrl };
  return {
    ...renderMessage(values),
    ...{ id, channel, recipient, template, language, code, link, createdAt, expiresAt },
  };
}

function judge(
  { clock }: Services,
  message: ClaimedMessage,
  { outcome, error, retryAfter }: Omit<SendResult, 'error'> & { readonly error: string | null },
): MessageOutcome {
  const { id } = message;
  const now = clock.now();
  if (outcome === 'sent') {
    return { id, outcome, status: 'SENT', nextAttemptAt: null, sentAt: now, error: null };
  }
  if (outcome === 'refused') {
    return { id, outcome, status: 'FAILED', nextAttemptAt: null, sentAt: null, error };
  }
  const nextAttemptAt = nextAttempt(now, message, retryAfter);
  if (!nextAttemptAt) return expired(message, error);
  return { id, outcome, status: 'PENDING', nextAttemptAt, sentAt: null, error };
}

const expired = ({ id }: ClaimedMessage, error: string | null): MessageOutcome => ({
  id,
  outcome: 'expired',
  status: 'EXPIRED',
  nextAttemptAt: null,
  sentAt: null,
  error,
});

function reasonOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.message !== '') return cause.message;
    // Several addresses were tried.
    if (cause instanceof AggregateError) return reasonOf(cause.errors[0]);
  }
  return 'the message could not be handed over';
}

/** Removes the message's content from a reason, because the other side may quote it. */
function withoutContent(reason: string, outgoing: OutgoingMessage | undefined): string {
  const { code, link } = outgoing ?? {};
  return [code, link]
    .filter((secret) => typeof secret === 'string' && secret !== '')
    .reduce<string>((text, secret) => text.replaceAll(secret as string, '…'), reason)
    .replaceAll('\0', '\u{fffd}')
    .slice(0, maxErrorLength);
}
