import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import { toNumericDate } from '../../../clock.ts';
import { splitCompact, verifyOnce } from '../../../keys/compact-jws.ts';
import {
  clientAlgorithms,
  keysFor,
  type PublicKey,
  publicKeysOf,
} from '../../../keys/public-keys.ts';
import { Documents } from '../../../outbound/documents.ts';
import type { Services } from '../../../services.ts';

/** How far the clock of another party may be ahead, and that of another node behind, in seconds. */
export const maxSkewSeconds = 60;
/** The longest JWT of another party that is read, in characters. */
export const maxForeignLength = 8 * 1024;
const maxJtiLength = 512;
// Of a set without ids in which many keys fit: each costs a check of a signature.
const maxTried = 10;

/** A JWT that somebody else has signed. Nothing of it is proved. */
export interface ForeignJwt {
  readonly jwt: string;
  readonly header: {
    readonly alg: string;
    readonly kid: string | undefined;
    readonly typ: string | undefined;
  };
  readonly claims: JWTPayload;
}

/** Where the keys of another party are: one of the two. */
interface KeySource {
  readonly jwks: unknown;
  readonly jwksUri: string | null;
}

/** Reads a JWT of another party; undefined if it is none that could be verified here. */
export function readForeignJwt(jwt: string): ForeignJwt | undefined {
  if (jwt.length > maxForeignLength) return undefined;
  try {
    const { alg, kid, typ, crit } = decodeProtectedHeader(jwt);
    const isKnown = clientAlgorithms.some((one) => one === alg) && crit === undefined;
    const isText = (value: unknown) => value === undefined || typeof value === 'string';
    if (!isKnown || alg === undefined || !isText(kid) || !isText(typ)) return undefined;
    return { jwt, header: { alg, kid, typ }, claims: decodeJwt(jwt) };
  } catch {
    // Refused like any other that is not right.
    return undefined;
  }
}

/** Whether one of a party's keys has signed a JWT, by the algorithm that its header names. */
export async function isSignedBy(
  services: Services,
  { jwt, header }: ForeignJwt,
  source: KeySource,
): Promise<boolean> {
  const parts = splitCompact(jwt);
  if (!parts) return false;
  for (const { key } of (await findKeys(services, source, header)).slice(0, maxTried)) {
    const by = { algorithm: header.alg, key };
    if (await verifyOnce(by, parts.text, parts.signature)) return true;
  }
  return false;
}

/** Whether a claim can be the id of a JWT that counts once. */
export const isJti = (jti: unknown): jti is string =>
  typeof jti === 'string' && jti !== '' && jti.length <= maxJtiLength;

/** Whether a JWT is good now, and for so many seconds at most. */
export function isInForce({ exp, nbf }: JWTPayload, now: Date, maxAheadSeconds: number): boolean {
  const seconds = toNumericDate(now);
  return (
    typeof exp === 'number' &&
    exp > seconds &&
    exp <= seconds + maxAheadSeconds &&
    (nbf === undefined || (typeof nbf === 'number' && nbf <= seconds + maxSkewSeconds))
  );
}

/** Until when the use of a JWT is remembered: longer than it counts here, as another node's clock may be behind. */
export const rememberedUntil = (exp: number): Date => new Date((exp + maxSkewSeconds) * 1000);

const remote = new WeakMap<Services['keys'], Documents<readonly PublicKey[]>>();

async function findKeys(
  services: Services,
  { jwks, jwksUri }: KeySource,
  header: ForeignJwt['header'],
): Promise<readonly PublicKey[]> {
  if (jwksUri === null) return keysFor(publicKeysOf(jwks), header);
  let documents = remote.get(services.keys);
  if (!documents) {
    documents = new Documents(services, publicKeysOf);
    remote.set(services.keys, documents);
  }
  const isMissing = (keys: readonly PublicKey[]) => keysFor(keys, header).length === 0;
  return keysFor((await documents.find(jwksUri, isMissing)) ?? [], header);
}
