import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { consoleApplicationId } from '../../applications/built-in.ts';
import type { Caller } from '../../auth/caller.ts';
import { consoleApp } from '../../console/app.ts';
import { requestError } from '../../graphql/request-error.ts';
import { type FirstPartySession, useFirstPartySession } from '../../oidc/first-party/session.ts';
import type { Services } from '../../services.ts';
import type { Sender } from '../identify.ts';

/**
 * The session that a request's cookie proves; undefined without one in force. A request that a page makes by itself has
 * `X-Signet-Idle: 1`, and sockets reopen by themselves: neither extends the session.
 */
export const sessionOf = (
  services: Services,
  { headers }: { readonly headers: IncomingHttpHeaders },
): Promise<FirstPartySession | undefined> =>
  useFirstPartySession(
    services,
    consoleApp,
    { cookies: headers.cookie },
    { isIdle: headers['x-signet-idle'] === '1' || headers.upgrade !== undefined },
  );

/** The caller that a session stands for: the user, with the scopes of their roles. */
export const callerOf = ({ id, userId, scopes, expiresAt, claims }: FirstPartySession): Caller => ({
  actor: { type: 'USER', id: userId, clientId: consoleApplicationId },
  scopes,
  expiresAt,
  claims,
  consoleSessionId: id,
});

/** The sender of a request to the console's API: the person in the session, or a refusal. */
export async function senderInSession(
  services: Services,
  request: FastifyRequest,
): Promise<Sender> {
  try {
    const session = await sessionOf(services, request);
    return session
      ? { caller: callerOf(session) }
      : { refusal: requestError('UNAUTHENTICATED', noSession) };
  } catch (error) {
    return { refusal: error };
  }
}

/** The error for a request without a session. */
export const noSession = 'Nobody is signed in to the console here.';
