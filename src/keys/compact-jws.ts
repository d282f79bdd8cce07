import { constants, hash, type KeyObject, type SigningOptions, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { SigningAlgorithm } from '../config.ts';
import { derForm, jwsForm } from './ecdsa-signature.ts';

// node:crypto replaces jose's Web Crypto. CPU time an operation, measured on one core of a 2-core machine: ES256 signs
// in 98 µs against 292, and verifies with the claim checks in 172 against 356. A synchronous call blocks the loop that
// long, so operations slower than a hop to another thread run on one.
//
// A key goes by itself, and an ECDSA signature in OpenSSL's own form: ES256 signs in 27 µs and verifies in 71. With the
// option for the form of a JWS it is 64 and 110, of which 16 are for the object around the key.
const parameters = {
  ES256: { digest: 'sha256', numberBytes: 32, isQuick: true },
  ES384: { digest: 'sha384', numberBytes: 48, isQuick: false },
  EdDSA: { digest: null, isQuick: true },
  // Its other name (RFC 9864 §2.2), by which clients sign.
  Ed25519: { digest: null, isQuick: true },
  RS256: { digest: 'sha256', options: { padding: constants.RSA_PKCS1_PADDING }, isQuick: false },
  PS256: {
    digest: 'sha256',
    options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
    isQuick: false,
  },
} as const satisfies Record<SigningAlgorithm | 'Ed25519', Parameters>;

interface Parameters {
  readonly digest: string | null;
  readonly options?: SigningOptions;
  /** The size of each of the two numbers of a signature by ECDSA. */
  readonly numberBytes?: number;
  /** Whether it takes less time than a hop to another thread. */
  readonly isQuick: boolean;
}

/** A key and its one algorithm (RFC 8725 §3.1). */
export interface AlgorithmKey {
  readonly algorithm: string;
  readonly key: KeyObject;
}

const signElsewhere = promisify(sign);
const verifyElsewhere = promisify(verify);

function parametersOf(algorithm: string): Parameters {
  if (!Object.hasOwn(parameters, algorithm)) throw new Error(`No key signs with ${algorithm}.`);
  return parameters[algorithm as keyof typeof parameters];
}

/** Signs a JSON payload in the JWS compact serialization (RFC 7515 §7.1). */
export async function signCompact(
  { algorithm, key }: AlgorithmKey,
  header: Readonly<Record<string, unknown>>,
  payload: object,
): Promise<string> {
  const { digest, options, numberBytes, isQuick } = parametersOf(algorithm);
  const text = `${encodeJson(header)}.${encodeJson(payload)}`;
  const data = Buffer.from(text, 'latin1');
  const input = options ? { key, ...options } : key;
  const made = isQuick ? sign(digest, data, input) : await signElsewhere(digest, data, input);
  const signature = numberBytes === undefined ? made : jwsForm(made, numberBytes);
  return `${text}.${signature.toString('base64url')}`;
}

// Unused bits are zero (RFC 4648 §3.5). Decoders accept others, and then one signature would have 16 spellings.
const part = '(?:[\\w-]{4})*(?:[\\w-]{4}|[\\w-]{2}[AEIMQUYcgkosw048]|[\\w-][AQgw])';
const compact = new RegExp(`^((${part})\\.(${part}))\\.(${part})$`);

/**
 * The parts of a JWS compact serialization (RFC 7515 §7.1), each in the only base64url spelling of its bytes (RFC 4648
 * §5); undefined if it is not one. The signature covers `text`.
 */
export function splitCompact(
  token: string,
): { text: string; header: string; payload: string; signature: string } | undefined {
  const [, text, header, payload, signature] = compact.exec(token) ?? [];
  return text && header && payload && signature ? { text, header, payload, signature } : undefined;
}

// A user's token arrives with each of the user's calls, and a signature that was valid stays valid. So a verified
// signature is remembered, by digest and as long as the key itself. Expiry, revocation and all else are checked each
// time.
const maxRemembered = 10_000;
const remembered = new WeakMap<KeyObject, Set<string>>();

function remember(key: KeyObject, digest: string): void {
  const known = remembered.get(key) ?? new Set();
  remembered.set(key, known.add(digest));
  const [oldest] = known;
  if (known.size > maxRemembered && oldest !== undefined) known.delete(oldest);
}

/** Like {@link verifyOnce}, for a signature that is likely to come again. */
export async function verifyCompact(
  by: AlgorithmKey,
  text: string,
  signature: string,
): Promise<boolean> {
  const fingerprint = hash('sha256', `${text}.${signature}`, 'base64url');
  if (remembered.get(by.key)?.has(fingerprint)) return true;
  const isValid = await verifyOnce(by, text, signature);
  if (isValid) remember(by.key, fingerprint);
  return isValid;
}

/**
 * Whether a key made this signature over the first two parts of a JWS compact serialization (RFC 7515 §5.2).
 *
 * @param text Header and payload as sent: encoded, with a dot between.
 * @param signature As sent: in base64url.
 */
export async function verifyOnce(
  { algorithm, key }: AlgorithmKey,
  text: string,
  signature: string,
): Promise<boolean> {
  const { digest, options, numberBytes, isQuick } = parametersOf(algorithm);
  const data = Buffer.from(text, 'latin1');
  const input = options ? { key, ...options } : key;
  const sent = Buffer.from(signature, 'base64url');
  const bytes = numberBytes === undefined ? sent : derForm(sent, numberBytes);
  if (!bytes) return false;
  return isQuick ? verify(digest, data, input, bytes) : verifyElsewhere(digest, data, input, bytes);
}

const encodeJson = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
