import type { Told } from '../../db/told.ts';
import type { Transaction } from '../../db/transaction.ts';
import type { Session } from '../../generated/prisma/client.ts';
import { endOtherSessionsWithin, findSessionOfGrant } from '../../oidc/sessions/of-grant.ts';
import { endUserSession } from '../../oidc/sessions/operations.ts';
import type { ViewerContext } from '../../services.ts';
import { deletePersonalAccessTokensOf } from '../../subject-tokens/personal-access-token.ts';
import type { SessionEnd } from '../../users/sign-out.ts';
import { changeViewer } from './viewer.ts';

/** The id of the session that the token is from; undefined if it ended or there never was one. */
export const findViewerSession = async ({
  database,
  viewer: { userId, session },
}: ViewerContext): Promise<string | undefined> =>
  (await findSessionOfGrant(database.prisma, { userId, grant: session }))?.id;

/**
 * Ends one of the person's sessions, which may be the one of the token itself. Raises
 * `User.Session.Ended`.
 *
 * @returns The session in its last state.
 * @throws {NotFoundError} if it is not the person's.
 */
export const endViewerSession = (
  context: ViewerContext,
  { id }: { id: string },
): Promise<Session> => endUserSession(context, { userId: context.viewer.userId, sessionId: id });

/**
 * Ends all sessions of the person but the one of the token, and the personal access tokens, with all that came from
 * them. Raises `User.Session.Ended` for each session, or once if there were only tokens, and `User.Credential.Updated`
 * for each personal access token.
 *
 * @returns The sessions that ended, in their last state.
 */
export const endOtherViewerSessions = (context: ViewerContext): Promise<Session[]> =>
  changeViewer(context, (tx) => endOtherSessions(tx, context, 'ENDED'));

/** Like {@link endOtherViewerSessions}, inside a transaction that has locked the person. */
export async function endOtherSessions(
  tx: Transaction,
  context: ViewerContext,
  reason: SessionEnd,
): Promise<Told<Session[]>> {
  const { userId, session: grant } = context.viewer;
  await deletePersonalAccessTokensOf(tx, context, userId);
  return endOtherSessionsWithin(tx, context, { userId, grant }, reason);
}
