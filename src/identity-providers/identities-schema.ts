import { queryFromInfo } from '@pothos/plugin-prisma';
import { ConflictError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  Prisma,
  UserIdentity as UserIdentityRow,
  User as UserRow,
} from '../generated/prisma/client.ts';
import { builder, ownGraphs } from '../graphql/builder.ts';
import { connectionOf } from '../graphql/lists/page.ts';
import { relatedList } from '../graphql/lists/related-list.ts';
import {
  addMutation,
  type InputFields,
  type PayloadFields,
} from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { mutationPayloadName } from '../graphql/names.ts';
import {
  addOrganizationIdentityProvider,
  removeOrganizationIdentityProvider,
} from '../organizations/just-in-time.ts';
import { organizationMutations } from '../organizations/schema.ts';
import { User } from '../users/schema.ts';
import { deleteUserIdentity } from './identities.ts';
import { IdentityProvider } from './schema.ts';

const providerScope = { scope: 'experience:read' } as const;

const LinkedProvider = builder.prismaObject('IdentityProvider', {
  subGraphs: ownGraphs,
  variant: 'UserIdentityProvider',
  description: 'The identity provider of an identity, as people know it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The identity provider's id." }),
    name: t.exposeString('name', { description: 'Its name, which people see.' }),
  }),
});

const UserIdentity = builder.prismaNode('UserIdentity', {
  subGraphs: ownGraphs,
  nullable: true,
  id: {
    field: 'id',
    subGraphs: ownGraphs,
    description: "The identity's id: a TypeID with the prefix `identity`.",
  },
  description: 'An identity at an identity provider, with which a person signs in to this account.',
  authScopes: { scope: 'users:read' },
  fields: (t) => ({
    provider: t.relation('provider', {
      type: LinkedProvider,
      description: 'The identity provider.',
    }),
    issuer: t.exposeString('issuer', { description: "The `iss` of the provider's ID tokens." }),
    subject: t.exposeString('subject', { description: "The `sub` of the provider's ID tokens." }),
    email: t.exposeString('email', {
      nullable: true,
      description: 'The e-mail address that the provider last gave.',
    }),
    linkedAt: t.expose('linkedAt', { type: 'DateTime', description: 'When it was linked.' }),
  }),
});

const UserIdentityConnection = connectionOf('UserIdentity', UserIdentity, { graphs: ownGraphs });

builder.prismaObjectField('User', 'identities', (t) =>
  t.connection(
    {
      type: UserIdentity,
      subGraphs: ownGraphs,
      description: "The user's identities at identity providers, oldest first.",
      ...relatedList<UserIdentityRow>({ relation: 'identities', key: 'id' }),
    },
    UserIdentityConnection,
  ),
);

interface UnlinkedIdentity {
  readonly user: UserRow;
  readonly userIdentity: UserIdentityRow;
}

const userMutations = recordMutations('user', User, { scope: 'users:write' });

addMutation('deleteUserIdentity', {
  scope: 'users:write',
  description:
    'Removes an identity from a user, who can no longer sign in with it. Raises `User.Data.Updated` and `User.Credential.Updated`.',
  input: (t) => ({
    userId: userMutations.id(t),
    identityId: t.id({ required: true, description: "The identity's id." }),
  }),
  payload: (t: PayloadFields<UnlinkedIdentity>) => ({
    ...userMutations.payload(t),
    userIdentity: t.field({
      type: UserIdentity,
      description: 'The identity in its last state.',
      resolve: (payload) => payload.userIdentity,
    }),
  }),
  errors: [NotFoundError, NotAllowedError],
  resolve: async (input, context, info) => {
    // Reads what the request selects before the deletion: afterwards it is gone.
    const path = [{ type: mutationPayloadName('deleteUserIdentity'), name: 'userIdentity' }];
    const query = { ...queryFromInfo({ context, info, path }), where: { id: input.identityId } };
    const userIdentity = await context.database.prisma.userIdentity.findUnique(query);
    const user = await deleteUserIdentity(context, input);
    if (!userIdentity) throw new NotFoundError(input.identityId);
    return { user, userIdentity };
  },
});

const OrganizationIdentityProviderConnection = connectionOf(
  'OrganizationIdentityProvider',
  IdentityProvider,
);

builder.prismaObjectField('Organization', 'identityProviders', (t) =>
  t.connection(
    {
      type: IdentityProvider,
      description: 'The identity providers whose people join just in time, oldest first.',
      authScopes: providerScope,
      ...relatedList<
        Prisma.OrganizationIdentityProviderGetPayload<{ include: { identityProvider: true } }>,
        typeof IdentityProvider.$inferType
      >({
        relation: 'identityProviders',
        key: 'identityProviderId',
        through: 'identityProvider',
      }),
    },
    OrganizationIdentityProviderConnection,
  ),
);

const organizationProviderInput = (t: InputFields) => ({
  organizationId: organizationMutations.id(t),
  identityProviderId: t.id({ required: true, description: "The identity provider's id." }),
});
const organizationScopes = ['organizations:write', 'experience:read'] as const;

organizationMutations.add('addOrganizationIdentityProvider', {
  description:
    'Adds an identity provider whose people join the organization just in time: when they first sign in with it. Raises `Organization.Settings.Updated`.',
  scope: organizationScopes,
  input: organizationProviderInput,
  errors: [NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => addOrganizationIdentityProvider(context, input),
});

organizationMutations.add('removeOrganizationIdentityProvider', {
  description:
    'Removes an identity provider from an organization; members stay. Raises `Organization.Settings.Updated`.',
  scope: organizationScopes,
  input: organizationProviderInput,
  errors: [NotFoundError],
  operation: (context, input) => removeOrganizationIdentityProvider(context, input),
});
