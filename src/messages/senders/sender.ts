import type { SpanContext } from '@opentelemetry/api';
import type { MessageChannel } from '../../generated/prisma/client.ts';
import type { MessageLanguage } from '../templates/catalogue.ts';
import type { RenderedMessage } from '../templates/render.ts';
import type { MessageTemplate } from '../templates/wording.ts';

/** A message, as a sender gets it. */
export interface OutgoingMessage extends RenderedMessage {
  /** The same for all attempts, so that the other side can recognize a repetition. */
  readonly id: string;
  readonly channel: MessageChannel;
  readonly recipient: string;
  readonly template: MessageTemplate;
  readonly language: MessageLanguage;
  readonly code: string | null;
  readonly link: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Where in its trace it is sent. */
  readonly place: SpanContext;
}

/** The result of handing a message over. */
export interface SendResult {
  /** `refused`: the other side will never accept this message. */
  readonly outcome: 'sent' | 'refused' | 'failed';
  /** Why it was not sent. */
  readonly error?: string;
  /** The other side's `Retry-After`, as sent. */
  readonly retryAfter?: string | undefined;
}

/**
 * Hands a message over, once. Rejects if the other side cannot be reached, or the signal ended it.
 *
 * @param signal Ends the attempt: the process stops, the attempt takes too long, or the message has expired.
 */
export type Send = (message: OutgoingMessage, signal: AbortSignal) => Promise<SendResult>;
