import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';

/** The algorithms by which clients sign (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2.2). */
export const clientAlgorithms = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256', 'RS256'] as const;

/** A public key of a client, and the algorithms that it may sign by. */
export interface PublicKey {
  readonly kid: string | undefined;
  readonly algorithms: readonly string[];
  readonly key: KeyObject;
}

/** Why a JSON Web Key is not taken. */
class KeyFault extends Error {
  override readonly name = 'KeyFault';
}

const edwards = ['EdDSA', 'Ed25519'];
// A larger one would let a client choose how long this service computes.
const maxModulusBits = 8192;
// RFC 7518 §6: what makes a key private, or is a secret itself.
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

function algorithmsOf({ kty, crv }: JsonWebKey, key: KeyObject): readonly string[] {
  if (kty === 'EC' && crv === 'P-256') return ['ES256'];
  if (kty === 'EC' && crv === 'P-384') return ['ES384'];
  if (kty === 'OKP' && crv === 'Ed25519') return edwards;
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (kty !== 'RSA') throw new KeyFault('must be of a kind that signs by a supported algorithm');
  if (modulusLength < 2048 || modulusLength > maxModulusBits)
    throw new KeyFault(`must have from 2048 to ${maxModulusBits} bits`);
  return ['PS256', 'RS256'];
}

/** @throws {KeyFault} */
function readPublicKey(jwk: unknown): PublicKey {
  if (typeof jwk !== 'object' || jwk === null || Array.isArray(jwk))
    throw new KeyFault('must be a JSON Web Key');
  const { kid, alg, use, key_ops: operations } = jwk as Readonly<Record<string, unknown>>;
  if (privateMembers.some((member) => member in jwk)) throw new KeyFault('must be a public key');
  const isToVerify =
    (use === undefined || use === 'sig') &&
    (operations === undefined || (Array.isArray(operations) && operations.includes('verify')));
  if (!isToVerify) throw new KeyFault('must be a key for signatures');
  if (kid !== undefined && (typeof kid !== 'string' || kid === '' || kid.length > 256))
    throw new KeyFault('must have a kid of 1 to 256 characters, or none');
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
  } catch {
    throw new KeyFault('must be a JSON Web Key of a known kind');
  }
  const possible = algorithmsOf(jwk as JsonWebKey, key);
  if (alg === undefined) return { kid, algorithms: possible, key };
  if (typeof alg !== 'string' || !possible.includes(alg))
    throw new KeyFault('must have a supported alg that fits its kind, or none');
  return { kid, algorithms: possible === edwards ? edwards : [alg], key };
}

/** Why a client's key is not taken; undefined if it is. */
export function faultOfKey(jwk: unknown): string | undefined {
  try {
    readPublicKey(jwk);
    return undefined;
  } catch (error) {
    if (error instanceof KeyFault) return error.message;
    throw error;
  }
}

// A key comes with each request that it signs. Reading it takes as long as checking a signature by it.
const maxKnown = 1_000;
const known = new Map<string, PublicKey>();

/** A client's key; undefined if it is not taken. */
export function publicKeyOf(jwk: unknown): PublicKey | undefined {
  const digest = hash('sha256', JSON.stringify(jwk) ?? '', 'base64url');
  const before = known.get(digest);
  if (before) return before;
  try {
    const key = readPublicKey(jwk);
    known.set(digest, key);
    const [oldest] = known.keys();
    if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
    return key;
  } catch (error) {
    if (error instanceof KeyFault) return undefined;
    throw error;
  }
}

/** The keys of a JSON Web Key Set (RFC 7517 §5). Those that are of no use here are left out, as the RFC demands. */
export function publicKeysOf(jwks: unknown): PublicKey[] {
  const { keys } = (jwks ?? {}) as { readonly keys?: unknown };
  if (!Array.isArray(keys)) return [];
  return keys.flatMap((jwk) => publicKeyOf(jwk) ?? []);
}

/** The keys that may have signed by that algorithm: those that the header names, or all if it names none. */
export const keysFor = (
  keys: readonly PublicKey[],
  { alg, kid }: { readonly alg: string; readonly kid?: string | undefined },
): PublicKey[] =>
  keys.filter((one) => one.algorithms.includes(alg) && (kid === undefined || one.kid === kid));
