import { isUtf8 } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { credentialsOf } from '../../auth/authorization.ts';
import type { SetterScopes } from '../../auth/granting/setter-scopes.ts';
import { digestOf } from '../../keys/digest.ts';
import type { Services } from '../../services.ts';
import { decodeFormText, type Form } from './form.ts';
import {
  assertAssertion,
  type ClientKeys,
  clientAssertionType,
  readAssertedClient,
} from './keys/client-assertion.ts';
import { InvalidClient, InvalidRequest } from './oauth-errors.ts';

/** A client's id, and its secret or its assertion, as sent. All are empty if nothing readable was sent. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Absent for a client that authenticates by a secret. */
  readonly assertion?: string;
}

// Missing credentials take the same path as wrong ones, to the same refusal.
const none: ClientCredentials = { clientId: '', clientSecret: '' };

/**
 * Reads a client's credentials: HTTP Basic, `client_id` and `client_secret` in the body (RFC 6749 §2.3.1), or a
 * `client_assertion` (RFC 7521 §4.2). Unreadable ones come back empty and fail in {@link assertCredentials}.
 *
 * @throws {InvalidRequest} when the client uses two methods at once, names two clients, or sends an assertion of
 *   another type.
 */
export function readCredentials(authorization: string | undefined, form: Form): ClientCredentials {
  const clientId = form.find('client_id');
  const clientSecret = form.find('client_secret');
  const assertion = form.find('client_assertion');
  if (assertion !== undefined) {
    if (authorization !== undefined || clientSecret !== undefined) throw usesTwoMethods();
    if (form.find('client_assertion_type') !== clientAssertionType) {
      throw new InvalidRequest('client_assertion_type is not supported');
    }
    const asserted = readAssertedClient(assertion);
    return clientId === undefined || clientId === asserted
      ? { clientId: asserted, clientSecret: '', assertion }
      : none;
  }
  if (authorization === undefined) {
    return clientId === undefined || clientSecret === undefined ? none : { clientId, clientSecret };
  }
  if (clientSecret !== undefined) throw usesTwoMethods();
  const credentials = readBasic(authorization);
  if (!credentials?.clientSecret) return none;
  assertSameClient(clientId, credentials);
  return credentials;
}

/** @throws {InvalidRequest} when the body names another client than HTTP Basic. */
function assertSameClient(inBody: string | undefined, { clientId }: ClientCredentials): void {
  if (inBody !== undefined && inBody !== clientId)
    throw new InvalidRequest('client_id is not the client that authenticates');
}

/**
 * The id of a client that proves nothing: it sends its `client_id` in the body (RFC 6749 §3.2.1), where
 * {@link withIdInBody} has put that of HTTP Basic with an empty secret. Undefined for any other.
 */
export function idWithoutProof(authorization: string | undefined, form: Form): string | undefined {
  const isProven =
    form.find('client_secret') !== undefined || form.find('client_assertion') !== undefined;
  if (isProven) return undefined;
  return authorization === undefined || isWithoutSecret(authorization)
    ? form.find('client_id')
    : undefined;
}

/** Whether a header is HTTP Basic with an empty secret, as some libraries send for public clients. */
export const isWithoutSecret = (authorization: string): boolean =>
  readBasic(authorization)?.clientSecret === '';

/**
 * A form with the client's id, where HTTP Basic with an empty secret has it: from here on, there is one place to look.
 *
 * @throws {InvalidRequest} when the body names another client.
 */
export function withIdInBody(authorization: string | undefined, body: string): string {
  const credentials = authorization === undefined ? undefined : readBasic(authorization);
  if (credentials?.clientSecret !== '') return body;
  const form = new URLSearchParams(body);
  assertSameClient(form.get('client_id') || undefined, credentials);
  form.set('client_id', credentials.clientId);
  return form.toString();
}

const usesTwoMethods = () => new InvalidRequest('the client uses two methods to authenticate');

/** The id and the secret of HTTP Basic; the secret may be empty. Undefined if they cannot be read. */
function readBasic(authorization: string): ClientCredentials | undefined {
  const encoded = credentialsOf(authorization, 'Basic');
  if (encoded === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (!isUtf8(bytes)) return undefined;
  const pair = bytes.toString('utf8');
  const colon = pair.indexOf(':');
  if (colon === -1) return undefined;
  const clientId = decodeFormText(pair.slice(0, colon));
  const clientSecret = decodeFormText(pair.slice(colon + 1));
  return clientId && clientSecret !== undefined ? { clientId, clientSecret } : undefined;
}

const decoys = ['00'.repeat(32)];

/** What the database knows about the credentials of a client. */
export interface KnownCredentials extends ClientKeys {
  /** Each live secret, for {@link assertSecret}; empty for an unknown client. */
  readonly secrets: readonly string[];
}

/** A live secret: its SHA-256 in hexadecimal, and what its creator held. */
function readSecret(secret: string): { digest: string; setterScopes: SetterScopes } {
  const [digest = '', ...setterScopes] = secret.split(' ');
  return { digest, setterScopes };
}

/** For each credential by which a client can authenticate, its secrets and its keys, what {@link assertCredentials} returns. */
export const setterScopesOfCredentials = ({
  secrets,
  jwks,
  jwksUri,
  keySetterScopes,
}: KnownCredentials): SetterScopes[] => [
  ...secrets.map((secret) => readSecret(secret).setterScopes),
  ...(jwks === null && jwksUri === null ? [] : [keySetterScopes ?? []]),
];

/**
 * Authenticates a client.
 *
 * @returns What whoever made the secret or set the keys held. It limits what they open of Signet's own APIs.
 * @throws {InvalidClient}
 */
export const assertCredentials = async (
  services: Services,
  { assertion, ...credentials }: ClientCredentials,
  known: KnownCredentials,
): Promise<SetterScopes> =>
  assertion === undefined
    ? assertSecret(credentials, known.secrets)
    : assertAssertion(services, { ...credentials, assertion }, known);

/**
 * Checks a client's secret against its live secrets. The time does not reveal which part was wrong.
 *
 * @param secrets For each secret its SHA-256 in hexadecimal, then the scopes that its creator held, separated by
 *   spaces; empty for an unknown client.
 * @returns What the creator of the secret held. It limits what the secret opens of Signet's own APIs.
 * @throws {InvalidClient}
 */
function assertSecret(
  { clientSecret }: Pick<ClientCredentials, 'clientSecret'>,
  secrets: readonly string[],
): SetterScopes {
  const digest = digestOf(clientSecret);
  let used: SetterScopes | undefined;
  for (const secret of secrets.length > 0 ? secrets : decoys) {
    const { digest: candidate, setterScopes } = readSecret(secret);
    const isEqual = timingSafeEqual(digest, Buffer.from(candidate, 'hex'));
    used = isEqual ? setterScopes : used;
  }
  if (used === undefined || clientSecret === '') throw new InvalidClient();
  return used;
}
