import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Overloaded } from '../admission/overloaded.ts';
import { isUnreachable } from '../db/unreachable.ts';
import { failures } from '../failures.ts';
import { limitAddresses } from '../protection/addresses.ts';
import type { Services } from '../services.ts';
import { lookFor, lookWithoutDatabase, spokenBy } from './look.ts';
import { sendPage } from './page.ts';
import { failedPage, unavailablePage, waitPage } from './stopped.ts';
import { urlOf } from './visitor.ts';

/** Answers a request that failed because the database cannot be reached. */
export function sendUnavailable(
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  retryUrl: string | undefined,
): FastifyReply {
  request.log.warn({ err: error }, 'the database cannot be reached');
  const { status, headers = {} } = failures.SERVICE_UNAVAILABLE;
  const look = lookWithoutDatabase(spokenBy(request));
  return sendPage(reply.code(status).headers(headers), look, unavailablePage(look, retryUrl));
}

/** Answers a request that waited for its turn for too long. Nothing of it was done, so it may be repeated. */
export function sendOverloaded(
  request: FastifyRequest,
  reply: FastifyReply,
  retryUrl: string | undefined,
): FastifyReply {
  const { status, headers = {} } = failures.OVERLOADED;
  const look = lookWithoutDatabase(spokenBy(request));
  return sendPage(reply.code(status).headers(headers), look, unavailablePage(look, retryUrl));
}

/** Answers the failures of a scope's routes, and the requests of addresses over their limits, with pages. */
export function answerFailures(scope: FastifyInstance, services: Services): void {
  scope.setErrorHandler(async (error: { statusCode?: number }, request, reply) => {
    const url = urlOf(services, request);
    if (error instanceof Overloaded) return sendOverloaded(request, reply, url);
    if (isUnreachable(error)) return sendUnavailable(request, reply, error, url);
    const { statusCode = 500 } = error;
    if (statusCode >= 500) request.log.error({ err: error }, 'a request for a page failed');
    const look = await lookFor(services, spokenBy(request));
    return sendPage(reply.code(statusCode), look, failedPage(look, url, statusCode));
  });
  limitAddresses(scope, services, async (reply, request) => {
    const look = await lookFor(services, spokenBy(request));
    const seconds = Number(reply.getHeader('retry-after') ?? 1);
    return sendPage(reply, look, waitPage(look, urlOf(services, request), seconds));
  });
}
