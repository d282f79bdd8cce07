import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
// Standard Webhooks: between 24 and 64 bytes.
const secretBytes = 32;

/** Makes a signing secret in the form of Standard Webhooks: `whsec_` and base64. */
export const generateWebhookSecret = (): string =>
  `${prefix}${randomBytes(secretBytes).toString('base64')}`;

/** Whether a text is a signing secret; `whsec_` may be missing, as in the libraries. */
export function isWebhookSecret(text: string): boolean {
  const encoded = withoutPrefix(text);
  const { length } = Buffer.from(encoded, 'base64');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && length >= 24 && length <= 64;
}

const withoutPrefix = (secret: string) =>
  secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;

/** The key of a secret. */
export const keyOf = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(withoutPrefix(secret), 'base64'));

/**
 * The headers that sign a message, with one signature for each key.
 *
 * @param id The event's id, the same for all attempts.
 * @param timestamp The time of the attempt, in seconds since the epoch.
 * @param body The exact bytes that are sent.
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
