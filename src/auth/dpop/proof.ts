import { hash, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, type JWK } from 'jose';
import { toNumericDate } from '../../clock.ts';
import { splitCompact, verifyOnce } from '../../keys/compact-jws.ts';
import { publicKeyOf } from '../../keys/public-keys.ts';
import type { Services } from '../../services.ts';
import { TokenFault } from '../access-token.ts';
import { useOnce } from '../used-once.ts';
import { isFreshNonce, needsNonce, nextNonce } from './nonce.ts';

/** The algorithms by which proofs are signed. */
export const proofAlgorithms = ['ES256', 'ES384', 'EdDSA', 'Ed25519', 'PS256'] as const;

/** How far from now a proof was made, in seconds. */
export const windowSeconds = 60;
const maxProofLength = 8 * 1024;
const maxJtiLength = 512;

/** A proof as a request brings it, and what it has to be about (RFC 9449 §4.3). */
export interface PresentedProof {
  /** The `DPoP` header; undefined without one. */
  readonly proof: unknown;
  readonly method: string;
  /** The public URL of the request; a query does not count. */
  readonly url: string;
}

/** A proof of possession is missing or wrong, or a token is sent in another way than its binding allows. */
export class DpopFault extends TokenFault {
  /** The `error` of the answer (RFC 9449 §5, §7.1, §8). */
  readonly code: 'invalid_dpop_proof' | 'invalid_token' | 'use_dpop_nonce';
  /** The nonce for the next proof; absent if none is needed. */
  readonly nonce: string | undefined;

  constructor(code: DpopFault['code'], message: string, nonce?: string) {
    super(message);
    this.code = code;
    this.nonce = nonce;
  }
}

/** The challenge that answers a fault at a resource (RFC 9449 §7.1). */
export const dpopChallenge = ({ code }: DpopFault): string =>
  `DPoP error="${code}", algs="${proofAlgorithms.join(' ')}"`;

const invalid = (message: string) => new DpopFault('invalid_dpop_proof', message);

/**
 * Checks a proof of possession (RFC 9449 §4.3), and uses it up.
 *
 * @param options.accessToken The token that it comes with; absent at the token endpoint.
 * @param options.isAllowed Whether the client may sign by an algorithm; by default by each.
 * @returns The thumbprint of the key (RFC 7638).
 * @throws {DpopFault}
 */
export async function verifyProof(
  services: Services,
  { proof, method, url }: PresentedProof,
  {
    accessToken,
    isAllowed = () => true,
  }: { readonly accessToken?: string; readonly isAllowed?: (algorithm: string) => boolean } = {},
): Promise<string> {
  if (typeof proof !== 'string' || proof.length > maxProofLength)
    throw invalid('the proof of possession is not a JWT');
  const { alg, thumbprint, claims } = await verifySignature(proof);
  if (!isAllowed(alg))
    throw invalid('the proof is signed by an algorithm that the client may not use');
  const { htm, htu, iat, jti, ath, nonce } = claims;
  if (htm !== method || !isAbout(htu, url)) throw invalid('the proof is for another request');
  const now = toNumericDate(services.clock.now());
  if (typeof iat !== 'number' || !(Math.abs(now - iat) <= windowSeconds))
    throw invalid('the proof was not made just now');
  if (typeof jti !== 'string' || jti === '' || jti.length > maxJtiLength)
    throw invalid('the proof has no jti');
  if (accessToken !== undefined && ath !== hash('sha256', accessToken, 'base64url'))
    throw invalid('the proof is for another token');
  if ((await needsNonce(services)) && !isFreshNonce(services, nonce))
    throw new DpopFault('use_dpop_nonce', 'the proof needs a nonce', nextNonce(services));
  const isFirst = await useOnce(services.database.tokens, {
    what: ['dpop', thumbprint, jti],
    // Longer than it counts here: the clock of another node may be behind.
    expiresAt: new Date((iat + 2 * windowSeconds) * 1000),
    at: services.clock.now(),
  });
  if (!isFirst) throw invalid('the proof was used before');
  return thumbprint;
}

async function verifySignature(proof: string) {
  try {
    const { alg, typ, jwk, crit } = decodeProtectedHeader(proof);
    const key = publicKeyOf(jwk);
    const isKnown = typ === 'dpop+jwt' && crit === undefined && jwk !== undefined;
    const fits = proofAlgorithms.some((one) => one === alg) && alg && key?.algorithms.includes(alg);
    const parts = splitCompact(proof);
    if (isKnown && key && fits && parts) {
      const by = { algorithm: alg, key: key.key };
      if (await verifyOnce(by, parts.text, parts.signature))
        return { alg, thumbprint: await thumbprintOf(key.key, jwk), claims: decodeJwt(proof) };
    }
  } catch {
    // Refused like one of another type: a proof tells its sender nothing that they do not know.
  }
  throw invalid('the proof of possession is not valid');
}

const thumbprints = new WeakMap<KeyObject, string>();

async function thumbprintOf(key: KeyObject, jwk: JWK): Promise<string> {
  const thumbprint = thumbprints.get(key) ?? (await calculateJwkThumbprint(jwk));
  thumbprints.set(key, thumbprint);
  return thumbprint;
}

/** Whether `htu` is this URL, up to the spellings that are the same (RFC 3986 §6.2.2, §6.2.3). */
function isAbout(htu: unknown, url: string): boolean {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false;
  return withoutQuery(htu) === withoutQuery(url);
}

function withoutQuery(address: string): string {
  const url = new URL(address);
  url.search = '';
  url.hash = '';
  return url.href;
}
