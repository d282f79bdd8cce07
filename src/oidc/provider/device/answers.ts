import type { FastifyRequest } from 'fastify';
import { errors } from 'oidc-provider';

/** Whether a device is to poll again: nothing was refused (RFC 8628 §3.5). */
export const isWaiting = (error: Error): boolean =>
  error instanceof errors.AuthorizationPending || error instanceof errors.SlowDown;

const known = new WeakSet<FastifyRequest>();

/** Notes why a device gets no tokens, for {@link hasKnownCode}. */
export function noteAnswer(request: FastifyRequest, error: Error): void {
  const isKnown =
    isWaiting(error) ||
    error instanceof errors.ExpiredToken ||
    error instanceof errors.AccessDenied;
  if (isKnown) known.add(request);
}

/** Whether a refused token request brought a device code that there is: it guesses nothing. */
export const hasKnownCode = (request: FastifyRequest): boolean => known.has(request);
