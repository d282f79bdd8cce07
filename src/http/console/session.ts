import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { type ConsoleSession, callerOf, useConsoleSession } from '../../console/session.ts';
import { requestError } from '../../graphql/request-error.ts';
import type { Services } from '../../services.ts';
import type { Sender } from '../identify.ts';
import { sessionSecretOf } from './cookies.ts';

/** The session that a request's cookie proves; undefined without one in force. */
export async function sessionOf(
  services: Services,
  { headers }: { readonly headers: IncomingHttpHeaders },
): Promise<ConsoleSession | undefined> {
  const secret = sessionSecretOf(services, headers.cookie);
  return secret === undefined ? undefined : useConsoleSession(services, { secret });
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
