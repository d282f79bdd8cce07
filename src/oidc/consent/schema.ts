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
import { revokeGrant } from './operations.ts';

/** What a person has allowed an application. */
export const UserGrant = builder.prismaNode('UserGrant', {
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
        scopes: { select: { name: true }, orderBy: [{ resource: 'asc' }, { name: 'asc' }] },
      },
      description: 'The names of the allowed scopes, of OpenID Connect and of resources.',
      resolve: ({ scopes }) => [...new Set(scopes.map(({ name }) => name))],
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      description: 'When the person first allowed it something.',
    }),
  }),
});

const UserGrantConnection = connectionOf('UserGrant', UserGrant, { graphs: ownGraphs });

builder.prismaObjectField('User', 'grants', (t) =>
  t.connection(
    {
      type: UserGrant,
      subGraphs: ownGraphs,
      description: 'What the user has allowed applications, oldest first.',
      ...relatedList<UserGrantRow>({ relation: 'grants', key: 'id' }),
    },
    UserGrantConnection,
  ),
);

/**
 * Revokes a grant for a mutation whose payload has it as `grant`. What the request selects of it is read before:
 * afterwards it is gone.
 */
export async function revokeShown(
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
  description: 'The grant as it last was.',
});

mutations.add('revokeUserGrant', {
  description:
    "Takes back what a user has allowed an application. The application's tokens for this user end at once, and it has to ask again. Raises no event.",
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    grantId: mutations.id(t),
  }),
  errors: [NotFoundError],
  operation: (context, input, info) => revokeShown('revokeUserGrant', context, input, info),
});
