import { NotFoundError } from '../../errors.ts';
import type { Session as SessionRow } from '../../generated/prisma/client.ts';
import { builder, ownGraphs } from '../../graphql/builder.ts';
import { connectionOf } from '../../graphql/lists/page.ts';
import { relatedList } from '../../graphql/lists/related-list.ts';
import { recordMutations } from '../../graphql/mutations/record-mutations.ts';
import { endUserSession } from './operations.ts';

/** A browser in which a person is signed in. */
export const Session = builder.prismaNode('Session', {
  subGraphs: ownGraphs,
  nullable: true,
  id: {
    field: 'id',
    subGraphs: ownGraphs,
    description: "The session's id: a TypeID with the prefix `session`.",
  },
  description: 'A browser in which a person is signed in.',
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    applicationIds: t.field({
      type: ['ID'],
      description: 'The applications that the person is signed in to.',
      resolve: ({ applicationIds }) => applicationIds,
    }),
    ip: t.exposeString('ip', { description: 'The IP address of the sign-in.' }),
    userAgent: t.exposeString('userAgent', {
      nullable: true,
      description: 'The browser, as its `User-Agent` header says.',
    }),
    authenticationMethods: t.exposeStringList('authenticationMethods', {
      description: 'How the person authenticated (RFC 8176), such as `pwd`.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the person signed in.',
    }),
    lastActiveAt: t.expose('lastActiveAt', {
      type: 'DateTime',
      description: 'When an application last used the session.',
    }),
  }),
});

const SessionConnection = connectionOf('Session', Session, { graphs: ownGraphs });

const sessionsOfUser = relatedList<SessionRow>({
  relation: 'sessions',
  key: 'id',
  where: ({ clock }) => ({ expiresAt: { gt: clock.now() } }),
});

builder.prismaObjectField('User', 'sessions', (t) =>
  t.connection(
    {
      type: Session,
      subGraphs: ownGraphs,
      description: 'The browsers in which the user is signed in, oldest first.',
      ...sessionsOfUser,
    },
    SessionConnection,
  ),
);

const mutations = recordMutations('session', Session, {
  scope: 'users:write',
  description: 'The session in its last state.',
});

mutations.add('endUserSession', {
  description:
    "Ends one of a user's sessions: the browser is signed out, and all its tokens end. Raises `User.Session.Ended`.",
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    sessionId: mutations.id(t),
  }),
  errors: [NotFoundError],
  operation: (context, input) => endUserSession(context, input),
});
