import { setterScopesDescription } from '../auth/granting/setter-scopes.ts';
import { ConflictError, InvalidInputError, NotAllowedError, NotFoundError } from '../errors.ts';
import type {
  IdentityProviderEmailDomain,
  IdentityProviderKind,
  RedirectUriState,
} from '../generated/prisma/client.ts';
import { builder } from '../graphql/builder.ts';
import { addRecordQueries, orders } from '../graphql/lists/record-queries.ts';
import type { InputFields } from '../graphql/mutations/mutation.ts';
import { recordMutations } from '../graphql/mutations/record-mutations.ts';
import { versionDescription } from '../graphql/mutations/versions.ts';
import { deleteIdentityProvider } from './delete.ts';
import { createIdentityProvider, updateIdentityProvider } from './operations.ts';
import { redirectUriOf } from './redirect-uri.ts';

const KindEnum = builder.enumType('IdentityProviderKind', {
  description: 'Who signs in with an identity provider.',
  values: {
    SOCIAL: { description: 'Anyone who chooses it on the sign-in page.' },
    ENTERPRISE: {
      description:
        'People with an address of its e-mail domains. They are sent there as soon as they enter their address, and are asked for no password.',
    },
  } as const satisfies Record<keyof typeof IdentityProviderKind, object>,
});

const RedirectUriStateEnum = builder.enumType('RedirectUriState', {
  description: 'Whether an identity provider has a redirect URI of its own.',
  values: {
    OWN: { description: 'Yes: people come back to its `redirectUri`.' },
    SHARED: {
      description:
        'It was set up when all providers shared `/sign-in/callback`. People still come back there, because the provider names itself in each answer (`iss`, RFC 9207). Register its `redirectUri` at the provider as well, then set `redirectUriRegistered`.',
    },
    TO_REGISTER: {
      description:
        'It was set up when all providers shared `/sign-in/callback`, and does not name itself in its answers. Nobody can sign in with it until its `redirectUri` is registered at the provider. The next sign-in then makes it `OWN`.',
    },
  } as const satisfies Record<keyof typeof RedirectUriState, object>,
});

/** An OpenID provider that people can sign in with. */
export const IdentityProvider = builder.prismaNode('IdentityProvider', {
  nullable: true,
  id: { field: 'id', description: "The identity provider's id: a TypeID with the prefix `idp`." },
  description: 'An OpenID provider that people can sign in with.',
  authScopes: { scope: 'experience:read' },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, which people see.' }),
    kind: t.expose('kind', { type: KindEnum, description: 'Who signs in with it.' }),
    issuer: t.exposeString('issuer', {
      description: 'Its issuer (OpenID Connect Discovery §3): an https URL.',
    }),
    clientId: t.exposeString('clientId', {
      description: 'The id of this service at the provider.',
    }),
    hasClientSecret: t.boolean({
      description: 'Whether it has a client secret, which is never shown.',
      resolve: ({ clientSecret }) => clientSecret !== null,
    }),
    scopes: t.exposeStringList('scopes', { description: 'The scopes to ask it for.' }),
    emailDomains: t.stringList({
      description:
        'E-mail domains, in alphabetical order. People with an address in one of them sign in with this provider, if its kind is ENTERPRISE. A provider with domains can verify only addresses in these.',
      select: { emailDomains: { orderBy: { domain: 'asc' } } },
      resolve: (provider) =>
        // The compiler does not see what `select` adds.
        (provider as unknown as { emailDomains: IdentityProviderEmailDomain[] }).emailDomains.map(
          ({ domain }) => domain,
        ),
    }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether people can sign in with it.' }),
    setterScopes: t.exposeStringList('setterScopes', { description: setterScopesDescription }),
    redirectUri: t.string({
      description: 'The redirect URI to register at the provider. No other provider has it.',
      resolve: ({ id }, _args, services) => redirectUriOf(services, id),
    }),
    redirectUriState: t.expose('redirectUriState', {
      type: RedirectUriStateEnum,
      description: 'Whether people come back to `redirectUri`, or it must be registered first.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    version: t.exposeInt('version', { description: versionDescription }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
});

addRecordQueries(IdentityProvider, {
  names: ['identityProvider', 'identityProviders'],
  noun: 'identity provider',
  scope: 'experience:read',
  search: { columns: ['name', 'issuer', 'id'], description: 'the name, the issuer or the id' },
  order: { CREATED_AT: orders.byCreation, NAME: orders.byName },
});

const mutations = recordMutations('identityProvider', IdentityProvider, {
  scope: 'experience:write',
  noun: 'identity provider',
});

const inputFields = (t: InputFields, required: boolean) => ({
  name: t.string({ required, description: 'Its name, which people see. At most 128 characters.' }),
  kind: t.field({ type: KindEnum, required, description: 'Who signs in with it.' }),
  issuer: t.string({
    required,
    description:
      'Its issuer: an https URL without query and fragment. Its published configuration is read, and refused if it is wrong. An issuer that cannot be reached is accepted.',
  }),
  clientId: t.string({ required, description: 'The id of this service at the provider.' }),
  clientSecret: t.string({
    description: 'The secret of this service at the provider; absent for a public client.',
  }),
  scopes: t.stringList({
    description: 'The scopes to ask for: by default `openid`, `profile` and `email`.',
  }),
  emailDomains: t.stringList({
    description: 'E-mail domains, at most 100. A domain belongs to one provider.',
  }),
  enabled: t.boolean({ description: 'Whether people can sign in with it: true by default.' }),
});

mutations.add('createIdentityProvider', {
  description:
    'Creates an identity provider, whose people can then sign in here. Register its `redirectUri` at the provider. Raises `IdentityProvider.Created`.',
  input: (t) => inputFields(t, true),
  errors: [InvalidInputError, ConflictError, NotAllowedError],
  // GraphQL requires what the type of `inputFields` leaves optional.
  operation: (context, input) => createIdentityProvider(context, input as never),
});

mutations.add('updateIdentityProvider', {
  description:
    'Changes an identity provider. An absent field stays as it is; null clears it. Linked identities stay. Raises `IdentityProvider.Data.Updated` if something changed.',
  input: (t) => ({
    id: mutations.id(t),
    ...inputFields(t, false),
    redirectUriRegistered: t.boolean({
      description:
        '`true` states that its `redirectUri` is registered at the provider: people come back to it from now on. Only needed while `redirectUriState` is not `OWN`; a new issuer or client id does the same.',
    }),
  }),
  errors: [InvalidInputError, NotFoundError, ConflictError, NotAllowedError],
  operation: (context, input) => updateIdentityProvider(context, input),
});

mutations.addDeletion('deleteIdentityProvider', {
  description:
    'Deletes an identity provider and its linked identities. Raises `IdentityProvider.Deleted`, and nothing for each identity.',
  model: ({ identityProvider }) => identityProvider,
  operation: deleteIdentityProvider,
  errors: [NotFoundError, NotAllowedError],
});
