import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { type ConsoleSession, callerOf, useConsoleSession } from '../../console/session.ts';
import { requestError } from '../../graphql/request-error.ts';
import type { Services } from '../../services.ts';
import type { Sender } from '../identify.ts';
import { sessionSecretOf } from './cookies.ts';

/**
 * The session that a request's cookie proves; undefined without one in force. A page says with `X-Signet-Idle: 1` that
 * it asks by itself, and a socket is opened again by itself: neither keeps the session from ending.
 */
export async function sessionOf(
  services: Services,
  { headers }: { readonly headers: IncomingHttpHeaders },
): Promise<ConsoleSession | undefined> {
  const secret = sessionSecretOf(services, headers.cookie);
  if (secret === undefined) return undefined;
  const isIdle = headers['x-signet-idle'] === '1' || headers.upgrade !== undefined;
  return useConsoleSession(services, { secret }, { isIdle });
}

/** The sender of a request to the console's API: the person in the session, or a refusal. */
export async function senderInSession(
  services: Services,
  request: FastifyRequest,
): Promise<Sender> {
  try {
    const session = await sessionOf(services, request);
    return session
      ? { caller: callerOf(services, session) }
      : { refusal: requestError('UNAUTHENTICATED', noSession) };
  } catch (error) {
    return { refusal: error };
  }
}

/** What somebody without a session is told. */
export const noSession = 'Nobody is signed in to the console here.';
