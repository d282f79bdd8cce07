import { isUtf8 } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../../keys/digest.ts';
import { decodeFormText, type Form } from './form.ts';
import { InvalidClient, InvalidRequest } from './oauth-errors.ts';

/** A client's id and secret, as sent. Both are empty if nothing readable was sent. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

// Missing credentials take the same path as wrong ones, to the same refusal.
const none: ClientCredentials = { clientId: '', clientSecret: '' };

/**
 * Reads a client's credentials: HTTP Basic, or `client_id` and `client_secret` in the body (RFC 6749 §2.3.1).
 * Unreadable ones come back empty and fail in {@link assertSecret}.
 *
 * @throws {InvalidRequest} when the client uses both methods at once, or names two clients.
 */
export function readCredentials(authorization: string | undefined, form: Form): ClientCredentials {
  const clientId = form.find('client_id');
  const clientSecret = form.find('client_secret');
  if (authorization === undefined) {
    return clientId === undefined || clientSecret === undefined ? none : { clientId, clientSecret };
  }
  if (clientSecret !== undefined) {
    throw new InvalidRequest('the client uses two methods to authenticate');
  }
  const credentials = readBasic(authorization);
  if (clientId !== undefined && credentials !== none && clientId !== credentials.clientId) {
    throw new InvalidRequest('client_id is not the client that authenticates');
  }
  return credentials;
}

function readBasic(authorization: string): ClientCredentials {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization) ?? [];
  if (encoded === undefined) return none;
  const bytes = Buffer.from(encoded, 'base64');
  if (!isUtf8(bytes)) return none;
  const pair = bytes.toString('utf8');
  const colon = pair.indexOf(':');
  if (colon === -1) return none;
  const clientId = decodeFormText(pair.slice(0, colon));
  const clientSecret = decodeFormText(pair.slice(colon + 1));
  return clientId && clientSecret ? { clientId, clientSecret } : none;
}

const decoys = ['00'.repeat(32)];

/**
 * Checks a client's secret against the digests of its live secrets. The time does not reveal which part was wrong.
 *
 * @param digests In hexadecimal; none for an unknown client.
 * @throws {InvalidClient}
 */
export function assertSecret(
  { clientSecret }: ClientCredentials,
  digests: readonly string[],
): void {
  const digest = digestOf(clientSecret);
  let isRight = false;
  for (const candidate of digests.length > 0 ? digests : decoys) {
    const isEqual = timingSafeEqual(digest, Buffer.from(candidate, 'hex'));
    isRight = isRight || isEqual;
  }
  if (!isRight || clientSecret === '') throw new InvalidClient();
}
