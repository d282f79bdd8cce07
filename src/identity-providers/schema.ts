import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  IdentityProviderEmailDomain,
  IdentityProviderKind,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { addRecordQueries, orders } from '../graphql/lists/record-queries.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { deleteIdentityProvider } from './delete.ts';
import { createIdentityProvider, updateIdentityProvider } from './operations.ts';

const KindEnum = builder.enumType('IdentityProviderKind', {
  description: 'Who signs in by an identity provider.',
  values: {
    SOCIAL: { description: 'Anybody who chooses it on the sign-in page.' },
    ENTERPRISE: {
      description:
        'The people of its e-mail domains. They are sent there as soon as they name their address, and no password is asked.',
    },
  } as const satisfies Record<keyof typeof IdentityProviderKind, object>,
});

/** An OpenID provider that people can sign in with. */
export const IdentityProvider = builder.prismaNode('IdentityProvider', {
  nullable: true,
  id: { field: 'id', description: "The identity provider's id: a TypeID with the prefix `idp`." },
  description: 'An OpenID provider that people can sign in with.',
  authScopes: { scope: 'experience:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, which people see.' }),
    kind: t.expose('kind', { type: KindEnum, description: 'Who signs in by it.' }),
    issuer: t.exposeString('issuer', {
      description: 'Its issuer (OpenID Connect Discovery §3): an https URL.',
    }),
    clientId: t.exposeString('clientId', { description: 'The id that this service has there.' }),
    hasClientSecret: t.boolean({
      description: 'Whether it has a client secret, which is never shown.',
      resolve: ({ clientSecret }) => clientSecret !== null,
    }),
    scopes: t.exposeStringList('scopes', { description: 'The scopes that it is asked for.' }),
    emailDomains: t.stringList({
      description:
        'E-mail domains, in alphabetical order. The people of an ENTERPRISE provider come from them; and a provider that has domains is believed about addresses of these domains alone.',
      select: { emailDomains: { orderBy: { domain: 'asc' } } },
      resolve: (provider) =>
        // The compiler does not see what `select` adds.
        (provider as unknown as { emailDomains: IdentityProviderEmailDomain[] }).emailDomains.map(
          ({ domain }) => domain,
        ),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether people can sign in by it.' }),
    redirectUri: t.string({
      description: 'The redirect URI to register there.',
      resolve: (_provider, _args, { baseUrl }) => `${baseUrl}/sign-in/callback`,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

addRecordQueries(IdentityProvider, {
  names: ['identityProvider', 'identityProviders'],
  noun: 'identity provider',
  scope: 'experience:read',
  model: ({ identityProvider }) => identityProvider,
  search: { columns: ['name', 'issuer', 'id'], description: 'the name, the issuer or the id' },
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

const mutations = recordMutations('identityProvider', IdentityProvider, {
  scope: 'experience:write',
  noun: 'identity provider',
});

const inputFields = (t: InputFields, required: boolean) => ({
  name: t.string({ required, description: 'Its name, which people see. At most 128 characters.' }),
  kind: t.field({ type: KindEnum, required, description: 'Who signs in by it.' }),
  issuer: t.string({
    required,
    description:
      'Its issuer: an https URL without query and fragment. It is asked for its configuration; a wrong answer is refused, no answer is not.',
  }),
  clientId: t.string({ required, description: 'The id that this service has there.' }),
  clientSecret: t.string({
    description: 'The secret that this service has there; absent for a public client.',
  }),
  scopes: t.stringList({
    description: 'The scopes to ask for: by default `openid`, `profile` and `email`.',
  }),
  emailDomains: t.stringList({
    description: 'E-mail domains, at most 100. A domain belongs to one provider.',
  }),
  enabled: t.boolean({ description: 'Whether people can sign in by it: true by default.' }),
});

mutations.add('createIdentityProvider', {
  description:
    'Creates an identity provider, whose people can sign in here. Register the redirect URI `/sign-in/callback` there. Raises no event.',
  input: (t) => inputFields(t, true),
  errors: [InvalidInputError, ConflictError, NotAllowedError],
  // GraphQL requires what the type of `inputFields` leaves optional.
  operation: (context, input) => createIdentityProvider(context, input as never),
});

mutations.add('updateIdentityProvider', {
  description:
    'Changes an identity provider. An absent field stays as it is; null clears it. Linked identities stay. Raises no event.',
  input: (t) => ({ id: mutations.id(t), ...inputFields(t, false) }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => updateIdentityProvider(context, input),
});

mutations.addDeletion('deleteIdentityProvider', {
  description:
    'Deletes an identity provider with the identities linked by it. Raises `User.Data.Updated` for each user who loses one. Identities go in steps: if the answer is an error, the provider stays, disabled, and can be deleted again.',
  model: ({ identityProvider }) => identityProvider,
  operation: deleteIdentityProvider,
});
