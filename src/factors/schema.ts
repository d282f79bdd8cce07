import { NotAllowedError, NotFoundError } from '../errors.ts';
import type { UserFactor as UserFactorRow } from '../generated/prisma/client.ts';
import { builder, ownGraphs } from '../graphql/builder.ts';
import { connectionOf } from '../graphql/lists/page.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { FactorTypeEnum } from '../sign-in-experience/schema.ts';
import { type DeletedFactor, deleteUserFactor } from './delete.ts';

/** A second factor of a person. */
const UserFactor = builder.prismaNode('UserFactor', {
  subGraphs: ownGraphs,
  nullable: true,
  id: {
    field: 'id',
    subGraphs: ownGraphs,
    description: "The factor's id: a TypeID with the prefix `factor`.",
  },
  description: 'A second factor of a person: what they show at a sign-in after the first step.',
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    type: t.expose('type', { type: FactorTypeEnum, description: 'The kind of factor.' }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'The name that the person gave it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used.',
    }),
    remaining: t.int({
      nullable: true,
      description: 'How many backup codes are left; null for any other kind.',
      // Not by a selection: a deleted factor brings its count along. A person has at most one set.
      resolve: (factor: UserFactorRow | DeletedFactor, _args, { database }) => {
        if (factor.type !== 'BACKUP_CODES') return null;
        if ('_count' in factor) return factor._count.codes;
        return database.prisma.backupCode.count({ where: { factorId: factor.id } });
      },
    }),
  }),
});

const UserFactorConnection = connectionOf('UserFactor', UserFactor, { graphs: ownGraphs });

const factorsOfUser = relatedList<UserFactorRow>({ relation: 'factors', key: 'id' });

builder.prismaObjectField('User', 'factors', (t) =>
  t.connection(
    {
      type: UserFactor,
      subGraphs: ownGraphs,
      description: "The user's second factors, oldest first.",
      ...factorsOfUser,
    },
    UserFactorConnection,
  ),
);

const mutations = recordMutations('userFactor', UserFactor, {
  scope: 'users:write',
  noun: 'factor',
  description: 'The factor in its last state.',
});

mutations.add('deleteUserFactor', {
  description:
    'Deletes a factor that a person has lost, even the last one. Sessions stay. Raises `User.Data.Updated` and `User.Credential.Updated`.',
  input: (t) => ({
    userId: t.id({ required: true, description: "The user's id." }),
    factorId: mutations.id(t),
  }),
  errors: [NotFoundError, NotAllowedError],
  operation: (context, input) => deleteUserFactor(context, input),
});
