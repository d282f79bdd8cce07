import type { FastifyRequest } from 'fastify';
import type { GraphQLError } from 'graphql';
import { TokenFault } from '../auth/access-token.ts';
import { authenticate, type Caller } from '../auth/caller.ts';
import { DpopFault, dpopChallenge, type PresentedProof } from '../auth/dpop/proof.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { requestError } from '../graphql/request-error.ts';
import { type Call, type Services, systemActor } from '../services.ts';

/** The sender of a request: a caller, null without a token, or the reason why it was refused. */
export type Sender = { readonly caller: Caller | null } | { readonly refusal: unknown };

const senders = new WeakMap<FastifyRequest, Promise<Sender>>();

/** Identifies the sender of a request without a token. */
export function identifyAs(request: FastifyRequest, sender: Promise<Sender>): void {
  // Without this, a failure that nobody awaits would end the process.
  sender.catch(() => undefined);
  senders.set(request, sender);
}

/** Finds the sender of a request, once; the body is read after that. */
export function identify(services: Services, request: FastifyRequest): Promise<Sender> {
  const known = senders.get(request);
  if (known) return known;
  const sender = findSender(services, request);
  senders.set(request, sender);
  return sender;
}

async function findSender(services: Services, request: FastifyRequest): Promise<Sender> {
  const { authorization } = request.headers;
  if (!authorization) return { caller: null };
  try {
    const proof = proofOf(services, request);
    return { caller: await authenticate(services, { authorization, ...proof }) };
  } catch (error) {
    return { refusal: error instanceof TokenFault ? refusedToken(error) : error };
  }
}

/** The headers of answers that scripts of other origins need for a proof of possession. */
export const dpopHeaders = ['DPoP-Nonce', 'WWW-Authenticate'];

/** The proof of possession of a request, if it brings one. */
export const proofOf = (
  { baseUrl }: Pick<Services, 'baseUrl'>,
  { method, url, headers }: Pick<FastifyRequest, 'method' | 'url' | 'headers'>,
): PresentedProof => ({ proof: headers['dpop'], method, url: `${baseUrl}${url}` });

/** The error that answers a token that is refused. */
export function refusedToken(fault: TokenFault): GraphQLError {
  const message = `The access token is refused: ${fault.message}.`;
  if (!(fault instanceof DpopFault))
    return requestError('UNAUTHENTICATED', message, {}, 'Bearer error="invalid_token"');
  const error = requestError('UNAUTHENTICATED', message, {}, dpopChallenge(fault));
  const { headers } = error.extensions['http'] as { readonly headers: Record<string, string> };
  if (fault.nonce !== undefined) headers['DPoP-Nonce'] = fault.nonce;
  return error;
}

/**
 * Makes the context of resolvers.
 *
 * @throws the sender's refusal: UNAUTHENTICATED, or the fault that kept the sender from being found.
 */
export function contextOf(
  services: Services,
  sender: Sender,
  call: Call,
  { once, place }: Pick<GraphQLContext, 'once' | 'place'> = {},
): GraphQLContext {
  if ('refusal' in sender) throw sender.refusal;
  const { caller } = sender;
  return { ...services, caller, actor: caller?.actor ?? systemActor, ...call, once, place };
}
