import type { FastifyRequest } from 'fastify';
import { allows } from '../../../applications/security-profile.ts';
import { DpopFault, verifyProof } from '../../../auth/dpop/proof.ts';
import type { SecurityProfile } from '../../../generated/prisma/client.ts';
import type { Services } from '../../../services.ts';
import { InvalidDpopProof } from '../oauth-errors.ts';

/** What an application needs of proofs. */
interface KeyNeeds {
  readonly isRequired: boolean | null;
  readonly profile: SecurityProfile | null;
}

const proven = new WeakMap<FastifyRequest, string>();

/** The thumbprint of the key that the sender of a request has proved to have; undefined without a proof. */
export const provenKeyOf = (request: FastifyRequest): string | undefined => proven.get(request);

/** @throws {InvalidDpopProof} when a client gets no token without a proof, and the request brings none. */
export function assertProofSent(isRequired: boolean | null, isSent: boolean): void {
  if (isRequired && !isSent) throw new InvalidDpopProof('a proof of possession is required');
}

/**
 * Checks the proof of possession that a token request brings, and uses it up. Its client has authenticated.
 *
 * @param path The endpoint, below the issuer.
 * @param needs.isRequired Whether the client gets no token without one.
 * @param needs.profile The security profile of the client.
 * @returns The thumbprint of the key; undefined without a proof.
 * @throws {InvalidDpopProof}
 */
export async function proveKey(
  services: Services,
  request: FastifyRequest,
  path: '/token' | '/request',
  { isRequired, profile }: KeyNeeds,
): Promise<string | undefined> {
  const proof = request.headers['dpop'];
  assertProofSent(isRequired, proof !== undefined);
  if (proof === undefined) return undefined;
  try {
    const url = `${services.issuer}${path}`;
    const presented = { proof, method: request.method, url };
    const isAllowed = (algorithm: string) => allows(profile, algorithm);
    const thumbprint = await verifyProof(services, presented, { isAllowed });
    proven.set(request, thumbprint);
    return thumbprint;
  } catch (error) {
    if (error instanceof DpopFault) throw new InvalidDpopProof(error.message, error.nonce);
    throw error;
  }
}

/** The claim that binds a token to a key (RFC 9449 §6.1), and its `token_type`. */
export const bindingTo = (thumbprint: string | undefined) =>
  thumbprint === undefined
    ? ({ claim: {}, tokenType: 'Bearer' } as const)
    : ({ claim: { cnf: { jkt: thumbprint } }, tokenType: 'DPoP' } as const);
