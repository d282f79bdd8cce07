import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
// Standard Webhooks: between 24 and 64 bytes.
const secretBytes = 32;

/** Makes a secret for signing, as Standard Webhooks writes them: `whsec_` and base64. */
export const generateWebhookSecret = (): string =>
  `${prefix}${randomBytes(secretBytes).toString('base64')}`;

/** The key that a secret stands for. */
export const keyOf = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(prefix.length), 'base64'));

/**
 * The headers that sign a message, one signature a key.
 *
 * @param id The event's id: the same over all attempts.
 * @param timestamp The attempt's, in seconds since the epoch.
 * @param body The very bytes that are sent.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(
  keys: readonly KeyObject[],
  message: { readonly id: string; readonly timestamp: number; readonly body: Buffer },
): Record<string, string> {
  const { id, timestamp, body } = message;
  const signatures = keys.map(
    (key) =>
      `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
