import { queryFromInfo } from '@pothos/plugin-prisma';
import type { GraphQLResolveInfo } from 'graphql';
import { NotFoundError } from '../../errors.ts';
import type { UserGrant as UserGrantRow } from '../../generated/prisma/client.ts';
import { builder, ownGraphs } from '../../graphql/builder.ts';
import { connectionOf } from '../../graphql/lists/page.ts';
import { relatedList } from '../../graphql/lists/related-list.ts';
import { recordMutations } from '../../graphql/mutations/record-mutations.ts';
import { mutationPayloadName } from '../../graphql/names.ts';
import type { Context } from '../../services.ts';
import { findLastUse } from './last-use.ts';
import { inOrder, namesOfGrant, revokeGrant } from './operations.ts';

/** What a person has allowed an application. */
const UserGrant = builder.prismaNode('UserGrant', {
  subGraphs: ownGraphs,
  nullable: true,
  id: {
    field: 'id',
    subGraphs: ownGraphs,
    description: "The grant's id: a TypeID with the prefix `grant`.",
  },
  description: 'What a person has allowed an application.',
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    application: t.relation('application', {
      nullable: true,
      authScopes: { scopeInPlace: 'applications:read' },
      description: 'The application. Null without `applications:read`.',
    }),
    scopes: t.stringList({
      select: {
        scopes: { select: { name: true }, orderBy: inOrder },
      },
      description: 'The names of the allowed scopes, of OpenID Connect and of resources.',
      resolve: ({ scopes }) => namesOfGrant(scopes),
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the person first allowed it something.',
    }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the application last got a token for the person, to the hour; null: not yet.',
    }),
    user: t.relation('user', {
      subGraphs: ['management'],
      description: 'Whose it is.',
    }),
  }),
});

const UserGrantConnection = connectionOf('UserGrant', UserGrant, { graphs: ownGraphs });

builder.prismaObjectField('User', 'grants', (t) =>
  t.connection(
    {
      type: UserGrant,
      subGraphs: ownGraphs,
      description: 'What the user has allowed each application, oldest first.',
      ...relatedList<UserGrantRow>({ relation: 'grants', key: 'id' }),
    },
    UserGrantConnection,
  ),
);

builder.prismaObjectField('Application', 'grants', (t) =>
  t.connection(
    {
      type: UserGrant,
      authScopes: { scope: 'users:read' },
      description:
        'What people have allowed it, oldest first. Nobody is asked about an application of the operator, so that it has none. Requires `users:read`.',
      ...relatedList<UserGrantRow>({ relation: 'grants', key: 'id' }),
    },
    UserGrantConnection,
  ),
);

builder.prismaObjectField('Application', 'lastUsedAt', (t) =>
  t.field({
    type: 'DateTime',
    nullable: true,
    select: { id: true },
    description:
      'When it last got a token for somebody who was asked, to the hour; null: not yet, or nobody is asked.',
    resolve: ({ id }, _args, context) => findLastUse(context, id),
  }),
);

/**
 * Revokes a grant for a mutation whose payload has it as `grant`. The selected fields are read first: afterwards the
 * grant is gone.
 */
async function revokeShown(
  mutation: string,
  context: Context,
  input: { readonly userId: string; readonly grantId: string },
  info: GraphQLResolveInfo,
): Promise<UserGrantRow> {
  const path = [{ type: mutationPayloadName(mutation), name: 'grant' }];
  const query = queryFromInfo({ context, info, path });
  const before = await context.database.prisma.userGrant.findUnique({
    ...query,
    where: { id: input.grantId },
  });
  return { ...before, ...(await revokeGrant(context, input)) };
}

const mutations = recordMutations('grant', UserGrant, {
  scope: 'users:write',
  description: 'The grant in its last state.',
});

mutations.add('revokeUserGrant', {
  description:
    "Revokes what a user has allowed an application. The application's tokens for this user end at once, as do personal access tokens that it created in the user's name, and it has to ask again. Raises `User.Grant.Revoked`, and `User.Credential.Updated` for each of these.",
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    grantId: mutations.id(t),
  }),
  errors: [NotFoundError],
  operation: (context, input, info) => revokeShown('revokeUserGrant', context, input, info),
});
