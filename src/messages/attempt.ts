import type { SpanContext } from '@opentelemetry/api';
import type { Services } from '../services.ts';
import { inTrace, markFailed, SpanKind } from '../tracing/tracing.ts';
import type { ClaimedMessage, RecordedSending } from './queue.ts';
import { nextAttempt } from './schedule.ts';
import { openContent } from './sealed.ts';
import type { OutgoingMessage, Send, SendResult } from './senders/sender.ts';
import { renderMessage } from './templates/render.ts';

// A mail server may delay its greeting on purpose.
const timeoutMs = 30_000;

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
export function attemptMessage(
  services: Services,
  attempt: Attempt,
  stopping: AbortSignal,
): Promise<MessageOutcome | undefined> {
  const { id, traceId, channel, template, attemptCount } = attempt.message;
  const attributes = {
    'signet.message.id': id,
    'signet.message.channel': channel,
    'signet.message.template': template,
    'signet.message.attempt': attemptCount + 1,
  };
  return inTrace(traceId, 'send message', SpanKind.CLIENT, attributes, async (place, span) => {
    const outcome = await attemptOnce(services, attempt, stopping, place);
    if (outcome && outcome.outcome !== 'sent') markFailed(span, outcome.outcome);
    return outcome;
  });
}

async function attemptOnce(
  services: Services,
  { message, send, productName }: Attempt,
  stopping: AbortSignal,
  place: SpanContext,
): Promise<MessageOutcome | undefined> {
  const { clock, log } = services;
  const startedAt = performance.now();
  const remainingMs = message.expiresAt.getTime() - clock.now().getTime();
  if (remainingMs <= 0) return expired(message, null);
  const deadline = AbortSignal.timeout(Math.min(timeoutMs, remainingMs));
  let result: SendResult;
  try {
    const outgoing = outgoingOf(services, message, productName, place);
    result = send
      ? await send(outgoing, AbortSignal.any([stopping, deadline]))
      : { outcome: 'failed', error: 'the channel has no sender' };
  } catch (cause) {
    if (!stopping.aborted && !deadline.aborted) {
      log.warn({ err: cause, messageId: message.id }, 'a message could not be handed over');
    }
    result = { outcome: 'failed', error: 'the message could not be handed over' };
  }
  if (result.outcome === 'failed') {
    if (stopping.aborted) return undefined;
    if (deadline.aborted) result = { outcome: 'failed', error: 'no answer in time' };
  }
  const error = result.error ?? null;
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
  place: SpanContext,
): OutgoingMessage {
  const { id, channel, recipient, template, language, createdAt, expiresAt } = message;
  const { code = null, link = null, variables } = openContent(cipher, message);
  const organization = variables?.['organization'] ?? '';
  const minutes = Math.ceil((expiresAt.getTime() - clock.now().getTime()) / 60_000);
  const words = { channel, template, language, productName, organization };
  return {
    ...renderMessage({ ...words, code, link, minutes, baseUrl }),
    ...{ id, channel, recipient, template, language, code, link, createdAt, expiresAt, place },
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
