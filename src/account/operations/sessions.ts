import type { Transaction } from '../../db/transaction.ts';
import type { Session } from '../../generated/prisma/client.ts';
import { endUserSession } from '../../oidc/sessions/operations.ts';
import { endOtherSessionsWithin, findOwnSession } from '../../oidc/sessions/own.ts';
import type { ViewerContext } from '../../services.ts';
import { changeViewer } from './viewer.ts';

/** The id of the session that the token is from; undefined if it ended or there never was one. */
export const findViewerSession = async ({
  database,
  viewer: { userId, session },
}: ViewerContext): Promise<string | undefined> =>
  (await findOwnSession(database.prisma, { userId, grant: session }))?.id;

/**
 * Ends one of the own sessions, which may be the one of the token itself. Raises no event.
 *
 * @returns The session in its last state.
 * @throws {NotFoundError} if it is not the person's.
 */
export const endViewerSession = (
  context: ViewerContext,
  { id }: { id: string },
): Promise<Session> => endUserSession(context, { userId: context.viewer.userId, sessionId: id });

/**
 * Ends all sessions of the person but the one of the token, with all that came from them. Raises no event.
 *
 * @returns The sessions that ended, in their last state.
 */
export const endOtherViewerSessions = (context: ViewerContext): Promise<Session[]> =>
  changeViewer(context, (tx) => endOtherSessions(tx, context));

/** Like {@link endOtherViewerSessions}, inside a transaction that has locked the person. */
export const endOtherSessions = (tx: Transaction, context: ViewerContext): Promise<Session[]> =>
  endOtherSessionsWithin(tx, context, {
    userId: context.viewer.userId,
    grant: context.viewer.session,
  });
