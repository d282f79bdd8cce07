import type { FastifyRequest } from 'fastify';
import { TokenFault } from '../auth/access-token.ts';
import { authenticate, type Caller } from '../auth/caller.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { requestError } from '../graphql/request-error.ts';
import { type Services, systemActor } from '../services.ts';

/** The sender of a request: a caller, null without a token, or the reason why it was refused. */
export type Sender = { readonly caller: Caller | null } | { readonly refusal: unknown };

const senders = new WeakMap<FastifyRequest, Promise<Sender>>();

/** Says who sent a request that shows no token. */
export function identifyAs(request: FastifyRequest, sender: Promise<Sender>): void {
  // Whoever asks gets the failure; nobody may.
  sender.catch(() => undefined);
  senders.set(request, sender);
}

/** Finds the sender of a request, once; the body is read after that. */
export function identify(services: Services, request: FastifyRequest): Promise<Sender> {
  const known = senders.get(request);
  if (known) return known;
  const sender = findSender(services, request.headers.authorization);
  senders.set(request, sender);
  return sender;
}

async function findSender(services: Services, authorization: string | undefined): Promise<Sender> {
  if (!authorization) return { caller: null };
  try {
    return { caller: await authenticate(services, authorization) };
  } catch (error) {
    if (!(error instanceof TokenFault)) return { refusal: error };
    const message = `The access token is refused: ${error.message}.`;
    return { refusal: requestError('UNAUTHENTICATED', message) };
  }
}

/**
 * Makes the context of resolvers.
 *
 * @throws the sender's refusal: UNAUTHENTICATED, or the fault that kept the sender from being found.
 */
export function contextOf(services: Services, sender: Sender, traceId: string): GraphQLContext {
  if ('refusal' in sender) throw sender.refusal;
  const { caller } = sender;
  return { ...services, caller, actor: caller?.actor ?? systemActor, traceId };
}
