import type { Agent } from 'undici';
import { type Clock, toNumericDate } from '../../clock.ts';
import { post } from '../../outbound/attempt.ts';
import { keyOf, signatureHeaders } from '../../outbound/signature.ts';
import { asciiAddress } from '../../text/address.ts';
import { traceparentOf } from '../../tracing/traceparent.ts';
import type { OutgoingMessage, Send } from './sender.ts';

/** The endpoint that messages are posted to. */
export interface HttpSettings {
  readonly url: string;
}

/**
 * Posts each message, signed by Standard Webhooks, with the message's id as `webhook-id`.
 *
 * @param options.secret `whsec_…`.
 * @param options.timeoutMs For the whole attempt.
 */
export function httpSender(
  { url }: HttpSettings,
  options: {
    readonly agent: Agent;
    readonly clock: Clock;
    readonly secret: string;
    readonly timeoutMs: number;
  },
): Send {
  const { agent, clock, secret, timeoutMs } = options;
  const key = keyOf(secret);
  return async (message, signal) => {
    const body = bodyOf(message);
    const timestamp = toNumericDate(clock.now());
    // The answer is not stored, because it may repeat the code.
    const { outcome, error, retryAfter } = await post(agent, {
      url,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Signet-Messages/1',
        traceparent: traceparentOf(message.place),
        ...signatureHeaders([key], { id: message.id, timestamp, body }),
      },
      body,
      timeoutMs,
      signal,
    });
    if (outcome === 'succeeded') return { outcome: 'sent' };
    return { outcome: 'failed', error: error ?? outcome, retryAfter };
  };
}

function bodyOf(message: OutgoingMessage): Buffer {
  const { channel, template, language, code, link, expiresAt } = message;
  const recipient = asciiAddress(message.recipient);
  return Buffer.from(
    JSON.stringify({ channel, recipient, template, language, code, link, expiresAt }),
  );
}
