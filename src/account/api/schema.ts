import { type AccountScope, allows } from '../../auth/scopes.ts';
import { builder } from '../../graphql/builder.ts';
import type { GraphQLContext } from '../../graphql/context.ts';
import { requestError } from '../../graphql/request-error.ts';
import type { ViewerContext } from '../../services.ts';
import { User } from '../../users/schema.ts';
import { findViewerSession } from '../operations/sessions.ts';
import { cannotBeUsed } from '../operations/viewer.ts';

/** The schema of the Account API. */
export const subGraphs = ['account' as const];

/**
 * The context of an operation on the caller's own account.
 *
 * @param required The scope that the token needs: to write, unless told otherwise.
 * @throws UNAUTHENTICATED without a token; FORBIDDEN if it lacks the scope.
 */
export function viewerContext(
  context: GraphQLContext,
  required: AccountScope = 'account:write',
): ViewerContext {
  const { viewer, visitor, ip } = context;
  if (!visitor || ip === null)
    throw new Error('Viewers are in the schema of the Account API alone.');
  if (!viewer) throw requestError('UNAUTHENTICATED', 'An access token of a person is required.');
  if (!allows(viewer.scopes, required)) {
    throw requestError('FORBIDDEN', `The access token lacks the scope ${required}.`, {
      requiredScope: required,
    });
  }
  return { ...context, viewer, visitor, ip };
}

builder.queryField('viewer', (t) =>
  t.prismaField({
    type: User,
    subGraphs,
    description: 'The person who is signed in. Requires `account:read`.',
    resolve: async (query, _root, _args, context) => {
      const { database, viewer } = viewerContext(context, 'account:read');
      const user = await database.prisma.user.findUnique({
        ...query,
        where: { id: viewer.userId, isSuspended: false },
      });
      if (!user) throw cannotBeUsed();
      return user;
    },
  }),
);

const currentSessions = new WeakMap<GraphQLContext, Promise<string | undefined>>();

builder.prismaObjectField('Session', 'isCurrent', (t) =>
  t.boolean({
    subGraphs,
    description: 'Whether the access token of this request is from this session.',
    resolve: async ({ id }, _args, context) => {
      let current = currentSessions.get(context);
      if (!current) {
        current = findViewerSession(viewerContext(context, 'account:read'));
        currentSessions.set(context, current);
      }
      return id === (await current);
    },
  }),
);
